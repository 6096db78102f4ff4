"""A few consecutive rows of the data, as every computation sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from sphericalpca.linalg import Array

__all__ = ["Block", "Matrix"]

Matrix = Any  # a dense 2-D array or a scipy CSR matrix or array


@dataclass(frozen=True, slots=True)
class Block:
    """Rows ``x_j = scale_j (matrix_j - shift)`` with weights, in one memory order.

    Attributes
    ----------
    matrix : array or CSR, shape (b, m)
    span : slice
        Which rows of the whole these are.
    weight, scale, norm : float64 arrays, shape (b,)
        ``norm`` is the length of the scaled row ``x_j``; it is 0, and so is the weight,
        for rows without a direction.
    shift : array, shape (m,), or None
        Subtracted without forming the difference, which would fill a sparse matrix.
    """

    matrix: Matrix
    span: slice
    weight: Array
    scale: Array
    norm: Array
    shift: Array | None = None

    def project(self, U: Array) -> Array:
        """X U for this block's rows, shape (b, r)."""
        Y = self.matrix @ U
        if self.shift is not None:
            Y -= self.shift @ U
        Y *= self.scale.astype(Y.dtype)[:, None]
        return np.asarray(Y)

    def correlate(self, V: Array, factor: Array | None = None, *, overwrite: bool = False) -> Array:
        """sum_j factor_j x_j v_j' over this block, shape (m, r); by default X'WV."""
        factor = self.weight if factor is None else factor
        column = (factor * self.scale).astype(V.dtype)[:, None]
        V = np.multiply(V, column, out=V if overwrite else None)
        G = self.matrix.T @ V
        if self.shift is not None:
            G -= np.outer(self.shift, V.sum(axis=0))
        return np.asarray(G)

    def gram(self, factor: Array) -> Array:
        """sum_j factor_j^2 x_j x_j', shape (m, m); computed in the type of `factor`."""
        factor = factor * self.scale.astype(factor.dtype)
        if not sparse.issparse(self.matrix):
            B = self.matrix * factor[:, None]
            return np.asarray(B.T @ B)
        B = sparse.diags_array(factor) @ self.matrix
        A = (B.T @ B).toarray()
        if self.shift is not None:
            cross = np.outer(B.T @ factor, self.shift)
            A += float(factor @ factor) * np.outer(self.shift, self.shift) - cross - cross.T
        return np.asarray(A)

    def cross(self, other: Block) -> Array:
        """Inner products of these rows with those of another block, shape (b, b')."""
        K = self.matrix @ other.matrix.T
        K = np.asarray(K.toarray() if sparse.issparse(K) else K, dtype=np.float64)
        if self.shift is not None:
            K += float(self.shift @ self.shift)
            K -= (self.matrix @ self.shift)[:, None] + (other.matrix @ self.shift)[None, :]
        return np.asarray(K * self.scale[:, None] * other.scale)
