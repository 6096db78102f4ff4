"""Methods on one task: timed in turns, then read and checked untimed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from benchmarks.checks import SubspaceQuality, measure
from benchmarks.clock import Timing, race
from benchmarks.task import Contender, Fit, Task
from sphericalpca.rows import Matrix

__all__ = ["Effort", "Result", "contest"]


@dataclass(frozen=True)
class Effort:
    """How much time to spend.

    Attributes
    ----------
    repeats : int
        Timed rounds.
    cap : float
        Seconds after which a slow method gives up.
    patience : float
        A method that takes longer than this many seconds is timed once.
    """

    repeats: int = 5
    cap: float = math.inf
    patience: float = math.inf


@dataclass(frozen=True)
class Result:
    """The time of a method, its result, and the quality of the result."""

    timing: Timing
    fit: Fit
    found: SubspaceQuality


def contest(
    X: Matrix, task: Task, methods: Iterable[Contender], effort: Effort
) -> dict[Contender, Result]:
    """The results of all methods; each has the data to itself while it runs."""
    entrants = {method.name: method for method in methods}
    actions = {
        name: partial(method.fit, method.layout(X), task) for name, method in entrants.items()
    }
    results = {}
    for name, outcome in race(actions, effort.repeats, effort.patience).items():
        fit = entrants[name].read(outcome.answer)
        results[entrants[name]] = Result(outcome.timing, fit, measure(X, fit.U))
    return results
