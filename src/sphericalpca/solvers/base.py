"""What solvers share: the state at a point, and checks of options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from sphericalpca.exceptions import Parameter, ParameterError
from sphericalpca.linalg import Array
from sphericalpca.problem import FinalSums, Point

__all__ = ["PointState", "check_count", "is_count", "is_number"]


@dataclass(frozen=True)
class PointState:
    """A `State` read from the point at U, for solvers that evaluate the whole problem."""

    point: Point

    @property
    def U(self) -> Array:
        """The subspace, shape (m, r)."""
        return self.point.basis

    @property
    def value(self) -> float:
        """f(U)."""
        return self.point.value

    @property
    def loss(self) -> float:
        """The loss h at U and its best V."""
        return self.point.loss

    @property
    def residual(self) -> float:
        """Relative Riemannian gradient at U."""
        return self.point.residual

    @property
    def final_sums(self) -> FinalSums | None:
        """What `Problem.canonical_form` needs besides U."""
        return self.point.final_sums

    @property
    def measures(self) -> Mapping[str, float]:
        """Further numbers to record: none."""
        return {}

    @property
    def constants(self) -> Mapping[str, float]:
        """Constants of the solver: none."""
        return {}


def is_number(value: Any) -> bool:
    """Whether a value is a real number; booleans are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_count(value: Any) -> bool:
    """Whether a value is a positive integer; booleans are not."""
    return is_number(value) and isinstance(value, Integral) and int(value) >= 1


def check_count(name: str, value: Any, remedy: str) -> None:
    """Raise a `ParameterError` unless an option is a positive integer."""
    if not is_count(value):
        raise ParameterError(Parameter(name, value), "must be a positive integer", remedy)
