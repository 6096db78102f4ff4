"""Arrays inside a zip archive, as ``numpy.savez`` writes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np

from sphericalpca.exceptions import DataError
from sphericalpca.rows.sources.datafile import DataFile
from sphericalpca.rows.sources.filesource import FileSource, Options
from sphericalpca.rows.sources.fixed import ColumnMajorRows, RowMajorRows
from sphericalpca.rows.sources.npy import read_header

__all__ = ["Member", "dense_rows", "located"]

# Of a zip archive: the fixed part of the header before each member, which ends with the
# lengths of its name and of an extra field.
LOCAL_HEADER = 30


@dataclass(frozen=True)
class Member:
    """An array inside the archive, and where its numbers begin.

    The offset counts from the beginning of the archive if it is stored as it is, from that of the
    unpacked member if it is compressed.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int
    compressed: bool
    fortran_order: bool


def located(archive: ZipFile, file: DataFile, name: str) -> Member:
    """Where a member's numbers are."""
    with archive.open(name) as handle:
        header = read_header(handle)
    info = archive.getinfo(name)
    compressed, offset = info.compress_type != ZIP_STORED, header.offset
    if info.file_size != header.end:
        raise ValueError(f"{name} has {info.file_size} bytes instead of {header.end}")
    if not compressed:
        with FileIO(file.path) as raw:
            raw.seek(info.header_offset)
            local = raw.read(LOCAL_HEADER)
        names = int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little")
        offset += info.header_offset + LOCAL_HEADER + names
    return Member(name, header.shape, header.dtype, offset, compressed, header.fortran_order)


def dense_rows(file: DataFile, archive: ZipFile, options: Options) -> FileSource:
    """The rows of a 2-D array in the archive: of the one that is named, or the only one."""
    name = _chosen(file, archive, options.key)
    member = located(archive, file, f"{name}.npy")
    n, m = member.shape
    place = (file, (n, m), member.dtype, options.memory_budget)
    if not member.compressed:
        kind = ColumnMajorRows if member.fortran_order else RowMajorRows
        return kind(*place, offset=member.offset)
    if member.fortran_order:
        raise DataError(
            f"{name!r} in {file.name} is compressed and in Fortran order, so that no row can be "
            "read without all: write it with numpy.savez, or in C order."
        )
    return PackedRows(*place, member=member)


def _chosen(file: DataFile, archive: ZipFile, key: str | None) -> str:
    shapes = {}
    for name in archive.namelist():
        with archive.open(name) as handle:
            if name.endswith(".npy"):
                header = read_header(handle)
                shapes[name.removesuffix(".npy")] = header.shape, header.dtype.kind in "fiub"
    matrices = [name for name, (shape, numeric) in shapes.items() if len(shape) == 2 and numeric]
    listed = ", ".join(f"{name!r} {shape}" for name, (shape, _) in shapes.items()) or "nothing"
    if key is None and len(matrices) == 1:
        return matrices[0]
    if key is None:
        found = "several 2-D arrays" if matrices else "no 2-D array of numbers"
        raise DataError(f"{file.name} has {found}: name one with key=...; it has {listed}.")
    if key not in matrices:
        what = "no 2-D array of numbers" if key in shapes else "not there"
        raise DataError(f"key={key!r} is {what} in {file.name}: it has {listed}.")
    return key


class PackedRows(RowMajorRows):
    """Rows of a compressed array, unpacked from its front by one reader."""

    def __init__(
        self, file: DataFile, shape: tuple[int, int], storage: Any, budget: int, *, member: Member
    ) -> None:
        super().__init__(file, shape, storage, budget, offset=member.offset)
        self._member = member.name

    @property
    def any_row(self) -> bool:
        """No."""
        return False

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with ZipFile(self.file.path) as archive, archive.open(self._member) as handle:
            yield handle
