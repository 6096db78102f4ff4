"""Arrow IPC files, including Feather files (version 2)."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from struct import unpack_from
from typing import Any, BinaryIO

from sphericalpca.rows.sources.columns import select
from sphericalpca.rows.sources.filesource import DataFile, FileSource, Options, optional
from sphericalpca.rows.sources.table import TableRows, list_length

__all__ = ["batch_lengths", "open_arrow"]


def open_arrow(file: DataFile, options: Options) -> FileSource:
    """The rows of an Arrow IPC or Feather file."""
    with file.being_read():
        with file.path.open("rb") as handle:
            lengths = batch_lengths(handle)
        with _reader(file) as reader:
            selection = select(reader.schema, options, file)
        with _reader(file, selection.names) as reader:
            length = list_length(file, selection, _batches(reader, range(len(lengths))))
    ends = [0, *itertools.accumulate(lengths)]
    source = ArrowRows(file, selection, ends, length, options.memory_budget)
    # A record batch in use and the next one.
    source.reader_bytes = 2 * max(lengths, default=0) * length * source.storage.itemsize
    return source


@contextmanager
def _reader(file: DataFile, names: Sequence[str] | None = None) -> Iterator[Any]:
    """A reader of the chosen columns only."""
    arrow = optional("pyarrow", "Arrow files")
    # Not mapped into memory: see `fixed`.
    with arrow.OSFile(str(file.path)) as handle:
        ipc = optional("pyarrow.ipc", "Arrow files")
        with ipc.open_file(handle) as whole:
            if names is None:
                yield whole
                return
            fields = [whole.schema.get_field_index(name) for name in names]
        chosen = ipc.IpcReadOptions(included_fields=fields, use_threads=False)
        with ipc.open_file(handle, options=chosen) as part:
            yield part


class ArrowRows(TableRows):
    """Rows in record batches, each of which is loaded as a whole."""

    @contextmanager
    def _batches(self, names: Sequence[str], parts: range, _rows: int) -> Iterator[Iterator[Any]]:
        with self.file.being_read(), _reader(self.file, names) as reader:
            yield _batches(reader, parts)


def _batches(reader: Any, parts: range) -> Iterator[Any]:
    for batch in map(reader.get_batch, parts):
        # In a damaged file the lists could point outside their numbers.
        batch.validate(full=True)
        yield batch


MAGIC = b"ARROW1"
# Fields of the tables Footer, Message and RecordBatch, and the size of a Block.
RECORD_BATCHES, HEADER, LENGTH = 3, 2, 0
BLOCK = 24
# Before a header: four bytes 0xFF, and its size.
PREFIX = 8


def batch_lengths(handle: BinaryIO) -> list[int]:
    """Rows of each record batch; a ValueError if the file is not a complete Arrow file."""
    size = handle.seek(0, os.SEEK_END)
    tail = _bytes_at(handle, max(size - 10, 0), 10)
    if _bytes_at(handle, 0, 6) != MAGIC or tail[-6:] != MAGIC:
        raise ValueError("it does not begin and end as an Arrow file does")
    length = unpack_from("<i", tail)[0]
    footer = _bytes_at(handle, size - 10 - length, length)
    # Positions and lengths of the headers of record batches.
    blocks: list[tuple[int, int]] = []
    if (field := _field(footer, _target(footer, 0), RECORD_BATCHES)) is not None:
        first = _target(footer, field) + 4
        count = unpack_from("<I", footer, first - 4)[0]
        blocks = [unpack_from("<qi", footer, first + k * BLOCK) for k in range(count)]
    # Otherwise a small file could make its contents be read a thousand times.
    if sum(abs(length) for _, length in blocks) > size:
        raise ValueError("its record batches overlap")
    return [_batch_length(handle, *block) for block in blocks]


def _batch_length(handle: BinaryIO, offset: int, size: int) -> int:
    message = _bytes_at(handle, offset, size)[PREFIX:]
    header = _field(message, _target(message, 0), HEADER)
    if header is None:
        raise ValueError("a record batch has no header")
    length = _field(message, _target(message, header), LENGTH)
    rows = 0 if length is None else int(unpack_from("<q", message, length)[0])
    if rows < 0:
        raise ValueError(f"a record batch has {rows} rows")
    return rows


def _bytes_at(handle: BinaryIO, position: int, length: int) -> bytes:
    handle.seek(position)
    found = handle.read(length) if length >= 0 else b""
    if len(found) != length:
        raise ValueError("it ends early")
    return found


def _target(buffer: bytes, place: int) -> int:
    """The target of the reference at `place`."""
    return place + int(unpack_from("<I", buffer, place)[0])


def _field(buffer: bytes, table: int, index: int) -> int | None:
    """Where a field of a table is; None if it was left out."""
    fields = table - int(unpack_from("<i", buffer, table)[0])
    slot = 4 + 2 * index
    if fields < 0 or slot >= unpack_from("<H", buffer, fields)[0]:
        return None
    offset = int(unpack_from("<H", buffer, fields + slot)[0])
    return table + offset if offset else None
