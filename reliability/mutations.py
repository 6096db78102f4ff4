"""Changes that keep checksums and frames intact, so that damage reaches the code after them.

A checksum always detects a flipped byte in a compressed archive, so the code after it would never
run.  Therefore members of archives and JSON headers are extracted, changed, and put back with
correct checksums.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

__all__ = ["Mutation", "mutate_archive", "mutate_gzip", "mutate_model", "mutate_plain"]

# Changes bytes, to at most this many: the fuzzer's own mutation.
Plain = Callable[[bytes, int], bytes]
Mutation = Callable[[bytes, int, random.Random, Plain], bytes]

ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**70,
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    "",
    "svd",
    [],
    {},
    [[]],
    "F32",
    "BF16",
)


def mutate_plain(data: bytes, size: int, rng: random.Random, plain: Plain) -> bytes:  # noqa: ARG001
    """Change bytes as the fuzzer does."""
    return plain(data, size)


def mutate_gzip(data: bytes, size: int, rng: random.Random, plain: Plain) -> bytes:
    """Change the uncompressed content, or sometimes the raw bytes."""
    try:
        content = gzip.decompress(data)
    except (OSError, EOFError, ValueError, zlib.error):
        return plain(data, size)
    if rng.random() < 0.1:
        return plain(data, size)
    return gzip.compress(plain(content, size), compresslevel=1, mtime=0)


def mutate_archive(data: bytes, size: int, rng: random.Random, plain: Plain) -> bytes:
    """Change one member of a zip archive: its numbers, its header, or the JSON header of all."""
    members = None if rng.random() < 0.1 else _members(data)
    if not members:
        return plain(data, size)
    name = rng.choice(sorted(members))
    info, content = members[name]
    if name == "header.npy" and rng.random() < 0.8:
        members[name] = info, _json_array(content, rng)
    elif rng.random() < 0.05:
        del members[name]
    else:
        members[name] = info, plain(content, size)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for member, (kind, text) in members.items():
            archive.writestr(member, text, kind)
    return file.getvalue()


def mutate_model(data: bytes, size: int, rng: random.Random, plain: Plain) -> bytes:
    """Change the header of a safetensors file, mostly our part of it, or any bytes."""
    length = int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8 : 8 + length])
        metadata = header["__metadata__"]
        ours = json.loads(metadata["sphericalpca"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return plain(data, size)
    choice = rng.random()
    if choice < 0.3:
        return plain(data, size)
    if choice < 0.5:
        return data[: 8 + length] + plain(data[8 + length :], size)
    if choice < 0.6:
        header = _changed(header, rng)
    else:
        metadata["sphericalpca"] = json.dumps(_changed(ours, rng))
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data[8 + length :]


def _members(data: bytes) -> dict[str, tuple[int, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {i.filename: (i.compress_type, archive.read(i)) for i in archive.infolist()}
    except Exception:
        return {}


def _json_array(content: bytes, rng: random.Random) -> bytes:
    """An array of bytes in the npy format that hold JSON, one value of it changed."""
    start = content.find(b"\n") + 1
    try:
        text = json.dumps(_changed(json.loads(content[start:]), rng)).encode()
    except (ValueError, RecursionError):
        return content
    shape = f"'shape': ({len(text)},), }}"
    before = content[10:start].split(b"'shape'")[0].decode("latin-1")
    head = (before + shape).ljust(start - 11)[: start - 11] + "\n"
    return content[:10] + head.encode("latin-1") + text


def _changed(value: Any, rng: random.Random) -> Any:
    """A JSON value in which one entry is another, or missing."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: _changed(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        k = rng.randrange(len(value))
        return [*value[:k], _changed(value[k], rng), *value[k + 1 :]]
    if isinstance(value, (int, float)) and rng.random() < 0.5:
        return value + rng.choice((-1, 1, 0.5))
    return rng.choice(ODD)
