"""Exact alternation, the paper's Eq. (7).

U step: the polar factor of X'WV, the exact minimiser of h over orthonormal U, because
h is linear in U on the constraint set.  V step: the unit vector along U'x.  Neither
needs a step size; the loss never rises.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sphericalpca.linalg import Array, polar
from sphericalpca.problem import Evaluation, Problem
from sphericalpca.solvers.start import Start, start_of_U

__all__ = ["Alternating"]


@dataclass(frozen=True)
class _State:
    evaluation: Evaluation
    objective: float
    measures: Mapping[str, float] = field(default_factory=dict)
    constants: Mapping[str, float] = field(default_factory=dict)

    @property
    def U(self) -> Array:
        return self.evaluation.U

    @property
    def value(self) -> float:
        return self.evaluation.value

    @property
    def closing(self) -> tuple[float, float, Array]:
        return self.evaluation.closing

    @property
    def residual(self) -> float:
        return self.evaluation.residual


@dataclass(frozen=True)
class Alternating:
    """Exact alternation between U and V; one pass over the data per iteration."""

    def init(self, problem: Problem, start: Start) -> _State:
        """The state at the start's U; its V is the best one there."""
        return self._at(problem, start_of_U(start, type(self).__name__))

    def step(self, problem: Problem, state: _State) -> _State:
        """The exact U step, then the exact V step."""
        return self._at(problem, polar(state.evaluation.gradient).factor)

    def _at(self, problem: Problem, U: Array) -> _State:
        evaluation = problem.evaluate(U)
        return _State(evaluation, problem.loss(evaluation.value))
