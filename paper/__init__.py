"""The reproduction of the paper: experiments, their data, a report, and the committed results.

::

    cli/           ``python -m paper reproduce|datasets``
    datasets/      data files: registry, download, integrity checks
    plan.py        what is run: every trial of every experiment
    draws.py       a trial's data: documents drawn, features chosen, tables scaled
    methods.py     a trial's methods: from features to a representation
    trial.py       one trial: draw, represent, cluster, measure -> rows
    journal.py     the rows file: append-only, crash-safe, resumable
    runner.py      missing trials, on several processes
    reproduction.py  a plan, its folder and its data, as run by a command
    toy.py         the draw that Fig. 2 shows
    solver_runs.py Fig. 3: four solvers, step by step
    printed.py     the numbers that the paper prints
    provenance.py  commit, processor, BLAS and versions, for every row; benchmarks use it too
    ceiling.py     how large NMI can be at a given accuracy
    report/        tables, figures and the page, generated only from files
    results/       committed results: rows, tables, figures, page

It runs from a clone and is not part of the installed package.
"""

__all__: list[str] = []
