"""From a problem to its best solution: every start, one loop each, the best is kept."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sphericalpca.iterate import Monitor, Run, Solution, Solver, StopReason, iterate
from sphericalpca.parallel import parallel
from sphericalpca.problem import Problem
from sphericalpca.rows import Rows
from sphericalpca.solvers.alternating import Alternating
from sphericalpca.solvers.anderson import Anderson
from sphericalpca.solvers.automatic import automatic
from sphericalpca.solvers.checkpoint import Checkpoint, Journey
from sphericalpca.solvers.linearized import Linearized
from sphericalpca.solvers.newton import Newton
from sphericalpca.solvers.start import Start, random_start, starts
from sphericalpca.solvers.subspace import Subspace

__all__ = ["SOLVERS", "Outcome", "choose_solver", "solve"]

SOLVERS: dict[str, Callable[[], Solver]] = {
    "alternating": Alternating,
    "anderson": Anderson,
    "subspace": Subspace,
    "newton": Newton,
    "linearized": Linearized,
}


@dataclass(frozen=True)
class Outcome:
    """The best solution over all starts.

    Attributes
    ----------
    solution : Solution
    svd_ratio : float
        f at the SVD start over f reached, NaN when no run began there.
    """

    solution: Solution
    svd_ratio: float


def choose_solver(solver: str | Solver, rows: Rows, n_components: int, tol: float) -> Solver:
    """A solver from its name; a solver object is returned as it is.

    Parameters
    ----------
    solver : str or solver object
        A key of `SOLVERS`, or "auto".
    rows : Rows
    n_components : int
    tol : float
        "auto" chooses by it.

    Returns
    -------
    solver : solver object

    Raises
    ------
    ValueError
        If it keeps arrays of n rows, and the rows are not in this process.
    """
    if isinstance(solver, type):
        raise TypeError(
            f"solver={solver.__name__} is a class, but must be a name or an object: pass "
            f"{solver.__name__}()."
        )
    if solver == "auto":
        return automatic(rows, n_components, tol)
    chosen = SOLVERS[solver]() if isinstance(solver, str) else solver
    if not rows.local and isinstance(chosen, (Subspace, Linearized)):
        raise ValueError(
            f"solver={type(chosen).__name__} keeps arrays of n rows beside the data, which here "
            "are on other machines or another device: use solver='auto', 'anderson', 'newton' or "
            "'alternating'."
        )
    return chosen


@parallel()
def solve(
    problem: Problem,
    n_components: int,
    *,
    solver: Solver,
    init: Any = "auto",
    n_init: int = 1,
    tol: float = 1e-4,
    max_iter: int = 1000,
    rng: np.random.Generator,
    monitor: Monitor | None = None,
    checkpoint: Checkpoint | None = None,
) -> Outcome:
    """Run `solver` from `n_init` starts and keep the largest f.

    A monitor that asks to stop ends the run it watches and skips the starts to come.  With
    a checkpoint a run that was cut short goes on where its file left it.

    Parameters
    ----------
    problem : Problem
    n_components : int
    solver : solver object
    init, n_init, tol, max_iter
        As in `SphericalPCA`.
    rng : Generator
        For random starts, and for the randomized SVD of wide data.
    monitor : Monitor, optional
        Watches all runs.
    checkpoint : Checkpoint, optional

    Returns
    -------
    outcome : Outcome
    """
    if checkpoint is not None:
        _check_resumable(solver)
    kept = checkpoint.load(problem, solver, n_components, rng) if checkpoint else None
    journey = kept or Journey()
    began = time.perf_counter() - journey.seconds  # the starts take their share of the time too
    ahead: Iterator[Start | Run] = starts(problem, n_components, init, n_init, rng)
    if journey.run is not None:
        ahead = _after(journey, n_init, lambda: random_start(problem, n_components, rng))
    for number, start in enumerate(ahead, journey.number):
        journey.number = number
        if checkpoint is not None:
            journey.rng = dict(rng.bit_generator.state)

        def keep(run: Run, start: Start | Run = start) -> None:
            journey.run, journey.seconds = run, time.perf_counter() - began
            if isinstance(start, Start) and start.is_svd:
                journey.svd_value = run.start_value
            if checkpoint is not None:
                checkpoint.save(problem, solver, journey)

        found = iterate(
            problem,
            solver,
            start,
            tol=tol,
            max_iter=max_iter,
            monitor=monitor,
            began=began,
            keep=keep,
        )
        if journey.best is None or found.value > journey.best.value:
            journey.best = found
        if found.stop_reason is StopReason.CALLBACK:
            break
    best = journey.best
    assert best is not None
    return Outcome(best, journey.svd_value / best.value if best.value > 0 else math.nan)


def _after(journey: Journey, n_init: int, draw: Callable[[], Start]) -> Iterator[Start | Run]:
    """The run that was cut short, and the starts after it."""
    assert journey.run is not None
    yield journey.run
    for _ in range(journey.number + 1, n_init):
        yield draw()


def _check_resumable(solver: Solver) -> None:
    missing = [name for name in ("saved", "resume") if not hasattr(solver, name)]
    if missing:
        raise TypeError(
            f"solver={type(solver).__name__} has no method {missing[0]!r}, which a checkpoint "
            "needs: add it, as in sphericalpca.solvers.Alternating, or leave the checkpoint out."
        )
