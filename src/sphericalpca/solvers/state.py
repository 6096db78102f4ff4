"""The state of solvers that evaluate the whole problem at every U."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sphericalpca.linalg import Array
from sphericalpca.problem import Point

__all__ = ["PointState"]


@dataclass(frozen=True)
class PointState:
    """What the loop reads, from the point at U."""

    point: Point
    loss: float

    @property
    def U(self) -> Array:
        """The subspace, shape (m, r)."""
        return self.point.U

    @property
    def value(self) -> float:
        """f(U)."""
        return self.point.value

    @property
    def residual(self) -> float:
        """Relative Riemannian gradient at U."""
        return self.point.residual

    @property
    def closing(self) -> tuple[float, float, Array]:
        """What `Problem.canonical_form` wants to know of U."""
        return self.point.closing

    @property
    def measures(self) -> Mapping[str, float]:
        """Further numbers to record: none."""
        return {}

    @property
    def constants(self) -> Mapping[str, float]:
        """Constants of the solver: none."""
        return {}
