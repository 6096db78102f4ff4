"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replacing", "write_whole"]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name, renamed to `path` if all goes well and removed if not.

    An older file of that name stays until the new one is complete and on the disk.  A link
    stays a link: the file that it leads to is replaced.
    """
    path = Path(os.path.realpath(path))
    # In the same folder, because a rename across file systems is not one step.
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        _to_disk(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file in one step; its folder is made if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def _to_disk(path: Path) -> None:
    """Else a crash of the machine may leave the new name on an empty file."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
