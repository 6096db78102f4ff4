"""From a problem to its best solution: choose a solver, and run it from every start."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Any, cast

import numpy as np

from sphericalpca.exceptions import Parameter, ParameterError, SolverError
from sphericalpca.iterate import (
    AnySolver,
    Monitor,
    Resumable,
    Run,
    Solution,
    Solver,
    Start,
    State,
    StateT,
    StopReason,
    iterate,
)
from sphericalpca.kernels import library
from sphericalpca.parallel import parallel
from sphericalpca.problem import Problem
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.rows import Rows
from sphericalpca.rows.memory import SparseRows
from sphericalpca.rowspace import EXACT_SIDE, FewRows, LeavesRowSpace, RowSpace, suits_exact
from sphericalpca.saddle import way_up
from sphericalpca.solvers.alternating import Alternating
from sphericalpca.solvers.anderson import Anderson
from sphericalpca.solvers.checkpoint import Checkpoint, MultiStart
from sphericalpca.solvers.columns import OuterMonitor, among_all
from sphericalpca.solvers.newton import Newton
from sphericalpca.solvers.start import starts
from sphericalpca.solvers.subspace import Subspace
from sphericalpca.solvers.within import improved, with_best_start

__all__ = ["Outcome", "automatic", "choose_solver", "solve"]

# Nanoseconds on two cores, of which only ratios matter.  A pass takes the first per stored number,
# and the second per stored number and component: dense, sparse, and sparse without compiled
# kernels; reading a number from a file takes the last.  The rest of an iteration takes the first
# per number of the projections, and the second per number of the basis.
DENSE_PASS, SPARSE_PASS, PLAIN_PASS, READ = (0.45, 0.02), (2.9, 0.04), (4.0, 0.23), 3.0
ANDERSON_STEP, SUBSPACE_STEP = (3.0, 20.0), (12.0, 10.0)
# Subspace acceleration needs this many times fewer iterations than Anderson's.
FEWER_ITERATIONS = 2.0
# A start above the end by at most this many rounding errors of the data type is level with it.
ROUNDING = 64
# Below this residual Anderson acceleration slows down, and Newton's method is faster.
NEWTON_TOL = 1e-7


@dataclass(frozen=True)
class Outcome:
    """The best solution over all starts.

    Attributes
    ----------
    solution : Solution
    svd_ratio : float
        f at the SVD start over f reached, NaN when no run began there; above 1 only if f fell.
    """

    solution: Solution[State]
    svd_ratio: float

    @classmethod
    def of(cls, solution: Solution[State], svd_value: float, dtype: Any) -> Outcome:
        """The outcome, given f at the SVD and the data type."""
        ratio = svd_value / solution.value if solution.value > 0 else math.nan
        by_rounding = 1.0 < ratio <= 1.0 + ROUNDING * float(np.finfo(dtype).eps)
        return cls(solution, 1.0 if by_rounding else ratio)


def automatic(rows: Rows, n_components: int, tol: float) -> Subspace | Newton | Anderson:
    """The solver for these rows, ``solver="auto"``, by what an iteration costs.

    Subspace acceleration needs the fewest passes, but more time between them.  It is used where
    passes are slow enough: for long dense rows and few components.  Otherwise Anderson
    acceleration is used, which is as fast or the only one that fits into memory, or Newton's
    method for very small `tol`.  The number of threads and the data type do not matter, because
    all parts of an iteration run on all threads and take twice the time in float64.
    """
    n, m = rows.shape
    subspace = Subspace()
    columns = subspace.capacity(n_components)
    # A restart keeps the new half of basis and projections beside the old ones.
    fits = 1.5 * (n + m) * columns * rows.dtype.itemsize <= rows.room
    in_row_space = RowSpace.suits(rows) or FewRows.suits(rows, n_components)
    # Where the SVD is exact, the start has the curvature of f, and few iterations are needed.
    if rows.local and fits and columns < m and not (in_row_space or suits_exact(rows)):
        compiled = library() is not None and rows.in_memory
        sparse_pass = SPARSE_PASS if compiled else PLAIN_PASS
        first, more = DENSE_PASS if rows.stored == n * m else sparse_pass
        reading = 0.0 if rows.in_memory else READ
        one_pass = rows.stored * (first + more * n_components + reading)
        few, many = (
            one_pass + (n * step[0] + m * step[1]) * width
            for step, width in ((ANDERSON_STEP, n_components), (SUBSPACE_STEP, columns))
        )
        if many < FEWER_ITERATIONS * few:
            return subspace
    return Newton() if 0 < tol < NEWTON_TOL and rows.dtype.itemsize == 8 else Anderson()


def choose_solver(solver: str | AnySolver, rows: Rows, n_components: int, tol: float) -> AnySolver:
    """A solver from its name, or "auto"; a solver object is returned as it is.

    Raises
    ------
    TypeError
        If it is a class.
    ParameterError
        If it keeps arrays of n rows, and the rows are not in this process.
    """
    if isinstance(solver, type):
        name = solver.__name__
        raise TypeError(f"solver={name} is a class, but must be a name or object: pass {name}().")
    if solver == "auto":
        return automatic(rows, n_components, tol)
    chosen: AnySolver = SOLVERS[solver].load()() if isinstance(solver, str) else solver
    keeping = tuple(entry.load() for entry in SOLVERS.values() if entry.keeps_rows)
    if not rows.local and isinstance(chosen, keeping):
        *names, last = (repr(entry.name) for entry in SOLVERS.values() if not entry.keeps_rows)
        raise ParameterError(
            f"solver={type(chosen).__name__} keeps arrays of n rows beside the data",
            "these rows are on other machines or another device",
            ("use ", Parameter("solver", "auto"), f", {', '.join(names)} or {last}"),
        )
    return chosen


def solve(
    problem: Problem,
    n_components: int,
    *,
    solver: Solver[StateT],
    init: Any = "auto",
    n_init: int = 1,
    tol: float = 1e-4,
    max_iter: int = 1000,
    rng: np.random.Generator,
    monitor: Monitor | None = None,
    checkpoint: Checkpoint | None = None,
) -> Outcome:
    """Run `solver` from `n_init` starts and keep the largest f.

    A monitor that asks to stop ends the current run and skips the remaining starts.  With a
    checkpoint, an interrupted run resumes from its file.

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
    options = {"solver": solver, "n_init": n_init, "tol": tol, "max_iter": max_iter, "rng": rng}
    if checkpoint is None:
        found = _in_fewer_coordinates(problem, n_components, init=init, monitor=monitor, **options)
        if isinstance(found, Outcome):
            return found
        init = found
    search: MultiStart[StateT] = MultiStart()
    totals = problem.rows.totals
    rounding = float(np.finfo(problem.rows.dtype).eps) * (totals.energy + totals.weight)
    with parallel():
        if checkpoint is not None:
            resumable = _resumable(solver)
            search = checkpoint.load(problem, resumable, n_components, rng) or search
        began = time.perf_counter() - search.seconds  # drawing starts takes time too

        def keep(run: Run[StateT]) -> None:
            search.went_on(run, time.perf_counter() - began)
            if checkpoint is not None:
                checkpoint.save(problem, resumable, search)

        drawn = starts(problem, n_components, init, n_init, rng)
        if _may_choose(solver, init):
            drawn = map(partial(with_best_start, problem), drawn)
        # Unlike a loop variable, map keeps no reference to a start and its span.
        ahead: Iterator[Start | Run[StateT]] = map(partial(improved, problem), drawn)
        if search.run is not None:
            left = max(n_init - 1 - search.number, 0)
            later = islice(starts(problem, n_components, "random", n_init, rng), left)
            ahead = chain([search.run], later)
        for number, start in enumerate(ahead, search.number):
            search.begin(number, start, rng)
            found = iterate(
                problem,
                solver,
                start,
                tol=tol,
                max_iter=max_iter,
                rounding=rounding,
                way_up=partial(way_up, span=start.span) if isinstance(start, Start) else way_up,
                monitor=monitor,
                began=began,
                keep=keep,
            )
            search.best = max((search.best or found, found), key=lambda solution: solution.value)
            if found.stop_reason is StopReason.CALLBACK:
                break
    best = search.best
    assert best is not None
    return Outcome.of(best, search.svd_value, problem.rows.dtype)


def _in_fewer_coordinates(
    problem: Problem, n_components: int, *, init: Any, monitor: Monitor | None, **options: Any
) -> Outcome | Any:
    """`solve` without unused columns, or in coordinates of the rows; else a start for it."""
    rows, whole = problem.rows, type(problem) is Problem and isinstance(init, str)
    fewer = rows.on_used_columns() if whole else None
    if fewer is not None and len(fewer[1]) >= n_components:
        part, columns = fewer
        monitor = None if monitor is None else OuterMonitor(monitor, rows, part, columns)
        found = solve(Problem(part), n_components, init=init, monitor=monitor, **options)
        rows.passes, rows.flops = part.passes, part.flops
        U = among_all(found.solution.U, columns, rows.shape[1])
        return replace(found, solution=replace(found.solution, U=U))
    if _suits_row_space(problem, n_components, options["solver"], init):
        return _in_row_space(problem, n_components, init=init, monitor=monitor, **options)
    return init


def _in_row_space(problem: Problem, n_components: int, **options: Any) -> Outcome | Any:
    """Solve in coordinates of the rows; where they do not suffice, return a start for `solve`."""
    rows = problem.rows
    try:
        if not FewRows.suits(rows, n_components):
            # The many sums of few rows for an exact SVD lose too many digits in float32.
            exact = rows.shape[0] <= EXACT_SIDE and rows.dtype == np.float32
            own = cast("SparseRows", rows).in_double() if exact else rows
            found = solve(RowSpace(own), n_components, **options)
            if own is not rows:
                rows.passes, rows.flops = rows.passes + own.passes, rows.flops + own.flops
            return found
        space = FewRows(rows)
        if n_components > space.rows.shape[1]:
            raise LeavesRowSpace
        found = solve(space, n_components, **options)
        # Iterations take no pass over the long rows.
        passes = np.full(found.solution.n_iter, rows.passes)
        history = {**found.solution.history, "passes": passes}
        return replace(found, solution=replace(found.solution, history=history))
    except LeavesRowSpace as place:
        return "svd" if place.U is None else place.U
    except np.linalg.LinAlgError:  # the rows span too few dimensions
        return "svd"


def _may_choose(solver: Solver[StateT], init: Any) -> bool:
    """Whether the user leaves the choice of the start to the package."""
    fast = tuple(entry.load() for entry in SOLVERS.values() if entry.accelerated)
    return isinstance(init, str) and init == "auto" and isinstance(solver, fast)


def _suits_row_space(
    problem: Problem, n_components: int, solver: Solver[StateT], init: Any
) -> bool:
    """Whether to search in coordinates of the rows; the solver must leave them to the problem."""
    svd = isinstance(init, str) and init in ("auto", "svd")
    able = isinstance(solver, (Anderson, Alternating))
    able = able and not isinstance(problem, (RowSpace, FewRows))
    few = FewRows.suits(problem.rows, n_components)
    return svd and able and (few or RowSpace.suits(problem.rows))


def _resumable(solver: Solver[StateT]) -> Resumable[StateT]:
    if isinstance(solver, Resumable):
        return solver
    missing = next(name for name in ("saved", "resume") if not hasattr(solver, name))
    able = ", ".join(repr(entry.name) for entry in SOLVERS.values() if entry.resumable)
    raise SolverError(
        f"solver={type(solver).__name__} has no method {missing!r}",
        "a checkpoint needs it",
        ("leave out ", Parameter("checkpoint"), f", or use one of the solvers {able}"),
    )
