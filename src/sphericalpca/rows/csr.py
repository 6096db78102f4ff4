"""Sparse rows: CSR matrices and arrays, never filled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sphericalpca.linalg import Array
from sphericalpca.parallel import equal_ends
from sphericalpca.rows.block import Matrix
from sphericalpca.rows.memory import MemoryRows

__all__ = ["SparseRows"]

# Each block adds an m x r matrix to the sum, so it should hold many more non-zeros than
# there are columns.
BLOCK_NONZEROS_PER_COLUMN = 16
BLOCK_NONZEROS = 500_000
# Below this a second thread costs more than it saves.
SMALL_NONZEROS = 20_000


class SparseRows(MemoryRows):
    """A CSR matrix or array in canonical form; blocks are views into it.

    A mean is not subtracted entry by entry, which would fill the matrix, but in the
    products.  Only in columns that every row stores is it subtracted from the numbers
    themselves: that fills nothing, and a large offset cancels no digits there.
    """

    def __init__(self, X: Matrix, *, mean: Array | None = None, **options: Any) -> None:
        self._stored = self._implied = None
        if mean is not None:
            full = _stored_per_column(X) == X.shape[0]
            self._stored = np.where(full, mean, 0).astype(X.dtype)
            self._implied = np.where(full, 0, mean).astype(X.dtype)
        super().__init__(X, mean=mean, **options)

    def _block_ends(self, threads: int) -> list[int]:
        n, m = self._X.shape
        wanted = max(BLOCK_NONZEROS, BLOCK_NONZEROS_PER_COLUMN * m)
        # Rather as many blocks for every thread than blocks of just that size.
        blocks = threads * max(1, round(self._X.nnz / wanted / threads))
        if self._X.nnz < SMALL_NONZEROS * blocks:
            return [0, n]
        # Equal numbers of non-zeros, not of rows, keep all threads busy to the end.
        inner = np.searchsorted(self._X.indptr, equal_ends(self._X.nnz, blocks)[1:-1])
        return sorted({0, *inner.tolist(), n})

    def _blocks_are_views(self) -> bool:
        return self._stored is None

    def _stored_numbers(self) -> int:
        return int(self._X.nnz)

    def _part(self, span: slice) -> tuple[Matrix, Array | None]:
        X = self._X
        first, last = X.indptr[span.start], X.indptr[span.stop]
        data, indices = X.data[first:last], X.indices[first:last]
        if self._stored is not None:
            data = data - self._stored[indices]
        # The constructor would copy slices that are much shorter than their base.
        part = sparse.csr_array((span.stop - span.start, X.shape[1]), dtype=X.dtype)
        part.data, part.indices = data, indices
        part.indptr = X.indptr[span.start : span.stop + 1] - first
        return part, self._implied

    def _lengths(self, span: slice) -> Array:
        part, shift = self._part(span)
        data, indptr = part.data.astype(np.float64), part.indptr
        peak = _row_maxima(data, indptr)
        if shift is None:
            return _safe_lengths(data, indptr, peak)
        # All relative to the largest number around, so that squares stay in range.
        shift = shift.astype(np.float64)
        size = max(peak.max(initial=0.0), np.abs(shift).max(initial=0.0)) or 1.0
        data, shift = data / size, shift / size
        stored = shift[part.indices]
        # Stored entries count (x - shift)^2, all others shift^2.
        outside = shift @ shift - _row_sums(stored**2, indptr)
        squares = _row_sums((data - stored) ** 2, indptr) + np.maximum(outside, 0.0)
        given = _row_maxima(
            self._X.data[self._X.indptr[span.start] : self._X.indptr[span.stop]], indptr
        )
        with np.errstate(over="ignore"):
            # Infinite where next to nothing is left of large numbers: then no row has a length.
            rounding = (4 * np.finfo(self._X.dtype).eps * given / size) ** 2
            # `outside` is a difference of sums, exact to rounding of shift'shift only.
            rounding += 64 * np.finfo(np.float64).eps * (shift @ shift)
            return np.asarray(size * np.sqrt(np.where(squares > rounding, squares, 0.0)))


def _stored_per_column(X: Matrix) -> npt.NDArray[np.integer[Any]]:
    # In pieces, because bincount makes a copy of its argument in 64 bits.
    pieces = range(0, max(X.nnz, 1), BLOCK_NONZEROS)
    counts = (np.bincount(X.indices[a : a + BLOCK_NONZEROS], minlength=X.shape[1]) for a in pieces)
    return np.asarray(sum(counts))


def _safe_lengths(data: Array, indptr: npt.NDArray[np.integer[Any]], peak: Array) -> Array:
    """Each row is divided by its largest entry before it is squared."""
    divisor = np.repeat(np.where(peak > 0, peak, 1.0), np.diff(indptr))
    with np.errstate(over="ignore"):  # lengths beyond the range are refused by who asks
        return np.asarray(peak * np.sqrt(_row_sums((data / divisor) ** 2, indptr)))


def _row_sums(values: Array, indptr: npt.NDArray[np.integer[Any]]) -> Array:
    return _reduce_rows(np.add, values, indptr)


def _row_maxima(values: Array, indptr: npt.NDArray[np.integer[Any]]) -> Array:
    return _reduce_rows(np.maximum, np.abs(values), indptr)


def _reduce_rows(ufunc: Any, values: Array, indptr: npt.NDArray[np.integer[Any]]) -> Array:
    """Reduce each row's stored values, in float64; rows without any give 0."""
    reduced = np.zeros(len(indptr) - 1)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        reduced[filled] = ufunc.reduceat(values, indptr[filled], dtype=np.float64)
    return reduced
