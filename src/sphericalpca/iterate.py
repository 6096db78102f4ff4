"""The only loop.  It owns the clock, the record, and the reason for stopping."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import numpy as np

from sphericalpca.linalg import Array

__all__ = ["Monitor", "Solution", "Solver", "State", "StopReason", "iterate"]


# A step that promises less than this share of the loss is not worth its pass.
SMALL_PROMISE = 1e-5


class StopReason(StrEnum):
    """Why a run ended."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    CALLBACK = "callback"


class State(Protocol):
    """What the loop reads from a solver's state after each step, before it makes the next.

    Later a state may not know any more: solvers share large arrays among theirs.
    """

    @property
    def U(self) -> Array:
        """The subspace, shape (m, r)."""

    @property
    def value(self) -> float:
        """f(U), with the best V."""

    @property
    def objective(self) -> float:
        """The loss h at the current pair (U, V)."""

    @property
    def residual(self) -> float:
        """Relative Riemannian gradient at U."""

    @property
    def closing(self) -> tuple[float, float, Array] | None:
        """What `Problem.canonical_form` wants to know of U; without it that is half a pass."""

    @property
    def measures(self) -> Mapping[str, float]:
        """Further numbers to record."""

    @property
    def constants(self) -> Mapping[str, float]:
        """The solver's constants for this problem, if it has any."""


class Solver(Protocol):
    """An immutable record of options: no loop, clock, print or randomness inside."""

    def init(self, problem: Any, start: Any) -> Any:
        """The state at the starting point."""

    def step(self, problem: Any, state: Any) -> Any:
        """The state one iteration later."""


@dataclass(frozen=True)
class Solution:
    """Where a run ended and how it got there.

    Attributes
    ----------
    U : array, shape (m, r)
    value : float
        f(U), the objective that is maximised.
    start_value : float
        f at the starting point.
    residual : float
    n_iter : int
    stop_reason : StopReason
    history : dict of arrays, each of length n_iter
        `objective`, `residual`, `passes`, `flops`, `seconds`, and the solver's own measures.
    constants : dict of float
        The solver's constants for this problem, if it has any.
    state : State
        The solver's last state.
    """

    U: Array
    value: float
    start_value: float
    residual: float
    n_iter: int
    stop_reason: StopReason
    history: dict[str, Array]
    state: Any = None
    constants: dict[str, float] = field(default_factory=dict)


class Monitor:
    """Watches a run; this one sees nothing.  Subclasses show progress or stop early."""

    def begin(self) -> None:
        """An iteration begins."""

    def end(self, state: State) -> bool:  # noqa: ARG002 - this one sees nothing
        """An iteration ended in `state`; True asks the run to stop."""
        return False

    def close(self) -> None:
        """The fit is over."""


def iterate(
    problem: Any,
    solver: Solver,
    start: Any,
    *,
    tol: float,
    max_iter: int,
    small_promise: float = SMALL_PROMISE,
    monitor: Monitor | None = None,
    began: float | None = None,
) -> Solution:
    """Step until the residual reaches `tol`, `max_iter` is spent, or `monitor` says so.

    One more step is made after the last if the state promises that it will lower the loss
    by more than the share `small_promise`.

    At least one step is made.  With ``tol=0`` all `max_iter` steps are made, even from
    a point where the residual happens to be exactly zero.

    Parameters
    ----------
    monitor : Monitor, optional
        Told of every iteration; may ask to stop.
    began : float, optional
        When the clock was started, as `time.perf_counter` tells it; now by default.
    """
    monitor = monitor or Monitor()
    began = time.perf_counter() if began is None else began
    state = solver.init(problem, start)
    start_value = state.value
    record: list[dict[str, float]] = []
    reason, arrived = StopReason.MAX_ITER, False
    for _ in range(max_iter):
        monitor.begin()
        state = solver.step(problem, state)
        record.append(
            {
                "objective": state.objective,
                "residual": state.residual,
                "passes": problem.rows.passes,
                "flops": problem.rows.flops,
                "seconds": time.perf_counter() - began,
                **state.measures,
            }
        )
        stop = monitor.end(state)
        if tol > 0 and state.residual <= tol:
            reason = StopReason.CONVERGED
            # Where the loss is small its gradient is too, long before it is at its least.
            if arrived or getattr(state, "promise", 0.0) <= small_promise:
                break
            arrived = True
        if stop:
            reason = StopReason.CALLBACK
            break
    return Solution(
        U=state.U,
        value=state.value,
        start_value=start_value,
        residual=state.residual,
        n_iter=len(record),
        stop_reason=reason,
        history={name: np.array([row[name] for row in record]) for name in record[0]},
        constants=dict(state.constants),
        state=state,
    )
