"""The loop that all solvers share, and the protocols of solvers.

The loop owns the clock, the history and the reason for stopping.  A solver is an immutable record
of options that makes states.  `Solver` and `State` list what they must have; `Resumable`,
`KnowsFinalSums` and `Promising` are optional.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from sphericalpca.curvature import Curvature
from sphericalpca.linalg import Array
from sphericalpca.problem import FinalSums, Problem

__all__ = [
    "AnySolver",
    "KnowsFinalSums",
    "Monitor",
    "Promising",
    "Resumable",
    "Run",
    "Solution",
    "Solver",
    "Start",
    "State",
    "StateT",
    "StopReason",
    "iterate",
]

# A step that promises a smaller relative decrease of the loss is not worth a pass.
SMALL_PROMISE = 1e-5
# A run is stagnant after this many iterations without a smaller residual or loss.
STAGNATION = 20
# A run whose first residual is below this value, or below `tol`, began near a critical point.
CRITICAL = 1e-4


class StopReason(StrEnum):
    """Why a run ended."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    STAGNANT = "stagnant"
    CALLBACK = "callback"


@dataclass(frozen=True)
class Start:
    """A starting point.

    Attributes
    ----------
    U : array, shape (m, r)
        Orthonormal columns.
    V : array, shape (n, r), or None
        For Algorithm 1.
    is_svd : bool
        Whether U is the SVD that `svd_ratio_` refers to, or was found from it.
    curvature : Curvature or None
        The curvature of f, as far as it is known from the SVD.
    span : array, shape (m, k), or None
        An orthonormal basis of directions in which a better start may be found, such as those in
        which the SVD was found.
    coordinates : array, shape (k, r), or None
        Coordinates of U within the span.
    svd_value : float or None
        f at the SVD, if the start is better than that.
    """

    U: Array
    V: Array | None = None
    is_svd: bool = False
    curvature: Curvature | None = None
    span: Array | None = None
    coordinates: Array | None = None
    svd_value: float | None = None


class State(Protocol):
    """What the loop reads from a solver's state after each step, before the next step.

    Later the state may be out of date: solvers share large arrays among their states.
    """

    @property
    def U(self) -> Array:
        """The subspace, shape (m, r)."""

    @property
    def value(self) -> float:
        """f(U), with the best V."""

    @property
    def loss(self) -> float:
        """The loss h at the current pair (U, V)."""

    @property
    def residual(self) -> float:
        """Relative Riemannian gradient at U."""

    @property
    def measures(self) -> Mapping[str, float]:
        """Further numbers to record."""

    @property
    def constants(self) -> Mapping[str, float]:
        """The solver's constants for this problem, if it has any."""


StateT = TypeVar("StateT", bound=State)
StateT_co = TypeVar("StateT_co", bound=State, covariant=True)


@runtime_checkable
class KnowsFinalSums(Protocol):
    """A state that has the final sums of a fit; without them a fit ends with half a pass more."""

    @property
    def final_sums(self) -> FinalSums | None:
        """What `Problem.canonical_form` needs besides U."""


@runtime_checkable
class Promising(Protocol):
    """A state that can predict the gain of one more step."""

    @property
    def promise(self) -> float:
        """The least relative decrease of the loss by the exact step."""


class Solver(Protocol[StateT]):
    """An immutable record of options: no loop, clock, print or randomness inside."""

    def init(self, problem: Problem, start: Start) -> StateT:
        """The state at the starting point."""

    def step(self, problem: Problem, state: StateT) -> StateT:
        """The state one iteration later."""


# A solver chosen at run time: only the solver itself knows its states.
AnySolver = Solver[Any]


@runtime_checkable
class Resumable(Protocol[StateT]):
    """A solver whose runs can be resumed from a checkpoint after a crash."""

    def saved(self, state: StateT) -> dict[str, Array]:
        """A state as arrays."""

    def resume(self, problem: Problem, saved: Mapping[str, Array]) -> StateT:
        """The state that was saved."""


@dataclass(frozen=True)
class Solution(Generic[StateT_co]):
    """Where a run ended and how it got there.

    Attributes
    ----------
    U : array, shape (m, r)
    value : float
        f(U), which is maximised.
    start_value : float
        f at the starting point.
    residual : float
    n_iter : int
    stop_reason : StopReason
    history : dict of arrays, each of length n_iter
        `loss`, `residual`, `passes`, `flops`, `seconds`, and the solver's own measures.
    constants : dict of float
        The solver's constants for this problem, if it has any.
    state : State or None
        The solver's last state; None in the best solution of a checkpoint.
    """

    U: Array = field(repr=False)
    value: float
    start_value: float
    residual: float
    n_iter: int
    stop_reason: StopReason
    history: dict[str, Array] = field(repr=False)
    constants: dict[str, float] = field(default_factory=dict)
    state: StateT_co | None = field(default=None, repr=False)

    @property
    def final_sums(self) -> FinalSums | None:
        """What `Problem.canonical_form` needs besides U, if the last state has it."""
        return self.state.final_sums if isinstance(self.state, KnowsFinalSums) else None


class Monitor:
    """Watches a run; this one does nothing.  Subclasses show progress or stop early."""

    def resume(self, iterations: int) -> None:
        """A run resumes after this many iterations."""

    def begin(self) -> None:
        """An iteration begins."""

    def end(self, state: State) -> bool:  # noqa: ARG002 - this one sees nothing
        """An iteration ended in `state`; True asks the run to stop."""
        return False

    def close(self) -> None:
        """The fit is over."""


@dataclass
class Run(Generic[StateT]):
    """A run in progress, with everything that the loop needs to continue it.

    Attributes
    ----------
    state : State
        The solver's latest state.
    start_value : float
        f at the starting point.
    record : list of dict
        One entry per iteration.
    arrived : bool
        Whether `tol` was reached, and one more step was promising.
    finished : bool
        Whether the loop ended here.
    """

    state: StateT
    start_value: float
    record: list[dict[str, float]] = field(default_factory=list)
    arrived: bool = False
    finished: bool = False


def iterate(
    problem: Problem,
    solver: Solver[StateT],
    start: Start | Run[StateT],
    *,
    tol: float,
    max_iter: int,
    small_promise: float = SMALL_PROMISE,
    rounding: float = -math.inf,
    way_up: Callable[[Problem, Array], Array | None] | None = None,
    monitor: Monitor | None = None,
    began: float | None = None,
    keep: Callable[[Run[StateT]], None] | None = None,
) -> Solution[StateT]:
    """Step until the residual reaches `tol`, `max_iter` is reached, or `monitor` asks to stop.

    When `tol` is reached, one more step is made if the state predicts that it lowers the loss by
    more than the share `small_promise`.  At least one step is made.  With ``tol=0`` all `max_iter`
    steps are made, even from a point where the residual happens to be exactly zero; otherwise a
    run also ends when only rounding errors still change.

    Parameters
    ----------
    start : Start or Run
        Where to begin, or a run to resume.
    rounding : float, optional
        The largest decrease of the loss that may be rounding.  The run ends after 20 iterations
        without a larger decrease or a smaller residual.
    way_up : callable, optional
        Called with the problem and the final U of a run that began at a critical point; returns a
        better U, or None.
    monitor : Monitor, optional
        Called at every iteration; may ask to stop.
    began : float, optional
        Start of the clock, from `time.perf_counter`; now by default.
    keep : callable, optional
        Called with the run at its start and after each iteration, to save it in case of a crash.
    """
    monitor, keep = monitor or Monitor(), keep or _forget
    began = time.perf_counter() if began is None else began
    if isinstance(start, Run):
        run = start
    else:
        state = solver.init(problem, start)
        run = Run(state, state.value)
    if run.record:
        monitor.resume(len(run.record))
        # It may have converged to a larger `tol` than the current one.
        run.arrived = run.arrived and min(row["residual"] for row in run.record) <= tol
    keep(run)
    # A finished run may be continued to a smaller `tol`, or with more iterations.  An unfinished
    # run may have used up a smaller `max_iter`.
    is_over = run.finished or len(run.record) >= max_iter
    reason, stop = None, False
    while reason is None:
        if not is_over:
            monitor.begin()
            run.state = solver.step(problem, run.state)
            run.record.append(_recorded(problem, run.state, time.perf_counter() - began))
            stop = monitor.end(run.state)
        reason = _why_stop(run, tol, max_iter, small_promise, stop=stop)
        if reason is None and tol > 0 and _stagnates(run, tol, rounding):
            reason = StopReason.STAGNANT
        # No step leaves a saddle.
        U = way_up(problem, run.state.U) if way_up and _may_be_saddle(run, tol, reason) else None
        if U is not None and len(run.record) < max_iter:
            run.state, run.arrived, reason = solver.init(problem, Start(U)), False, None
        elif U is not None:
            reason = StopReason.MAX_ITER
        run.finished, is_over = reason is not None, False
        keep(run)
    state, record = run.state, run.record
    return Solution(
        U=state.U,
        value=state.value,
        start_value=run.start_value,
        residual=state.residual,
        n_iter=len(record),
        stop_reason=reason,
        history={name: np.array([row[name] for row in record]) for name in record[0]},
        constants=dict(state.constants),
        state=state,
    )


def _stagnates(run: Run[StateT], tol: float, rounding: float) -> bool:
    """Whether only rounding errors still change: `tol` is below what they allow."""
    earlier, latest = run.record[:-STAGNATION], run.record[-STAGNATION:]
    if len(earlier) < STAGNATION or earlier[-1]["loss"] - latest[-1]["loss"] > rounding:
        return False
    # Residuals below `tol` belong to saddles that the run has left.
    least = min((row["residual"] for row in earlier if row["residual"] > tol), default=math.inf)
    return min(row["residual"] for row in latest) >= least


def _may_be_saddle(run: Run[StateT], tol: float, reason: StopReason | None) -> bool:
    """Whether a run that began near a critical point has ended."""
    first = run.record[0]["residual"]
    if reason is None and tol == 0 and len(run.record) == 1:  # it will not end
        return first <= 64.0 * float(np.finfo(run.state.U.dtype).eps)
    ended = reason in (StopReason.CONVERGED, StopReason.STAGNANT)
    return ended and first <= max(tol, CRITICAL)


def _recorded(problem: Problem, state: State, seconds: float) -> dict[str, float]:
    return {
        "loss": state.loss,
        "residual": state.residual,
        "passes": problem.rows.passes,
        "flops": problem.rows.flops,
        "seconds": seconds,
        **state.measures,
    }


def _why_stop(
    run: Run[StateT], tol: float, max_iter: int, small_promise: float, *, stop: bool
) -> StopReason | None:
    met = tol > 0 and run.state.residual <= tol
    if met:
        # If the loss is small, so is its gradient, long before the loss reaches its minimum.
        promise = run.state.promise if isinstance(run.state, Promising) else 0.0
        if run.arrived or promise <= small_promise:
            return StopReason.CONVERGED
        run.arrived = True
    if stop:
        return StopReason.CALLBACK
    if len(run.record) >= max_iter:
        return StopReason.CONVERGED if met else StopReason.MAX_ITER
    return None


def _forget(run: Run[StateT]) -> None:
    """Keep nothing."""
