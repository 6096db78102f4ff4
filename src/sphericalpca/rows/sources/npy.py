"""NumPy's arrays: in ``.npy`` files, and in ``.npz`` archives."""

from __future__ import annotations

import io
import warnings
from io import FileIO
from math import prod
from typing import Any, BinaryIO, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
from numpy.lib import format as npy_format

from sphericalpca.exceptions import DataError
from sphericalpca.rows.sources.filesource import DataFile, FileSource, Options, chosen_key
from sphericalpca.rows.sources.fixed import ColumnMajorRows, RowMajorRows, fill

__all__ = ["StoredArray", "checked_header", "dense_rows", "located", "open_npy", "read_small"]

# The longest header that numpy accepts, and the bytes before it.
LONGEST_HEADER = 10_000 + 12


class StoredArray(NamedTuple):
    """The header of an array, and where its numbers begin (unpacked, if in a `member`)."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]
    offset: int
    member: str = ""

    @property
    def end(self) -> int:
        """Where its numbers end."""
        return self.offset + prod(self.shape) * self.dtype.itemsize


def open_npy(file: DataFile, options: Options) -> FileSource:
    """The rows of a ``.npy`` file."""
    with file.being_read(), file.path.open("rb") as handle:
        header = _read_header(handle)
    if len(header.shape) != 2:
        found = f"{file.name} holds an array of shape {header.shape}"
        raise DataError(found, "rows are a 2-D array", "reshape it to (rows, columns)")
    if file.size != header.end and not header.dtype.hasobject:
        found, rule = f"{file.name} has {file.size} bytes", f"its header declares {header.end}"
        remedy = "it is truncated or too long; write it again"
        raise DataError(found, rule, remedy)
    return _rows(file, header, options)


def _rows(file: DataFile, array: StoredArray, options: Options) -> FileSource:
    kind = ColumnMajorRows if array.fortran_order else RowMajorRows
    shape, dtype, offset, budget = array.shape, array.dtype, array.offset, options.memory_budget
    return kind(file, shape, dtype, budget, offset=offset, member=array.member)


def _read_header(handle: BinaryIO | Any) -> StoredArray:
    """The header of an array; NumPy would unpack up to 4 GB before it rejects its length."""
    begin = io.BytesIO(handle.read(LONGEST_HEADER))
    version = npy_format.read_magic(begin)
    readers = {(1, 0): npy_format.read_array_header_1_0, (2, 0): npy_format.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"version {version} of the npy format is not known")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about headers written by Python 2
        shape, fortran_order, dtype = readers[version](begin)
    if any(length < 0 for length in shape):
        raise ValueError(f"shape {shape} is negative")
    return StoredArray(shape, fortran_order, dtype, begin.tell())


# In a zip archive: the fixed part of the header before each member, which ends with the
# lengths of its name and of an extra field.
LOCAL_HEADER = 30
# The largest expansion of numpy's compression.
DEFLATED = 1032


def checked_header(archive: ZipFile, size: int, name: str) -> StoredArray:
    """The header of an array in an archive of this many bytes, which can contain that array."""
    info = archive.getinfo(name)
    growth = {ZIP_STORED: 1, ZIP_DEFLATED: DEFLATED}.get(info.compress_type)
    if growth is None:
        raise ValueError(f"{name!r} is compressed in a way that numpy does not use")
    if info.file_size > growth * min(info.compress_size, size - info.header_offset):
        raise ValueError(f"{name!r} would unpack to {info.file_size} bytes, which are not in it")
    with archive.open(name) as handle:
        header = _read_header(handle)
    if info.file_size != header.end:
        raise ValueError(f"{name!r} has {info.file_size} bytes instead of {header.end}")
    if header.dtype.hasobject:
        raise ValueError(f"{name!r} holds objects of Python, which are not read")
    return header


def read_small(archive: ZipFile, file: DataFile, name: str, most: int | None = None) -> Any:
    """A member of an archive as an array, of at most this many bytes."""
    header = checked_header(archive, file.size, name)
    if most is not None and header.end > most:
        raise ValueError(f"{name!r} has {header.end} bytes, more than {most}")
    values = np.empty(header.shape, header.dtype)
    with archive.open(name) as handle:
        if not fill(values, handle, header.offset):
            raise EOFError(f"{name!r} ends early")
        handle.read(1)  # at the end the checksum is verified
    return values


def located(archive: ZipFile, file: DataFile, name: str) -> StoredArray:
    """The location of a member's numbers."""
    header, info = checked_header(archive, file.size, name), archive.getinfo(name)
    if info.compress_type != ZIP_STORED:
        return header._replace(member=name)
    with FileIO(file.path) as raw:
        raw.seek(info.header_offset)
        local = raw.read(LOCAL_HEADER)
    names = int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little")
    return header._replace(offset=header.offset + info.header_offset + LOCAL_HEADER + names)


def dense_rows(file: DataFile, archive: ZipFile, options: Options) -> FileSource:
    """The rows of a 2-D array in the archive: the named one, or the only one."""
    found = {}
    for name in archive.namelist():
        if name.endswith(".npy"):
            with archive.open(name) as handle:
                header = _read_header(handle)
            found[name.removesuffix(".npy")] = header.shape, header.dtype.kind in "fiub"
    name = chosen_key(file, options.key, "array", found)
    array = located(archive, file, f"{name}.npy")
    if array.member and array.fortran_order:
        raise DataError(
            f"{name!r} in {file.name} is compressed and in Fortran order",
            "rows cannot be read one by one that way",
            "write it with numpy.savez, or in C order",
        )
    return _rows(file, array, options)
