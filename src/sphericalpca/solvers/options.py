"""What counts as a number among the options of solvers."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

__all__ = ["is_count", "is_number"]


def is_number(value: Any) -> bool:
    """Whether it is a real number; truth values are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_count(value: Any) -> bool:
    """Whether it is an integer of at least 1."""
    return is_number(value) and isinstance(value, Integral) and int(value) >= 1
