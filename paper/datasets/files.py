"""Gzipped files, and checksums beside them."""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sphericalpca.files import refuse_pipes, replacing

__all__ = ["noted_sha256", "read_gzip", "replacing_with_note", "sha256_of", "write_gzip"]

# Three times the largest data set: a small file could unpack to a thousand times its size.
LARGEST = 128 << 20
PIECE = 1 << 20


@contextmanager
def replacing_with_note(path: Path) -> Iterator[Path]:
    """Like `replacing`; also removes the checksum that was noted for the older file."""
    with replacing(path) as temporary:
        yield temporary
        _note(path).unlink(missing_ok=True)


def write_gzip(path: Path, lines: Iterator[str]) -> None:
    """Write lines as gzipped text, atomically, and store its sha256 beside it."""
    with replacing_with_note(path) as temporary:
        with temporary.open("wb") as raw:
            _compress(raw, lines)
        digest = sha256_of(temporary)
    with replacing(_note(path)) as temporary:
        # The form of sha256sum, so that `sha256sum --check` can read it.
        temporary.write_text(f"{digest}  {path.name}\n", encoding="utf-8")


def read_gzip(path: Path, encoding: str) -> io.TextIOWrapper:
    """Gzipped text; a ValueError if it is longer than any data set."""
    content = io.BytesIO()
    with gzip.open(path, "rb") as file:
        while piece := file.read(PIECE):
            content.write(piece)
            if content.tell() > LARGEST:
                raise ValueError(f"it would unpack to more than {LARGEST} bytes")
    content.seek(0)
    return io.TextIOWrapper(content, encoding)


def _compress(raw: IO[bytes], lines: Iterator[str]) -> None:
    # Without name and date: equal contents give equal bytes.
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as file:
        for line in lines:
            file.write(f"{line}\n".encode())


def sha256_of(path: Path) -> str:
    """The sha256 of a file, in hexadecimal digits."""
    refuse_pipes(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def noted_sha256(path: Path) -> str | None:
    """The sha256 that was noted when the file was fetched, if there is one."""
    refuse_pipes(_note(path))
    try:
        words = _note(path).read_text(encoding="utf-8").split()
    except FileNotFoundError:
        return None
    return words[0] if words else ""


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")
