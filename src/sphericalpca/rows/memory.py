"""Rows held in memory, or mapped into it: dense arrays and CSR matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sphericalpca.linalg import Array, row_norms
from sphericalpca.rows.base import Rows
from sphericalpca.rows.block import Block, Matrix

__all__ = ["DenseRows", "SparseRows", "as_rows", "weighted_mean"]

# A dense block of a few megabytes is read from memory once and serves both products
# of a pass from cache; smaller blocks pay more for the call than for the numbers.
DENSE_BLOCK_ENTRIES = 3_000_000

# Each sparse block adds an m x r matrix to the sum, so it should hold many more
# non-zeros than there are columns.
SPARSE_BLOCK_NONZEROS_PER_COLUMN = 8
SPARSE_BLOCK_NONZEROS = 500_000


def as_rows(
    X: Matrix,
    *,
    weight: Array | None = None,
    normalize: bool = True,
    mean: Array | None = None,
    block_rows: int | None = None,
) -> Rows:
    """Wrap a validated array or CSR matrix; X is neither copied nor modified.

    Parameters
    ----------
    X : array or CSR, shape (n, m), float32 or float64
    weight : array of shape (n,), optional
        Non-negative; all ones when left out.
    normalize : bool
        Scale every row to unit length.  Only the n scales are stored.
    mean : array of shape (m,), optional
        Subtracted from every row before it is scaled.
    block_rows : int, optional
        Rows per block; chosen from the size of the data when left out.
    """
    n = X.shape[0]
    kind = SparseRows if sparse.issparse(X) else DenseRows
    layout = kind.layout(X, block_rows)
    shift = None if mean is None else np.asarray(mean, dtype=np.float64)
    norm = np.concatenate([kind.lengths(X[span], shift) for span in layout])
    if normalize:
        scale = np.divide(1.0, norm, out=np.zeros(n), where=norm > 0)
        norm = (norm > 0).astype(np.float64)
    else:
        scale = np.ones(n)
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    return kind(X, layout, weight=weight, scale=scale, norm=norm, shift=shift)


def weighted_mean(X: Matrix, weight: Array | None = None) -> Array:
    """Weighted mean row in float64; a sparse X stays sparse."""
    n, m = X.shape
    weight = np.ones(n) if weight is None else weight
    share = weight / weight.sum()
    kind = SparseRows if sparse.issparse(X) else DenseRows
    total = np.zeros(m)
    for span in kind.layout(X, None):
        # Dividing the weights first keeps the sum within the range of the data.
        total += X[span].T @ share[span]
    return total


class _MemoryRows(Rows):
    """What both kinds share: the matrix, its cut into spans, and the shift."""

    def __init__(
        self,
        X: Matrix,
        layout: list[slice],
        *,
        weight: Array,
        scale: Array,
        norm: Array,
        shift: Array | None,
    ) -> None:
        super().__init__(X.shape, X.dtype, weight=weight, scale=scale, norm=norm)
        self._X = X
        self._layout = layout
        self._shift = None if shift is None else shift.astype(X.dtype)

    def _block(self, matrix: Matrix, span: slice, shift: Array | None) -> Block:
        return Block(matrix, span, self.weight[span], self.scale[span], self.norm[span], shift)


class DenseRows(_MemoryRows):
    """A dense array in any memory order, possibly a read-only memory map."""

    @staticmethod
    def layout(X: Array, block_rows: int | None) -> list[slice]:
        """Cut the rows into blocks that stay in cache."""
        n, m = X.shape
        return _spans(n, block_rows or max(256, DENSE_BLOCK_ENTRIES // max(m, 1)))

    @staticmethod
    def lengths(X: Array, shift: Array | None) -> Array:
        """Row lengths in float64; a row equal to the shift up to rounding has none."""
        if shift is None:
            return _without_denormals(row_norms(X), X.dtype)
        norm = row_norms(X - shift.astype(X.dtype))
        rounding = 4 * np.finfo(X.dtype).eps * np.abs(X).max(axis=1, initial=0.0)
        return _without_denormals(np.where(norm > rounding, norm, 0.0), X.dtype)

    def blocks(self) -> Iterator[Block]:
        """Slices of the array."""
        for span in self._layout:
            # Subtracting a mean explicitly keeps digits that X U - mean U would cancel;
            # a slice that BLAS cannot address is made contiguous, one block at a time.
            X = self._X[span]
            if self._shift is not None:
                X = X - self._shift
            elif X.itemsize not in X.strides or min(X.strides) <= 0:
                X = np.ascontiguousarray(X)
            yield self._block(X, span, None)


class SparseRows(_MemoryRows):
    """A CSR matrix or array; blocks are views into it."""

    @staticmethod
    def layout(X: Matrix, block_rows: int | None) -> list[slice]:
        """Cut the rows into blocks of many non-zeros each."""
        n, m = X.shape
        wanted = max(SPARSE_BLOCK_NONZEROS, SPARSE_BLOCK_NONZEROS_PER_COLUMN * m)
        per_row = max(1, X.nnz // max(n, 1))
        return _spans(n, block_rows or max(256, wanted // per_row))

    @staticmethod
    def lengths(X: Matrix, shift: Array | None) -> Array:
        """Row lengths in float64 without filling the matrix.

        With a shift, the stored entries count (x - shift)^2 and all others shift^2.
        """
        norm = _csr_row_norms(X.data, X.indptr)
        if shift is None:
            return _without_denormals(norm, X.dtype)
        # Everything relative to the largest number around, so that squares stay in range.
        size = max(norm.max(initial=0.0), np.abs(shift).max(initial=0.0)) or 1.0
        data, shift, norm = X.data.astype(np.float64) / size, shift / size, norm / size
        stored = shift[X.indices]
        outside = shift @ shift - _segment_sums(stored**2, X.indptr)
        squares = _segment_sums((data - stored) ** 2, X.indptr) + np.maximum(outside, 0.0)
        # `outside` is a difference of sums, exact to rounding of shift'shift only.
        rounding = 64 * np.finfo(np.float64).eps * (norm**2 + shift @ shift)
        return _without_denormals(
            size * np.sqrt(np.where(squares > rounding, squares, 0.0)), X.dtype
        )

    def blocks(self) -> Iterator[Block]:
        """CSR blocks that share the memory of the whole."""
        X = self._X
        for span in self._layout:
            first, last = X.indptr[span.start], X.indptr[span.stop]
            inside = slice(first, last)
            part = sparse.csr_array(
                (X.data[inside], X.indices[inside], X.indptr[span.start : span.stop + 1] - first),
                shape=(span.stop - span.start, X.shape[1]),
            )
            yield self._block(part, span, self._shift)


def _spans(n: int, height: int) -> list[slice]:
    return [slice(a, min(a + height, n)) for a in range(0, n, height)]


def _without_denormals(norm: Array, dtype: np.dtype[np.floating]) -> Array:
    """Lengths in float64, zero where one over the length would overflow."""
    return np.where(norm >= np.finfo(dtype).tiny, norm, 0.0).astype(np.float64)


def _segment_sums(values: Array, indptr: npt.NDArray[np.integer[Any]]) -> Array:
    """Sum of each row's stored values; rows without any give 0."""
    sums = np.zeros(len(indptr) - 1)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        sums[filled] = np.add.reduceat(values, indptr[filled], dtype=np.float64)
    return sums


def _csr_row_norms(data: Array, indptr: npt.NDArray[np.integer[Any]]) -> Array:
    """Row lengths in float64, each row divided by its largest entry before squaring."""
    peak = np.zeros(len(indptr) - 1)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        peak[filled] = np.maximum.reduceat(np.abs(data), indptr[filled])
    safe = np.where(peak > 0, peak, 1.0)
    scaled = data / np.repeat(safe, np.diff(indptr))
    return peak * np.sqrt(_segment_sums(scaled**2, indptr))
