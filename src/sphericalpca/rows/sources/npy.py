"""NumPy's ``.npy`` files: one 2-D array, in C or Fortran order."""

from __future__ import annotations

import io
import warnings
from math import prod
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy_format

from sphericalpca.exceptions import DataError
from sphericalpca.rows.sources.datafile import DataFile
from sphericalpca.rows.sources.filesource import FileSource, Options
from sphericalpca.rows.sources.fixed import ColumnMajorRows, RowMajorRows

__all__ = ["ArrayHeader", "open_npy", "read_header"]

# The longest header that numpy takes, and what comes before it.
LONGEST_HEADER = 10_000 + 12


class ArrayHeader(NamedTuple):
    """What the header of an array says, and where its numbers begin."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]
    offset: int

    @property
    def end(self) -> int:
        """Where its numbers end."""
        return self.offset + prod(self.shape) * self.dtype.itemsize


def open_npy(file: DataFile, options: Options) -> FileSource:
    """The rows of a ``.npy`` file."""
    with file.being_read(), file.path.open("rb") as handle:
        header = read_header(handle)
    if len(header.shape) != 2:
        raise DataError(
            f"{file.name} holds an array of shape {header.shape}, but rows are a 2-D array: "
            "reshape it to (rows, columns)."
        )
    if file.size != header.end and not header.dtype.hasobject:
        raise DataError(
            f"{file.name} has {file.size} bytes, but its header announces {header.end}: "
            "it was cut short, or something was appended; write it again."
        )
    kind = ColumnMajorRows if header.fortran_order else RowMajorRows
    shape = (header.shape[0], header.shape[1])
    return kind(file, shape, header.dtype, options.memory_budget, offset=header.offset)


def read_header(handle: BinaryIO | Any) -> ArrayHeader:
    """Read the header at the beginning of a handle.

    No more is read than a header may have, whatever length it announces: numpy would read, and
    in an archive unpack, up to 4 GB before it finds that too long.
    """
    begin = io.BytesIO(handle.read(LONGEST_HEADER))
    version = npy_format.read_magic(begin)
    readers = {
        (1, 0): npy_format.read_array_header_1_0,
        (2, 0): npy_format.read_array_header_2_0,
    }
    if version not in readers:
        raise ValueError(f"version {version} of the npy format is not known")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of headers that Python 2 wrote
        shape, fortran_order, dtype = readers[version](begin)
    if any(length < 0 for length in shape):
        raise ValueError(f"shape {shape} is negative")
    return ArrayHeader(shape, fortran_order, dtype, begin.tell())
