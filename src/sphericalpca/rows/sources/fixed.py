"""Dense rows at known offsets of a file, without memory maps, which crash on truncated files."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from io import FileIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array
from sphericalpca.rows.sources.filesource import DataFile, FileSource, rewritten

__all__ = ["ColumnMajorRows", "FixedRows", "RowMajorRows", "fill", "opened"]


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


@contextmanager
def opened(path: Path, member: str = "") -> Iterator[Any]:
    """A handle of a file, or of a compressed member of an archive."""
    if not member:
        with FileIO(path) as handle:
            yield handle
    else:
        with ZipFile(path) as archive, archive.open(member) as handle:
            yield handle


class FixedRows(FileSource):
    """Rows from `offset` on; a compressed `member` of an archive is unpacked from its beginning."""

    def __init__(
        self,
        file: DataFile,
        shape: Sequence[int],
        storage: Any,
        budget: int,
        *,
        offset: int = 0,
        member: str = "",
    ) -> None:
        super().__init__(file, shape, storage, budget)
        self._offset, self._member = offset, member
        self.any_row = not member

    def read(self, span: slice, rows: int) -> Generator[Array, None, None]:
        """Blocks in two alternating buffers."""
        ends = self._block_ends(span, rows)
        height = int(np.diff(ends).max(initial=0))
        # Conversion needs one buffer to read into, and two for its results.
        raw = itertools.cycle([self._buffer(height) for _ in range(1 if self.converts else 2)])
        outputs = [self._memory(height, self.dtype) for _ in range(2)] if self.converts else [None]
        with self.file.being_read(), self._opened() as file:
            for (first, last), out in zip(itertools.pairwise(ends), itertools.cycle(outputs)):
                values = self._values(file, next(raw), first, last - first)
                yield values if out is None else rewritten(values, out[: last - first])

    def _block_ends(self, span: slice, rows: int) -> list[int]:
        return [*range(span.start, span.stop, rows), span.stop]

    def _opened(self) -> AbstractContextManager[Any]:
        """A handle from which rows are read."""
        return opened(self.file.path, self._member)

    def _fill(self, memory: Any, file: Any, position: int, row: int) -> None:
        if not fill(memory, file, self._offset + position):
            raise DataError(
                f"{self.name} ends before the end of {self.place(row)}",
                f"had {self.shape[0]} rows when it was opened",
                "do not change files during a fit",
            )

    def _memory(self, height: int, dtype: Any) -> Array:
        """Memory for this many rows, in the order of the file."""
        return np.empty((height, self.shape[1]), dtype)

    def _buffer(self, height: int) -> Any:
        return self._memory(height, self.storage)

    @abstractmethod
    def _values(self, file: Any, buffer: Any, first: int, count: int) -> Array:
        """`count` rows from `first` on, as a view of the buffer, in the storage type."""


class RowMajorRows(FixedRows):
    """Rows one after another."""

    def _values(self, file: Any, buffer: Any, first: int, count: int) -> Array:
        self._fill(buffer[:count], file, first * buffer[:1].nbytes, first)
        return np.asarray(buffer[:count])


class ColumnMajorRows(FixedRows):
    """Columns one after another: every block takes a piece of each, in separate reads."""

    def _memory(self, height: int, dtype: Any) -> Array:
        return np.empty((self.shape[1], height), dtype).T

    def _values(self, file: Any, buffer: Any, first: int, count: int) -> Array:
        n, size = self.shape[0], self.storage.itemsize
        for column, piece in enumerate(buffer[:count].T):
            self._fill(piece, file, (column * n + first) * size, first)
        return np.asarray(buffer[:count])
