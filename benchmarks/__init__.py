"""The benchmark: this package and its peers on the same data, taking turns in one process.

::

    task.py       the interface: a task, a method, the result of a method
    generated.py  data drawn from a seed          real.py   data from files
    cases.py      the cases: data and numbers of components
    ours.py       this package                    peers.py  scikit-learn
    manifold.py   pymanopt                        methods.py  all of them
    clock.py      timing in turns                 checks.py  answers judged in float64
    contest.py    some methods on one task, timed and judged
    compare.py    every method on a case          growth.py  time against size
    goals.py      what is measured for a goal     reach.py   the goals and their verdicts
    memory.py     memory of a fit                 machine.py  what the rows were made with
    table.py      rows on disk
    plots.py      pictures, from the rows alone   summary.py  the page, from the rows alone

Data, methods and measures are independent of each other; ``python -m benchmarks`` brings them
together.
"""

__all__: list[str] = []
