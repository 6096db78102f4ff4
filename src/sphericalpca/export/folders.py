"""Folders that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replacing_folder"]


@contextmanager
def replacing_folder(path: Path, ours: Collection[str]) -> Iterator[Path]:
    """A temporary folder, renamed to `path` if all goes well and removed if not.

    An older folder of that name stays until the new one is complete.  It is replaced only if
    everything in it has a name among `ours`: whatever else is there would be lost.
    """
    path = path.resolve()
    _check_replaceable(path, ours)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.mkdir(parents=True)
        yield temporary
        _take_the_place(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _check_replaceable(path: Path, ours: Collection[str]) -> None:
    if not path.exists():
        return
    if not path.is_dir():
        raise NotADirectoryError(f"{path} is a file, but a folder is written: choose another name.")
    others = sorted(entry.name for entry in path.iterdir() if entry.name not in ours)
    if others:
        raise FileExistsError(
            f"{path} holds {others[0]!r}, which an export does not write: choose another folder."
        )


def _take_the_place(new: Path, path: Path) -> None:
    """Two renames, since a folder with content cannot be replaced in one."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.old")
    if path.exists():
        path.rename(aside)
    try:
        new.rename(path)
    except OSError:
        if aside.exists():
            aside.rename(path)
        raise
    shutil.rmtree(aside, ignore_errors=True)
