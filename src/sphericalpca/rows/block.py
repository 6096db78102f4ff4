"""A few consecutive rows of the data, as every computation sees them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from sphericalpca.linalg import Array
from sphericalpca.rows.facts import Facts

__all__ = ["Block", "Matrix"]

Matrix = Any  # a dense 2-D array or a scipy CSR matrix or array


@dataclass(frozen=True)
class Block:
    """Rows ``x_j = scale_j (matrix_j - shift)`` with weights, in one memory order.

    Attributes
    ----------
    matrix : array or CSR, shape (b, m)
    span : slice
        Which rows of the whole these are.
    facts : Facts
        Weight, scale and length of each of these rows.
    heaviest : float
        The largest weight of all rows.
    shift : array, shape (m,), or None
        Subtracted without forming the difference, which would fill a sparse matrix.
    """

    matrix: Matrix
    span: slice
    facts: Facts
    heaviest: float
    shift: Array | None = None

    @property
    def weight(self) -> Array:
        """w_j, shape (b,)."""
        return self.facts.weight

    @property
    def scale(self) -> Array:
        """What the rows of the matrix are multiplied with, shape (b,)."""
        return self.facts.scale

    @property
    def norm(self) -> Array:
        """Lengths of the scaled rows, shape (b,)."""
        return self.facts.norm

    @cached_property
    def _scales(self) -> Array | None:
        return _column(self.scale, self.matrix.dtype)

    @cached_property
    def _shares(self) -> Array | None:
        return _column(self.weight / self.heaviest, self.matrix.dtype)

    @cached_property
    def _pulls(self) -> Array | None:
        return _column(self.weight / self.heaviest * self.scale, self.matrix.dtype)

    @cached_property
    def all_unit(self) -> bool:
        """Whether all rows have length one, and count."""
        return bool((self.norm == 1).all() and (self.weight > 0).all())

    @cached_property
    def longest(self) -> float:
        """Length of the longest row."""
        return float(self.norm.max(initial=0.0))

    def project(self, U: Array) -> Array:
        """X U for this block's rows, shape (b, r)."""
        Y = self.matrix @ U
        if self.shift is not None:
            Y -= self.shift @ U
        if self._scales is not None:
            Y *= self._scales
        return np.asarray(Y)

    def correlate(self, V: Array, factor: Array | None = None, *, overwrite: bool = False) -> Array:
        """sum_j factor_j x_j v_j' over this block, shape (m, r); by default X'WV.

        The heaviest weight is taken out of the product and put back in float64: a large
        weight times a large scale could leave the range of the data's type.
        """
        default = factor is None
        column = self._pulls if factor is None else _column(factor * self.scale, V.dtype)
        if column is not None:
            V = np.multiply(V, column, out=V if overwrite else None)
        G = np.asarray(self.matrix.T @ V)
        if self.shift is not None:
            G -= np.outer(self.shift, V.sum(axis=0))
        return G.astype(np.float64) * self.heaviest if default and self.heaviest != 1 else G

    def moment(self, V: Array) -> Array:
        """V'WV over this block, shape (r, r), in float64."""
        weighted = V if self._shares is None else V * self._shares
        return np.asarray(weighted.T @ V, dtype=np.float64) * self.heaviest

    def gram(self, factor: Array) -> Array:
        """sum_j factor_j^2 x_j x_j', shape (m, m); computed in the type of `factor`."""
        factor = factor * self.scale.astype(factor.dtype)
        if not sparse.issparse(self.matrix):
            B = self.matrix * factor[:, None]
            return np.asarray(B.T @ B)
        B = sparse.diags_array(factor) @ self.matrix
        A = (B.T @ B).toarray()
        if self.shift is not None:
            # (B - factor shift')'(B - factor shift'), with the size of the factor moved to
            # the shift: each alone may be far outside the range of its square.
            size = factor.max(initial=0)
            share = factor / size if size > 0 else factor
            shift = size * self.shift
            cross = np.outer(B.T @ share, shift)
            A += float(share @ share) * np.outer(shift, shift) - cross - cross.T
        return np.asarray(A)

    def cosines(self, other: Block) -> Array:
        """Cosines between these rows and those of another block, shape (b, b')."""
        (left, ours), (right, theirs) = self._unit(), other._unit()
        K = left @ right.T
        K = np.asarray(K.toarray() if sparse.issparse(K) else K, dtype=np.float64)
        if self.shift is not None:
            size = max(ours.max(initial=0), theirs.max(initial=0))
            shift, ours, theirs = size * self.shift, ours / size, theirs / size
            K += float(shift @ shift) * np.outer(ours, theirs)
            K -= np.outer(left @ shift, theirs) + np.outer(ours, right @ shift)
        return K

    def _unit(self) -> tuple[Matrix, Array]:
        """Rows divided by their length (before the shift), and what they were divided by."""
        inverse = np.divide(
            self.scale, self.norm, out=np.zeros_like(self.norm), where=self.norm > 0
        )
        column = inverse.astype(self.matrix.dtype)
        if sparse.issparse(self.matrix):
            return sparse.diags_array(column) @ self.matrix, inverse
        return self.matrix * column[:, None], inverse


def _column(factor: Array, dtype: Any) -> Array | None:
    """Factors of the rows, to be multiplied with; None where all are one."""
    return None if (factor == 1).all() else factor.astype(dtype)[:, None]
