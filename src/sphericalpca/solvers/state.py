"""The state of solvers that evaluate the whole problem at every U."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sphericalpca.linalg import Array
from sphericalpca.problem import Evaluation

__all__ = ["EvaluatedState"]


@dataclass(frozen=True)
class EvaluatedState:
    """What the loop reads, from the evaluation at U."""

    evaluation: Evaluation
    objective: float

    @property
    def U(self) -> Array:
        """The subspace, shape (m, r)."""
        return self.evaluation.U

    @property
    def value(self) -> float:
        """f(U)."""
        return self.evaluation.value

    @property
    def residual(self) -> float:
        """Relative Riemannian gradient at U."""
        return self.evaluation.residual

    @property
    def closing(self) -> tuple[float, float, Array]:
        """What `Problem.canonical_form` wants to know of U."""
        return self.evaluation.closing

    @property
    def measures(self) -> Mapping[str, float]:
        """Further numbers to record: none."""
        return {}

    @property
    def constants(self) -> Mapping[str, float]:
        """Constants of the solver: none."""
        return {}
