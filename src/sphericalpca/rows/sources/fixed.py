"""Dense rows at known places of a file, fetched by positioned reads.

Files are not mapped into memory: a mapped file that is cut short while it is read ends the
whole program with a bus error; a read that comes back short is an error like any other.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager
from io import FileIO
from typing import Any

import numpy as np

from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array
from sphericalpca.rows.sources.filesource import DataFile, FileSource, rewritten

__all__ = ["ColumnMajorRows", "FixedRows", "RowMajorRows", "fill"]


def fill(memory: Any, file: Any, position: int) -> bool:
    """Fill a contiguous array with the bytes from `position` on; False if the file is too short."""
    rest = memoryview(memory.reshape(-1).view(np.uint8))
    file.seek(position)
    while rest:
        got = file.readinto(rest)
        if not got:
            return False
        rest = rest[got:]
    return True


class FixedRows(FileSource):
    """Rows that can all be reached directly, from `offset` on."""

    any_row = True

    def __init__(
        self, file: DataFile, shape: Sequence[int], storage: Any, budget: int, *, offset: int = 0
    ) -> None:
        super().__init__(file, shape, storage, budget)
        self._offset = offset

    def read(self, span: slice, rows: int) -> Generator[Array, None, None]:
        """Blocks in two buffers that take turns."""
        ends = self._block_ends(span, rows)
        height = int(np.diff(ends).max(initial=0))
        # Numbers that are converted need one buffer to come from, and two to go to.
        raw = itertools.cycle([self._buffer(height) for _ in range(1 if self.converts else 2)])
        outputs = [self._output(height) for _ in range(2)] if self.converts else [None]
        with self.file.being_read(), self._opened() as file:
            for (first, last), out in zip(itertools.pairwise(ends), itertools.cycle(outputs)):
                values = self._values(file, next(raw), first, last - first)
                yield values if out is None else rewritten(values, out[: last - first])

    def _block_ends(self, span: slice, rows: int) -> list[int]:
        return [*range(span.start, span.stop, rows), span.stop]

    def _opened(self) -> AbstractContextManager[Any]:
        """A handle from which rows are read."""
        return FileIO(self.file.path)

    def _output(self, height: int) -> Array:
        """Memory for so many rows in the type of the arithmetic."""
        return np.empty((height, self.shape[1]), self.dtype)

    def _too_short(self, row: int) -> DataError:
        return DataError(
            f"{self.name} ends before the end of {self.place(row)}",
            f"had {self.shape[0]} rows when it was opened",
            "do not change files during a fit",
        )

    def _buffer(self, height: int) -> Any:
        """Memory for so many rows as they are in the file."""
        return np.empty((height, self.shape[1]), self.storage)

    @abstractmethod
    def _values(self, file: Any, buffer: Any, first: int, count: int) -> Array:
        """`count` rows from `first` on, as a view of the buffer, in the storage type."""


class RowMajorRows(FixedRows):
    """Rows one after another."""

    def _values(self, file: Any, buffer: Any, first: int, count: int) -> Array:
        size = buffer[:1].nbytes
        if not fill(buffer[:count], file, self._offset + first * size):
            raise self._too_short(first)
        return np.asarray(buffer[:count])


class ColumnMajorRows(FixedRows):
    """Columns one after another: every block takes a piece of each, in a read of its own.

    With blocks of thousands of rows a piece is tens of kilobytes, so that this is about as fast
    as rows in order when the file is in the system's cache, and slower from a disk.
    """

    def _buffer(self, height: int) -> Any:
        return np.empty((self.shape[1], height), self.storage)

    def _output(self, height: int) -> Array:
        # Transposed too, so that numbers are converted in the order in which they lie.
        return np.empty((self.shape[1], height), self.dtype).T

    def _values(self, file: Any, buffer: Any, first: int, count: int) -> Array:
        n, size = self.shape[0], self.storage.itemsize
        for column, piece in enumerate(buffer[:, :count]):
            if not fill(piece, file, self._offset + (column * n + first) * size):
                raise self._too_short(first)
        return np.asarray(buffer[:, :count].T)
