"""The paper's experiments: a plan of trials, a runner that writes rows, a report that reads them.

::

    plan.py        what is run: every trial of every experiment
    draws.py       a trial's data: documents drawn, features chosen, tables scaled
    methods.py     a trial's method: from features to a representation
    trial.py       one trial: draw, represent, cluster, measure -> rows
    journal.py     the rows file: appended to, never torn, resumable
    runner.py      trials still missing, on several processes
    toy.py         the draw that Fig. 2 shows
    solver_runs.py Fig. 3: four solvers, step by step
    report/        tables, figures and the page, drawn from the files alone
"""

__all__: list[str] = []
