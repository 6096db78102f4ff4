"""A few consecutive rows of the data, with all computations on them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy import sparse

from sphericalpca.kernels import CompressedRows, library
from sphericalpca.linalg import Array, unit_rows
from sphericalpca.parallel import equal_ends, spread, workers
from sphericalpca.products import inner_products, pieces, times
from sphericalpca.rows.backend import on_host
from sphericalpca.rows.stats import RowStats

__all__ = ["VANISHING", "Block", "Matrix", "dense", "spans_of", "stored_bytes", "stored_numbers"]

Matrix = Any  # a dense 2-D array or a scipy CSR matrix or array

# A projection shorter than this many rounding errors of its row has no direction.
VANISHING = 10.0
# Products of dense float32 blocks with more rows than this are computed in pieces, because BLAS
# may add one row after the other, and lose digits.  Pieces take 5% more time.
TALL, PIECE = 8192, 2048
# Sparse products always add one row after the other.  With more rows than this they are computed
# in float64, which is slower; with fewer, rows are long and differ, as do their rounding errors.
TALL_SPARSE = 2**15
# From this many columns on, a sparse block is transposed even for a single X'V: this takes as long
# as a product with a few columns, and products with the transposed block take a third of the time.
WORTH_TURNING = 16


@dataclass(frozen=True)
class Block:
    """Rows ``x_j = scale_j (matrix_j - shift)`` with weights, in one memory order.

    Arrays with one row per row of the block (projections Y, components V, lengths) stay where
    the block is; matrices of m rows are NumPy arrays.  The `shift`, of shape (m,), is
    subtracted without forming the difference, which would fill a sparse matrix.
    """

    matrix: Matrix  # of shape (b, m)
    span: slice  # which rows of the whole these are
    stats: RowStats
    heaviest: float  # the largest weight of all rows, not only of these
    shift: Array | None = None
    transposed: Callable[[], CompressedRows] | None = None  # of a sparse matrix, for a fast X'V
    turns: bool = False  # whether a transposed copy may be made for a single product

    @property
    def weight(self) -> Array:
        """w_j, shape (b,)."""
        return self.stats.weight

    @property
    def scale(self) -> Array:
        """Factors of the rows of the matrix, shape (b,)."""
        return self.stats.scale

    @property
    def norm(self) -> Array:
        """Lengths of the scaled rows, shape (b,)."""
        return self.stats.norm

    @cached_property
    def _scales(self) -> Array | None:
        return self._column(self.scale)

    @cached_property
    def _shares(self) -> Array | None:
        return self._column(self.weight / self.heaviest)

    @cached_property
    def _pulls(self) -> Array | None:
        return self._column(self.weight / self.heaviest * self.scale)

    def _column(self, factor: Array, dtype: Any = None) -> Array | None:
        """Factors of the rows as a column; None if all are one."""
        return None if (factor == 1).all() else self._factors(factor, dtype)

    def _factors(self, factor: Array, dtype: Any = None) -> Array:
        return factor.astype(dtype or self.matrix.dtype)[:, None]

    def in_double(self) -> Block:
        """The block in float64."""
        if self.matrix.dtype == np.float64:
            return self
        matrix = self.matrix.astype(np.float64)
        shift = None if self.shift is None else self.shift.astype(np.float64)
        turned = None if self.transposed is None else cache(CompressedRows(matrix).transposed)
        return replace(self, matrix=matrix, shift=shift, transposed=turned, turns=False)

    @property
    def is_compiled(self) -> bool:
        """Whether unit projections come from one compiled kernel."""
        return self._compressed is not None

    @cached_property
    def _compressed(self) -> CompressedRows | None:
        """The matrix for compiled kernels, if it is sparse and there are any."""
        compiled = sparse.issparse(self.matrix) and library() is not None
        return CompressedRows(self.matrix) if compiled else None

    @cached_property
    def all_unit(self) -> bool:
        """Whether all rows have length one and a positive weight."""
        return bool((self.norm == 1).all() and (self.weight > 0).all())

    @cached_property
    def longest(self) -> float:
        """Length of the longest row."""
        return float(self.norm.max(initial=0.0))

    def project(self, U: Array) -> Array:
        """X U for this block's rows, shape (b, r)."""
        if self._compressed is not None:
            return self._compressed.times(U, *self._placement(U))
        Y = times(self.matrix, U)
        if self.shift is not None:
            Y -= times(self.shift, U)
        if self._scales is not None:
            Y *= self._scales
        return np.asarray(Y)

    def _placement(self, U: Array) -> tuple[Array | None, Array | None]:
        """Scale and shift of the product with U, for compiled kernels."""
        scale = None if self._scales is None else self._scales[:, 0]
        return scale, None if self.shift is None else times(self.shift, U)

    def correlate(self, V: Array, factor: Array | None = None, *, overwrite: bool = False) -> Array:
        """sum_j factor_j x_j v_j' over this block, shape (m, r); by default X'WV.

        The heaviest weight is multiplied in float64: with a large scale it could overflow the data
        type.  Long sums are computed in float64, too.
        """
        default = factor is None
        column = self._pulls if factor is None else self._column(factor * self.scale, V.dtype)
        if column is not None:
            V = np.multiply(V, column, out=V if overwrite else None)
        if self.transposed is not None:
            G = self.transposed().times(V)
        elif self.turns and self._compressed is not None and V.shape[1] >= WORTH_TURNING:
            G = self._compressed.transposed().times(V)
        elif sparse.issparse(self.matrix):
            wide = V.dtype != np.float64 and len(V) > TALL_SPARSE
            G = np.asarray(self.matrix.T @ (V.astype(np.float64) if wide else V))
        elif V.dtype == np.float64 or len(V) <= TALL:
            G = np.asarray(times(self.matrix.T, V))
        else:
            G = np.zeros((self.matrix.shape[1], V.shape[1]))
            for piece in pieces(0, len(V), PIECE):
                G += times(self.matrix[piece].T, V[piece])
        if self.shift is not None:
            G -= np.outer(self.shift, V.sum(axis=0, dtype=np.float64))
        return G.astype(np.float64) * self.heaviest if default and self.heaviest != 1 else G

    def moment(self, V: Array) -> Array:
        """V'WV over this block, shape (r, r), in float64."""
        weighted = V if self._shares is None else V * self._shares
        return inner_products(weighted, V).astype(np.float64) * self.heaviest

    def directions(self, Y: Array, *, overwrite: bool = False) -> tuple[Array, Array]:
        """Best components V given Y = XU, and the lengths of Y's rows.

        Where a nonzero row has a zero projection, every unit v is optimal.  V = 0 would keep it
        at a saddle; it gets v along R'x, for a fixed generic R.
        """
        return self._completed(*unit_rows(Y, overwrite=overwrite))

    def unit_projections(self, U: Array) -> tuple[Array, Array]:
        """Best components V at U, and the lengths of the projections X U; see `directions`."""
        if self._compressed is not None:
            return self._completed(*self._compressed.unit_times(U, *self._placement(U)))
        return self.directions(self.project(U), overwrite=True)

    def _completed(self, V: Array, lengths: Array) -> tuple[Array, Array]:
        """Directions for rows whose projection vanishes, in the memory of V."""
        rounding = VANISHING * float(np.finfo(V.dtype).eps)
        if lengths.min(initial=np.inf) > rounding * self.longest:
            return V, lengths
        vanishing = np.flatnonzero((lengths <= rounding * self.norm) & (self.weight > 0))
        if len(vanishing):
            R = np.random.default_rng(0).standard_normal((self.matrix.shape[1], V.shape[1]))
            V[vanishing], _ = unit_rows(self.project(R.astype(self.matrix.dtype))[vanishing])
        return V, lengths

    def value(self, lengths: Array) -> float:
        """The contribution to f of projections of these lengths."""
        return float(self.weight @ lengths)

    def sums(self, lengths: Array) -> tuple[float, float]:
        """The contributions of projections of these lengths to f and to the sum of cosines."""
        value = self.value(lengths)
        if self.all_unit:
            return value, value
        cosines = np.divide(lengths, self.norm, out=np.zeros_like(self.norm), where=self.norm > 0)
        return value, float(self.weight @ cosines)

    def leading_sums(self, U: Array) -> tuple[Array, Array]:
        """`sums` for the first, the first two, ..., all columns of U, shapes (r,)."""
        norm = np.where(self.norm > 0, self.norm, 1.0)
        cosines = np.asarray(self.project(U), dtype=np.float64) / norm[:, None]
        np.multiply(cosines, cosines, out=cosines)
        np.cumsum(cosines, axis=1, out=cosines)
        np.sqrt(cosines, out=cosines)
        return (self.weight * norm) @ cosines, self.weight @ cosines

    def turned(self, V: Array, lengths: Array, E: Array) -> Array:
        """How V turns as Y moves along E, in the memory of E: (E - V <V, E>) / ||Y||, or 0."""
        E -= V * np.einsum("ij,ij->i", V, E)[:, None]
        smooth = (lengths > VANISHING * np.finfo(V.dtype).eps * self.norm) & (self.norm > 0)
        curvature = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=smooth)
        return np.multiply(E, curvature.astype(E.dtype)[:, None], out=E)

    def covariance_times(self, Q: Array, factor: Array) -> Array:
        """sum_j factor_j^2 x_j x_j' Q, shape (m, q)."""
        return self.correlate(self.project(Q) * self._factors(factor, Q.dtype), factor)

    def gram(self, factor: Array) -> Array:
        """sum_j factor_j^2 x_j x_j', shape (m, m); computed in the type of `factor`."""
        factor = factor * self.scale.astype(factor.dtype)
        if not sparse.issparse(self.matrix):
            A = np.zeros((self.matrix.shape[1],) * 2, dtype=factor.dtype)
            for piece in pieces(0, len(factor), PIECE):  # scaled rows stay in cache
                B = self.matrix[piece] * factor[piece, None]
                A += times(B.T, B)
            return A
        B = sparse.diags_array(factor) @ self.matrix
        ends = itertools.pairwise(equal_ends(B.shape[0], workers()))
        A = sum(spread(lambda part: (part.T @ part).toarray(), [B[a:b] for a, b in ends]))
        if self.shift is not None:
            # Scale the shift by the size of the factor, because the square of either may overflow.
            size = factor.max(initial=0)
            share = factor / size if size > 0 else factor
            shift = size * self.shift
            cross = np.outer(B.T @ share, shift)
            A += float(share @ share) * np.outer(shift, shift) - cross - cross.T
        return np.asarray(A)

    def cosines(self, other: Block) -> Array:
        """Cosines between these rows and those of another block, shape (b, b'), in float64."""
        (left, ours), (right, theirs) = self._unit(), other._unit()
        K = times(left, right.T)
        K = np.asarray(K.toarray() if sparse.issparse(K) else on_host(K), dtype=np.float64)
        if self.shift is not None:
            size = max(ours.max(initial=0), theirs.max(initial=0)) or 1.0
            shift, ours, theirs = size * self.shift, ours / size, theirs / size
            K += float(shift @ shift) * np.outer(ours, theirs)
            K -= np.outer(left @ shift, theirs) + np.outer(ours, right @ shift)
        return K

    @property
    def _unit_scale(self) -> Array:
        """Factors that scale rows of the matrix to unit length; 0 for zero rows."""
        zeros = np.zeros_like(self.norm)
        return np.divide(self.scale, self.norm, out=zeros, where=self.norm > 0)

    def _unit(self) -> tuple[Matrix, Array]:
        """Rows of unit length (before the shift), and their factors; float64."""
        scale = self._unit_scale
        if sparse.issparse(self.matrix):
            return sparse.diags_array(scale) @ self.matrix, scale
        return self.matrix * scale[:, None], scale


def dense(X: Matrix) -> Array:
    """X as a dense array; arrays are not copied."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def stored_numbers(X: Matrix) -> int:
    """How many numbers a matrix stores; the zeros of a sparse matrix do not count."""
    return int(X.nnz if sparse.issparse(X) else X.size)


def stored_bytes(X: Matrix) -> int:
    """How many bytes the stored numbers take, including indices."""
    indices = X.indices.itemsize if sparse.issparse(X) else 0
    return stored_numbers(X) * int(X.dtype.itemsize + indices)


def spans_of(X: Matrix, count: int) -> list[slice]:
    """Divide the rows into at most this many spans with about equally many numbers, none empty."""
    n = X.shape[0]
    ends = equal_ends(n, min(count, n) or 1)
    if sparse.issparse(X):
        ends = [0, *np.searchsorted(X.indptr, equal_ends(X.nnz, count)[1:-1]).tolist(), n]
    return list(itertools.starmap(slice, itertools.pairwise(sorted(set(ends)))))
