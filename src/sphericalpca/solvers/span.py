"""A growing orthonormal basis, and the rows projected on it."""

from __future__ import annotations

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.problem import Problem
from sphericalpca.products import inner_products, product

__all__ = ["Span"]


class Span:
    """An orthonormal basis S (m x k) with Z = X S (n x k), in arrays of fixed size.

    A span grows and is cut back in place: there is one for a run of a solver.

    Parameters
    ----------
    problem : Problem
        Whose rows are projected.
    capacity : int
        Largest number of columns.
    """

    def __init__(self, problem: Problem, capacity: int) -> None:
        (n, m), dtype = problem.rows.shape, problem.rows.dtype
        self._problem = problem
        self._basis = np.empty((m, capacity), dtype=dtype)
        self._projections = np.empty((n, capacity), dtype=dtype)
        self.columns = 0

    @property
    def capacity(self) -> int:
        """Largest number of columns."""
        return int(self._basis.shape[1])

    @property
    def basis(self) -> Array:
        """S, shape (m, k)."""
        return self._basis[:, : self.columns]

    @property
    def projections(self) -> Array:
        """Z = X S, shape (n, k)."""
        return self._projections[:, : self.columns]

    def restricted(self) -> Problem:
        """The problem within the span."""
        return self._problem.restricted_to(self.projections)

    def add(self, D: Array) -> None:
        """Add columns that are orthonormal to the basis; half a pass projects the rows."""
        first, self.columns = self.columns, self.columns + D.shape[1]
        self._basis[:, first : self.columns] = D
        self._problem.rows.project(D, out=self._projections[:, first : self.columns])

    def keep(self, B: Array) -> None:
        """Cut back to the span of S B, for orthonormal B (k x q)."""
        B = B.astype(self._basis.dtype, copy=False)
        # One Newton-Schulz step: otherwise rounding errors of S would outlive every restart.
        SB = product(self.basis, B)
        B = product(B, 1.5 * np.eye(B.shape[1], dtype=B.dtype) - 0.5 * inner_products(SB, SB))
        S, Z = product(self.basis, B), product(self.projections, B)
        self.columns = B.shape[1]
        self.basis[:], self.projections[:] = S, Z

    def outside(self, G: Array, coordinates: Array) -> Array:
        """G - S S'G from the coordinates S'G, in the data's type."""
        inside = product(self.basis, coordinates.astype(self._basis.dtype, copy=False))
        return np.subtract(G, inside, dtype=self._basis.dtype)
