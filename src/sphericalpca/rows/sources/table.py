"""Rows in the columns of a table that comes in record batches: Parquet and Arrow files."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array
from sphericalpca.rows.sources.columns import Selection
from sphericalpca.rows.sources.filesource import DataFile, FileSource, rewritten

__all__ = ["TableRows", "list_length"]

# Older versions of pyarrow cannot read nulls among lists of one size (apache/arrow#35692): nulls
# cannot be counted then, and only this text distinguishes them from damage.
NULL_AMONG_LISTS = "Expected all lists to be of size"
# Rows of other columns that are read at a time.
OTHERS = 10_000


class TableRows(FileSource):
    """Rows in a column of lists, or in columns of numbers; the other columns can be read, too."""

    def __init__(
        self, file: DataFile, selection: Selection, ends: Sequence[int], length: int, budget: int
    ) -> None:
        super().__init__(file, (ends[-1], length), selection.storage, budget)
        self.cuts = ends
        self.columns = None if selection.lists else selection.names
        self._selection = selection
        self.others = selection.others

    @property
    def extra_row_bytes(self) -> float:
        """Nothing: blocks are views of record batches, or are filled from them directly."""
        return 0.0

    def read(self, span: slice, rows: int) -> Generator[Array, None, None]:
        """Blocks of record batches."""
        parts = range(bisect_right(self.cuts, span.start) - 1, bisect_left(self.cuts, span.stop))
        with self._batches(self._selection.names, parts, rows) as batches:
            yield from self._matrices(batches, self.cuts[parts.start], span, rows)

    def other_batches(self, names: Sequence[str]) -> Generator[Any, None, None]:
        """Record batches of the columns of these names, in the order of the rows."""
        with self._batches(names, range(len(self.cuts) - 1), OTHERS) as batches:
            for batch in batches:
                yield batch.select(list(names))

    @abstractmethod
    def _batches(
        self, names: Sequence[str], parts: range, rows: int
    ) -> AbstractContextManager[Iterator[Any]]:
        """Record batches between those cuts, of at most this many rows if they can be divided."""

    def _matrices(
        self, batches: Iterator[Any], first: int, span: slice, rows: int
    ) -> Generator[Array, None, None]:
        """The rows of `span` as arrays, from record batches that begin with row `first`."""
        buffers = itertools.cycle(self._buffers(min(rows, span.stop - span.start)))
        while first < span.stop:
            with self.file.being_read(first), self._naming_nulls(first):
                batch = next(batches, None)
            if batch is None:
                return
            begin, end = max(span.start - first, 0), min(span.stop - first, batch.num_rows)
            for row in range(begin, end, rows):
                piece = batch.slice(row, min(rows, end - row))
                with self.file.being_read(first + row):
                    matrix = self._matrix(piece, first + row, next(buffers)[: piece.num_rows])
                yield matrix
            first += batch.num_rows

    @contextmanager
    def _naming_nulls(self, first: int) -> Iterator[None]:
        """Explain the error of older versions of pyarrow for a null among lists of one size."""
        try:
            yield
        except ValueError as error:
            if NULL_AMONG_LISTS not in str(error):
                raise
            place = f"one of the rows from row {first} of {self.name} on"
            raise _null(self._selection.names[0], place) from None

    def _buffers(self, height: int) -> list[Array]:
        """Two alternating buffers; empty ones where record batches are used as they are."""
        m = self.shape[1]
        if self._selection.lists:
            used = height if self.converts else 0
            return [np.empty((used, m), self.dtype) for _ in range(2)]
        # Columns are written one after another, hence the column-major order.
        return [np.empty((m, height), self.dtype).T for _ in range(2)]

    def _matrix(self, batch: Any, first: int, out: Array) -> Array:
        if not self._selection.lists:
            for k, name in enumerate(self._selection.names):
                self._refuse_nulls(batch.column(name), first, 1, name)
                rewritten(batch.column(name).to_numpy(zero_copy_only=False), out[:, k])
            return out
        name, m = self._selection.names[0], self.shape[1]
        lists = batch.column(name)
        self._refuse_nulls(lists, first, 1, name)
        self._refuse_lengths(lists, first)
        values = lists.flatten()
        self._refuse_nulls(values, first, m, name)
        numbers = values.to_numpy(zero_copy_only=False).reshape(batch.num_rows, m)
        return rewritten(numbers, out) if self.converts else np.asarray(numbers)

    def _refuse_nulls(self, values: Any, first: int, width: int, name: str) -> None:
        if values.null_count:
            k = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
            inside = f", at place {k % width} of its list" if width > 1 else ""
            raise _null(name, f"{self.place(first + k // width)}{inside}")

    def _refuse_lengths(self, lists: Any, first: int) -> None:
        if not hasattr(lists, "offsets"):  # their type has their size
            return
        lengths = np.diff(lists.offsets.to_numpy())
        for k in np.flatnonzero(lengths != self.shape[1])[:1]:
            raise DataError(
                f"The list in {self.place(first + int(k))} has {lengths[k]} numbers",
                f"that in row 0 has {self.shape[1]}",
                "rows must have the same length",
            )


def _null(column: str, place: str) -> DataError:
    found = f"Column {column!r} is null in {place}"
    return DataError(found, "every entry must be a number", "fill or drop that row")


def list_length(file: DataFile, selection: Selection, batches: Iterator[Any]) -> int:
    """The number of columns, from the first row if necessary; 0 if there is none."""
    if selection.length is not None:
        return selection.length
    for batch in batches:
        if batch.num_rows:
            first = batch.column(selection.names[0])[0]
            if not first.is_valid:
                raise _null(selection.names[0], f"row 0 of {file.name}")
            return len(first)
    return 0
