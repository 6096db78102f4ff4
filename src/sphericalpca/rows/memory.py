"""Rows in memory, or mapped into it: arrays and CSR matrices."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sphericalpca.kernels import CompressedRows, csr_view, library
from sphericalpca.linalg import Array, row_norms
from sphericalpca.parallel import allowed_threads, parallel, runs, spread_runs, workers
from sphericalpca.products import Labels
from sphericalpca.rows.base import Rows, Watch
from sphericalpca.rows.block import Block, Matrix, spans_of, stored_bytes, stored_numbers
from sphericalpca.rows.stats import RowStats

__all__ = ["DenseRows", "MemoryRows", "SparseRows", "in_memory"]

# This many bytes may always be used in addition to the data.
ROOM = 256 * 2**20
# A block of a few megabytes is read from memory once and stays in cache for both products of a
# pass; for smaller blocks the overhead of calls dominates.
BLOCK_ENTRIES = 3_000_000
# Each sparse block adds an m x r matrix to the sum, so it should hold many more non-zeros than
# there are columns.
BLOCK_NONZEROS_PER_COLUMN = 16
BLOCK_NONZEROS = 500_000
# Unused columns are looked for where there are at most this many numbers for each column.
FEW_PER_COLUMN = 8
# Below this a second thread costs more than it saves.
SMALL_ENTRIES = 100_000
SMALL_NONZEROS = 20_000


class MemoryRows(Rows):
    """Base class for arrays and CSR matrices: spans of rows, and one scale per row.

    X is neither copied nor modified.  The `mean` is subtracted from every row before
    `normalize` scales it to unit length; only the n scales are stored.  Without `block_rows`
    the size of the data decides.  If `stats` are given, `weight` and `normalize` have
    no effect.  `first` is the number of the first row within a larger matrix, for messages.
    """

    in_memory = True

    def __init__(
        self,
        X: Matrix,
        *,
        weight: Array | None = None,
        normalize: bool = True,
        mean: Array | None = None,
        block_rows: int | None = None,
        stats: RowStats | None = None,
        watch: Watch | None = None,
        first: int = 0,
    ) -> None:
        self._X = X
        self._mean = None if mean is None else np.asarray(mean, dtype=X.dtype)
        self._blocks: dict[int, Block] = {}
        # Whether blocks are views of X.
        self._views = mean is None and (sparse.issparse(X) or _addressable(X))
        if block_rows:
            starts = range(0, X.shape[0], block_rows)
            self._spans = [slice(a, min(a + block_rows, X.shape[0])) for a in starts]
        else:
            self._spans = spans_of(X, _good_count(X, allowed_threads()))
        if stats is None:
            length = self._all_lengths(watch)
            stats = RowStats.of(length, weight, X.dtype, normalize=normalize, first=first)
        self._stats = stats
        # Use as much memory as the data take, unless they are in a file.
        room = max(ROOM, 0 if _is_mapped(X) else stored_bytes(X))
        size = {"stored": stored_numbers(X), "room": room}
        super().__init__(X.shape, X.dtype, stats.totals(), **size, watch=watch)

    def parts(self, count: int) -> list[Iterator[Block]]:
        """Consecutive spans, as many for each part; one block for each span."""
        return [map(self._kept_block, run) for run in runs(self._spans, count)]

    def thinned(self, most: int) -> MemoryRows:
        """Every k-th row that has weight, at most this many."""
        kept: Any = np.flatnonzero(self.stats.weight)
        every = slice(None, None, -(-len(kept) // most))
        kept = kept[every] if len(kept) < self.shape[0] else every  # of which X[every] is a view
        return type(self)(self._X[kept], mean=self._mean, stats=self.stats[kept])

    def as_block(self, span: slice, heaviest: float) -> Block:
        """All rows as one block, at `span` of a larger matrix."""
        matrix, shift = self._part(slice(0, self.shape[0]))
        return Block(matrix, span, self.stats, heaviest, shift)

    def _block(self, span: slice) -> Block:
        matrix, shift = self._part(span)
        return Block(matrix, span, self.stats[span], self.heaviest, shift)

    def _kept_block(self, span: slice) -> Block:
        """Blocks that are views are created once, and keep their cached properties."""
        if not self._views:
            return self._block(span)
        if span.start not in self._blocks:
            self._blocks[span.start] = self._block(span)
        return self._blocks[span.start]

    def _all_lengths(self, watch: Watch | None) -> Array:
        def measure(span: slice) -> Array:
            lengths = self._lengths(span)
            if watch is not None:
                watch(len(lengths))
            return lengths

        with parallel():
            found = spread_runs(measure, runs(self._spans, workers()))
        return np.concatenate(list(itertools.chain.from_iterable(found)))

    @abstractmethod
    def _part(self, span: slice) -> tuple[Matrix, Array | None]:
        """Rows of a span, and the vector that is still to be subtracted from each."""

    @abstractmethod
    def _lengths(self, span: slice) -> Array:
        """Lengths, in float64, of rows before scaling; 0 where a row is the mean up to rounding."""


def _good_count(X: Matrix, threads: int) -> int:
    """Choose the number of blocks, equal for all threads; few rows are not divided."""
    if not sparse.issparse(X):
        return threads * -(-X.size // (threads * BLOCK_ENTRIES)) if X.size > SMALL_ENTRIES else 1
    wanted = max(BLOCK_NONZEROS, BLOCK_NONZEROS_PER_COLUMN * X.shape[1])
    count = threads * max(1, round(X.nnz / wanted / threads))
    return count if X.nnz >= SMALL_NONZEROS * count else 1


def _is_mapped(X: Matrix) -> bool:
    """Whether X is, or is a view of, a file mapped into memory."""
    while X is not None and not isinstance(X, np.memmap):
        X = getattr(X, "base", None)
    return X is not None


class DenseRows(MemoryRows):
    """A dense array."""

    def _part(self, span: slice) -> tuple[Array, None]:
        # Subtracting a mean explicitly keeps digits that X U - mean U would lose; a
        # slice that BLAS cannot address is made contiguous, one block at a time.
        X = self._X[span]
        if self._mean is not None:
            with np.errstate(over="ignore"):  # such rows raise an error when they are measured
                return X - self._mean, None
        return (X if _addressable(X) else np.ascontiguousarray(X)), None

    def _lengths(self, span: slice) -> Array:
        norm = row_norms(self._part(span)[0])
        if self._mean is not None:
            peak = np.abs(self._X[span]).max(axis=1, initial=0.0).astype(np.float64)
            norm[norm <= 4 * np.finfo(self._X.dtype).eps * peak] = 0.0
        return norm


def _addressable(X: Array) -> bool:
    """Whether BLAS can read X in place."""
    return X.itemsize in X.strides and min(X.strides) > 0


class SparseRows(MemoryRows):
    """A CSR matrix or array in canonical form; blocks are views into it.

    A mean is not subtracted entry by entry, which would fill the matrix, but in the
    products.  Only in columns that every row stores is it subtracted from the numbers
    themselves: this adds no entries, and large offsets lose no digits there.
    """

    def __init__(self, X: Matrix, *, mean: Array | None = None, **options: Any) -> None:
        self._stored = self._implied = None
        if mean is not None:
            full = _stored_per_column(X) == X.shape[0]
            self._stored = np.where(full, mean, 0).astype(X.dtype)
            self._implied = np.where(full, 0, mean).astype(X.dtype)
        super().__init__(X, mean=mean, **options)
        # One block, whose products use all threads, where kernels are compiled and memory suffices
        # for a transposed copy, and for one of the numbers if a mean is subtracted from them.
        copies = stored_bytes(X) + (0 if self._views else X.data.nbytes)
        # The copy is counted, with some numbers for each column and thread.
        counts = 8 * (3 * allowed_threads() + 3) * X.shape[1]
        fits = "block_rows" not in options and copies + counts <= self.room
        self._whole = fits and library() is not None

    def parts(self, count: int) -> list[Iterator[Block]]:
        """All rows as one block, or as blocks for several threads."""
        return [iter([self._whole_block])] if self._whole else super().parts(count)

    def _block(self, span: slice) -> Block:
        return replace(super()._block(span), turns=True)

    @cached_property
    def _whole_block(self) -> Block:
        block = self.as_block(slice(0, self.shape[0]), self.heaviest)
        return replace(block, transposed=cache(CompressedRows(block.matrix).transposed))

    def on_used_columns(self) -> tuple[SparseRows, Labels] | None:
        """The rows without columns that none of them uses, and the other columns, if few."""
        X, m = self._X, self.shape[1]
        if self._mean is not None or X.nnz > FEW_PER_COLUMN * m:
            return None
        used = np.zeros(m, dtype=bool)
        used[X.indices] = True
        columns = np.flatnonzero(used)
        if 2 * len(columns) >= m:
            return None
        place = np.cumsum(used, dtype=X.indices.dtype) - 1
        X = csr_view(X.data, place[X.indices], X.indptr, len(columns))
        return SparseRows(X, stats=self.stats, watch=self.watch), columns

    def in_double(self) -> SparseRows:
        """The rows in float64 if they and a transposed copy fit; otherwise in small blocks."""
        X = self._X
        options: dict[str, Any] = {"mean": self._mean, "stats": self.stats, "watch": self.watch}
        if X.nnz * (16 + X.indices.itemsize) > self.room:
            return SparseRows(X, block_rows=-(-X.shape[0] // _good_count(X, 1)), **options)
        X = csr_view(X.data.astype(np.float64), X.indices, X.indptr, X.shape[1])
        return SparseRows(X, **options)

    def project(self, U: Array, out: Array | None = None) -> Array:
        """X U; in small blocks, because the product of a large one would be kept beside `out`."""
        if not self._whole:
            return super().project(U, out)
        self.count(U.shape[1], 0.5)
        Y = np.empty((self.shape[0], U.shape[1]), dtype=self.dtype) if out is None else out
        U = U.astype(self.dtype, copy=False)
        with parallel():
            for span in spans_of(self._X, -(-Y.size // BLOCK_ENTRIES) or 1):
                Y[span] = self._block(span).project(U)
                if self.watch is not None:
                    self.watch(span.stop - span.start)
        return Y

    def _part(self, span: slice) -> tuple[Matrix, Array | None]:
        X = self._X
        first, last = X.indptr[span.start], X.indptr[span.stop]
        data, indices = X.data[first:last], X.indices[first:last]
        if self._stored is not None:
            data = data - self._stored[indices]
        pointer = X.indptr[span.start : span.stop + 1] - first
        return csr_view(data, indices, pointer, X.shape[1]), self._implied

    def _lengths(self, span: slice) -> Array:
        part, shift = self._part(span)
        data, indptr = part.data.astype(np.float64), part.indptr
        if shift is None and part.dtype == np.float32:  # squares of these never leave the range
            return np.asarray(np.sqrt(_reduce_rows(np.add, np.square(data, out=data), indptr)))
        peak = _reduce_rows(np.maximum, np.abs(data), indptr)
        if shift is None:
            # Each row is divided by its largest entry before it is squared.
            divisor = np.repeat(np.where(peak > 0, peak, 1.0), np.diff(indptr))
            with np.errstate(over="ignore"):  # callers reject lengths that overflow
                return np.asarray(
                    peak * np.sqrt(_reduce_rows(np.add, (data / divisor) ** 2, indptr))
                )
        # All relative to the largest number, so that squares stay in range.
        shift = shift.astype(np.float64)
        size = max(peak.max(initial=0.0), np.abs(shift).max(initial=0.0)) or 1.0
        data, shift = data / size, shift / size
        stored = shift[part.indices]
        # Stored entries count (x - shift)^2, all others shift^2.
        outside = shift @ shift - _reduce_rows(np.add, stored**2, indptr)
        squares = _reduce_rows(np.add, (data - stored) ** 2, indptr) + np.maximum(outside, 0.0)
        first, last = self._X.indptr[[span.start, span.stop]]
        given = _reduce_rows(np.maximum, np.abs(self._X.data[first:last]), indptr)
        with np.errstate(over="ignore"):
            # Infinite where large numbers cancel almost completely: such rows get length 0.
            rounding = (4 * np.finfo(self._X.dtype).eps * given / size) ** 2
            # `outside` is a difference of sums, exact to rounding of shift'shift only.
            rounding += 64 * np.finfo(np.float64).eps * (shift @ shift)
            return np.asarray(size * np.sqrt(np.where(squares > rounding, squares, 0.0)))


def _stored_per_column(X: Matrix) -> npt.NDArray[np.integer[Any]]:
    # In pieces, because bincount makes a copy of its argument in 64 bits.
    pieces = range(0, max(X.nnz, 1), BLOCK_NONZEROS)
    counts = (np.bincount(X.indices[a : a + BLOCK_NONZEROS], minlength=X.shape[1]) for a in pieces)
    return np.asarray(sum(counts))


def _reduce_rows(ufunc: Any, values: Array, indptr: npt.NDArray[np.integer[Any]]) -> Array:
    """Reduce each row's stored values, in float64; rows without any give 0."""
    reduced = np.zeros(len(indptr) - 1)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        reduced[filled] = ufunc.reduceat(values, indptr[filled], dtype=np.float64)
    return reduced


def in_memory(X: Matrix, **options: Any) -> MemoryRows:
    """Wrap a validated array or CSR matrix; the options are those of `MemoryRows`."""
    return SparseRows(X, **options) if sparse.issparse(X) else DenseRows(X, **options)
