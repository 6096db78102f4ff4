"""The interface between data, methods and measures."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sphericalpca.linalg import Array, orthonormal
from sphericalpca.rows import Matrix

__all__ = ["Contender", "Fit", "Task", "TracePoint", "random_subspace"]


class TracePoint(NamedTuple):
    """The loss h, and the cost until it was reached."""

    seconds: float
    passes: float
    loss: float


@dataclass(frozen=True)
class Task:
    """The task of a method.

    Attributes
    ----------
    start : array, shape (m, r)
        Where iterative methods begin; the others take its shape only.
    tol : float
        The residual to stop at.
    cap : float
        Seconds after which a slow method gives up.
    """

    start: Array
    tol: float = 1e-4
    cap: float = math.inf

    @property
    def n_components(self) -> int:
        """The dimension r of the subspace."""
        return int(self.start.shape[1])


@dataclass(frozen=True)
class Fit:
    """The result of a method.

    Attributes
    ----------
    U : float64 array, shape (m, r)
        Orthonormal basis of the subspace.
    passes : float
        Reads of the data, a read being one product with X and one with X'; NaN where the
        method does not count them.
    trace : tuple of TracePoint
        Empty for methods that are not iterative.
    note : str
        Why it ended early, if it did.
    """

    U: Array
    passes: float = math.nan
    trace: tuple[TracePoint, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Contender:
    """A method to be timed.

    Attributes
    ----------
    name : str
    fit : callable
        From unit rows X and a task to whatever `read` understands.  Only this is timed.
    read : callable
        From that to a `Fit`, outside the clock.
    refusal : callable
        From X and r to the reason why this method is left out, empty if it is not.
    layout : callable
        From X to the type and order that suit the method best, outside the clock.
    """

    name: str
    fit: Callable[[Matrix, Task], Any]
    read: Callable[[Any], Fit]
    refusal: Callable[[Matrix, int], str] = lambda _X, _r: ""
    layout: Callable[[Matrix], Matrix] = lambda X: X


def random_subspace(m: int, r: int) -> Array:
    """The common start of iterative methods."""
    return orthonormal(np.random.default_rng(0).standard_normal((m, r)))
