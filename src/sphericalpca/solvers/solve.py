"""From a problem to its best solution: every start, one loop each, the best is kept."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sphericalpca.iterate import Monitor, Solution, Solver, StopReason, iterate
from sphericalpca.parallel import parallel
from sphericalpca.problem import Problem
from sphericalpca.rows import Rows
from sphericalpca.solvers.alternating import Alternating
from sphericalpca.solvers.anderson import Anderson
from sphericalpca.solvers.automatic import automatic
from sphericalpca.solvers.linearized import Linearized
from sphericalpca.solvers.newton import Newton
from sphericalpca.solvers.start import starts
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

    `svd_ratio` is f at the SVD start over f reached, NaN when no run began there.
    """

    solution: Solution
    svd_ratio: float


def choose_solver(solver: str | Solver, rows: Rows, n_components: int, tol: float) -> Solver:
    """A solver from its name; a solver object is returned as it is."""
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
            "are on other machines: use solver='auto', 'anderson', 'newton' or 'alternating'."
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
) -> Outcome:
    """Run `solver` from `n_init` starts and keep the largest f.

    A monitor that asks to stop ends the run it watches and skips the starts to come.
    """
    began = time.perf_counter()  # the starts take their share of the time too
    best: Solution | None = None
    svd_value = math.nan
    for start in starts(problem, n_components, init, n_init, rng):
        found = iterate(
            problem, solver, start, tol=tol, max_iter=max_iter, monitor=monitor, began=began
        )
        if start.is_svd:
            svd_value = found.start_value
        if best is None or found.value > best.value:
            best = found
        if found.stop_reason is StopReason.CALLBACK:
            break
    assert best is not None
    return Outcome(best, svd_value / best.value if best.value > 0 else math.nan)
