"""``.fvecs`` and ``.bvecs``: each row follows its length, a little-endian int32."""

from __future__ import annotations

from io import FileIO
from typing import Any

import numpy as np

from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array
from sphericalpca.registry.formats import format_of
from sphericalpca.rows.sources.filesource import DataFile, FileSource, Options
from sphericalpca.rows.sources.fixed import RowMajorRows

__all__ = ["open_vecs"]


def open_vecs(file: DataFile, options: Options) -> FileSource:
    """The rows of an ``.fvecs`` (float32) or ``.bvecs`` (uint8) file."""
    known = format_of(file.path)
    assert known is not None
    numbers = np.dtype(known.dtype).newbyteorder("<")
    with file.being_read(), file.path.open("rb") as handle:
        first = handle.read(4)
    m = int.from_bytes(first, "little", signed=True)
    size = 4 + m * numbers.itemsize
    if file.size and (m < 1 or file.size % size):
        raise DataError(
            f"{file.name} has {file.size} bytes",
            f"must have a multiple of the {size} that a row of {m} numbers takes",
            "it is truncated or of another format; write it again",
        )
    shape = (file.size // size, max(m, 0))
    return LengthPrefixedRows(file, shape, numbers, options.memory_budget)


class LengthPrefixedRows(RowMajorRows):
    """Rows that each begin with their length, which is verified."""

    def _buffer(self, height: int) -> Any:
        m = self.shape[1]
        return np.empty(height, [("length", "<i4"), ("numbers", self.storage, (m,))])

    def _values(self, file: FileIO, buffer: Any, first: int, count: int) -> Array:
        super()._values(file, buffer, first, count)
        m, lengths = self.shape[1], buffer["length"][:count]
        wrong = np.flatnonzero(lengths != m)
        if len(wrong):
            found = f"Row {first + wrong[0]} of {self.name} has length {lengths[wrong[0]]}"
            raise DataError(found, f"the first has {m}", "the file is damaged; write it again")
        # A view with a gap after each row, which BLAS reads in place.
        return np.asarray(buffer["numbers"][:count])
