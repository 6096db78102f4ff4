"""Chunks of a Dask collection as matrices, and as rows that are computed in this process."""

from __future__ import annotations

import importlib
import itertools
from bisect import bisect_right
from collections.abc import Generator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from sphericalpca.exceptions import DataError
from sphericalpca.parallel import spread
from sphericalpca.rows.base import Watch
from sphericalpca.rows.block import Matrix, stored_numbers
from sphericalpca.rows.finite import first_non_finite
from sphericalpca.rows.reading import RowSource
from sphericalpca.rows.structure import sound, summed

__all__ = ["DaskSource", "checked_chunk", "chunk_matrix", "place_in_chunk"]


def chunk_matrix(pieces: Sequence[Any], columns: int, dtype: np.dtype[Any], chunk: int) -> Matrix:
    """The rows of one chunk, given as pieces with some columns each."""
    try:
        parts = [_as_numbers(piece, dtype) for piece in pieces]
        any_sparse = any(map(sparse.issparse, parts))
        matrix = parts[0]
        if len(parts) > 1:
            matrix = sparse.hstack(parts, format="csr") if any_sparse else np.hstack(parts)
        matrix = summed(matrix) if any_sparse else matrix
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(
            f"Chunk {chunk} of X cannot be read as rows of {dtype} numbers ({error})",
            "chunks must be numpy arrays, scipy sparse matrices or data frames of numbers",
        ) from None
    if matrix.ndim != 2 or matrix.shape[1] != columns:
        raise DataError(
            f"Chunk {chunk} of X has shape {matrix.shape}",
            f"must have {columns} columns",
            "make all chunks have the columns that the collection declares",
        )
    return matrix


def checked_chunk(
    pieces: Sequence[Any], columns: int, dtype: np.dtype[Any], chunk: int, first: int | None
) -> Matrix:
    """The rows of one chunk, all finite; `first` is which row its first one is, if known."""
    matrix = chunk_matrix(pieces, columns, dtype, chunk)
    place = first_non_finite(matrix)
    if place is not None:
        row, column, value = place
        found = f"X contains {value} in {place_in_chunk(row, chunk, first)}, column {column}"
        raise DataError(found, "every entry must be finite", "impute or drop it")
    return matrix


def place_in_chunk(row: int, chunk: int, first: int | None) -> str:
    """The location of a row of a chunk, for messages."""
    where = f"row {row} of chunk {chunk}"
    return where if first is None else f"row {first + row} ({where})"


def no_rows() -> DataError:
    """The error for collections in which every chunk is empty."""
    return DataError("X has 0 rows in all of its chunks", remedy="pass at least one row")


def _as_numbers(piece: Any, dtype: np.dtype[Any]) -> Matrix:
    types = piece.dtypes if hasattr(piece, "iloc") else [getattr(piece, "dtype", None)]
    if any(getattr(one, "kind", "") == "c" for one in types):  # whatever Dask's dtype says
        raise TypeError("they are complex")
    if sparse.issparse(piece):
        return sound(piece).astype(dtype, copy=False)
    if hasattr(piece, "iloc"):  # a data frame, whose missing values may have special types
        return piece.to_numpy(dtype=dtype, na_value=np.nan)
    if isinstance(piece, np.ma.MaskedArray):  # masked values are missing
        return np.ma.filled(piece.astype(dtype), np.nan)
    return np.asarray(piece).astype(dtype, copy=False)


class DaskSource(RowSource):
    """Chunks of a Dask collection, few in memory at a time; unknown heights are computed first."""

    name = "the Dask collection"
    memory_budget = 512 * 2**20  # beside the chunks that readers have computed

    def __init__(
        self,
        chunks: Sequence[Sequence[Any]],
        columns: int,
        dtype: np.dtype[Any],
        heights: Sequence[int] | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._chunks, self.dtype = chunks, dtype
        self._known_from = "when first computed" if heights is None else "according to Dask"
        self.shape = (0, columns)
        if heights is None:
            sizes = spread(partial(self._size, watch=watch), range(len(chunks)))
        else:
            sizes = [(rows, rows * columns) for rows in heights]
        self._ends = [0, *itertools.accumulate(rows for rows, _ in sizes)]
        self.cuts = sorted(set(self._ends))
        self.stored = sum(stored for _, stored in sizes)
        self.shape = (self._ends[-1], columns)
        if self.shape[0] == 0:
            raise no_rows()

    @property
    def row_bytes(self) -> float:
        """Bytes that a row takes in memory."""
        n, m = self.shape
        index = 0 if self.stored == n * m else np.dtype(np.int32).itemsize
        return self.stored / n * (self.dtype.itemsize + index)

    def read(self, span: slice, rows: int) -> Generator[Matrix, None, None]:
        """The rows of `span`, chunk after chunk, at most `rows` at a time."""
        for k, (first, last) in enumerate(itertools.pairwise(self._ends)):
            begin, end = max(first, span.start), min(last, span.stop)
            if begin >= end:
                continue
            matrix = self._computed(k)
            if matrix.shape[0] != last - first:
                raise DataError(
                    f"Chunk {k} of X has {matrix.shape[0]} rows now",
                    f"had {last - first} {self._known_from}",
                    "a Dask collection must be the same whenever it is computed",
                )
            for row in range(begin, end, rows):
                yield matrix[row - first : min(row + rows, end) - first]

    def check_unchanged(self) -> None:
        """Nothing to check: chunks are checked when they are computed."""

    def place(self, row: int) -> str:
        """The chunk of a row, for messages."""
        k = max(bisect_right(self._ends[:-1], row) - 1, 0)
        return place_in_chunk(row - self._ends[k], k, self._ends[k])

    def _size(self, k: int, watch: Watch | None) -> tuple[int, int]:
        """Number of rows of a chunk, and of the numbers they hold."""
        matrix = self._computed(k)
        if watch is not None:
            watch(matrix.shape[0])
        return matrix.shape[0], stored_numbers(matrix)

    def _computed(self, k: int) -> Matrix:
        # One thread per reader: there are as many readers as threads.
        dask = importlib.import_module("dask")
        pieces = dask.compute(*self._chunks[k], scheduler="single-threaded")
        return chunk_matrix(pieces, self.shape[1], self.dtype, k)
