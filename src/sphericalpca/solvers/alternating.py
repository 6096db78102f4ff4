"""Exact alternation, the paper's Eq. (7).

U step: the polar factor of X'WV, the exact minimiser of h over orthonormal U, because
h is linear in U on the constraint set.  V step: the unit vector along U'x.  Neither
needs a step size, and the loss never increases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sphericalpca.iterate import Start
from sphericalpca.linalg import Array, polar
from sphericalpca.problem import Problem
from sphericalpca.solvers.base import PointState
from sphericalpca.solvers.start import start_of_U

__all__ = ["Alternating"]


@dataclass(frozen=True)
class Alternating:
    """Exact alternation between U and V; one pass over the data per iteration."""

    def init(self, problem: Problem, start: Start) -> PointState:
        """The state at the start's U; its V is the best one there."""
        return PointState(problem.evaluate(start_of_U(start, type(self).__name__)))

    def step(self, problem: Problem, state: PointState) -> PointState:
        """The exact U step, then the exact V step."""
        return PointState(problem.evaluate(polar(state.point.gradient, problem.inner).factor))

    def saved(self, state: PointState) -> dict[str, Array]:
        """A state as arrays."""
        return {"U": state.U}

    def resume(self, problem: Problem, saved: Mapping[str, Array]) -> PointState:
        """The state that was saved."""
        return PointState(problem.evaluate(saved["U"]))
