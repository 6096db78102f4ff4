"""How many rows the record batches of an Arrow IPC file have, without loading them.

The library tells that of a batch only once it has loaded and unpacked it.  The file says it
in a footer and in small headers, which are flatbuffers: a table is a place from which a
signed number leads back to its list of fields, and each field is so many bytes behind it.
"""

from __future__ import annotations

import os
from struct import unpack_from
from typing import BinaryIO

__all__ = ["batch_lengths"]

MAGIC = b"ARROW1"
# Fields of the tables Footer, Message and RecordBatch, and the size of a Block.
RECORD_BATCHES, HEADER, LENGTH = 3, 2, 0
BLOCK = 24
# Before a header: four bytes that are all ones, and its size.
PREFIX = 8


def batch_lengths(handle: BinaryIO) -> list[int]:
    """Rows of each record batch; a ValueError if this is no complete Arrow file."""
    size = handle.seek(0, os.SEEK_END)
    tail = _bytes_at(handle, max(size - 10, 0), 10)
    if _bytes_at(handle, 0, 6) != MAGIC or tail[-6:] != MAGIC:
        raise ValueError("it does not begin and end as an Arrow file does")
    length = unpack_from("<i", tail)[0]
    footer = _bytes_at(handle, size - 10 - length, length)
    blocks = _blocks(footer)
    # Else a small file could have itself read a thousand times over.
    if sum(abs(length) for _, length in blocks) > size:
        raise ValueError("its record batches overlap")
    return [_batch_length(handle, *block) for block in blocks]


def _blocks(footer: bytes) -> list[tuple[int, int]]:
    """Where the headers of record batches begin, and how long they are."""
    field = _field(footer, _target(footer, 0), RECORD_BATCHES)
    if field is None:
        return []
    vector = _target(footer, field)
    count = unpack_from("<I", footer, vector)[0]
    return [unpack_from("<qi", footer, vector + 4 + k * BLOCK) for k in range(count)]


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
    """Where the reference at `place` leads."""
    return place + int(unpack_from("<I", buffer, place)[0])


def _field(buffer: bytes, table: int, index: int) -> int | None:
    """Where a field of a table is; None if it was left out."""
    fields = table - int(unpack_from("<i", buffer, table)[0])
    slot = 4 + 2 * index
    if fields < 0 or slot >= unpack_from("<H", buffer, fields)[0]:
        return None
    offset = int(unpack_from("<H", buffer, fields + slot)[0])
    return table + offset if offset else None
