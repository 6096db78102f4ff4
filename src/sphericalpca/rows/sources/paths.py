"""Which files are meant: one, several, or all that match a pattern."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sphericalpca.exceptions import DataError

__all__ = ["find_paths", "natural_order"]


def find_paths(path: Any) -> list[Path]:
    """The files of a path, a pattern, or a list of those, in the order given.

    The files of a pattern come in natural order: ``part-2`` before ``part-10``.
    """
    if isinstance(path, (str, os.PathLike)):
        return _matches(os.fspath(path))
    if not isinstance(path, Iterable) or isinstance(path, (bytes, dict)):
        raise TypeError(
            f"path is a {type(path).__name__}, but must be a path, a pattern or a list of those."
        )
    paths = [found for item in path for found in find_paths(item)]
    if not paths:
        raise DataError("The list of paths is empty: name at least one file.")
    return paths


def _matches(path: str | bytes) -> list[Path]:
    text = os.fsdecode(path)
    # A file may have brackets in its name.
    if not glob.has_magic(text) or os.path.lexists(text):
        return [Path(text)]
    # Of the standard library's two this is the one that takes absolute patterns.
    names = glob.iglob(text, recursive=True)  # noqa: PTH207
    found = [name for name in names if not Path(name).is_dir()]
    if not found:
        raise DataError(f"No file matches the pattern {text!r}: check the path.")
    return [Path(name) for name in sorted(found, key=natural_order)]


def natural_order(name: str) -> list[Any]:
    """A key by which numbers inside names are ordered as numbers."""
    parts = re.split(r"([0-9]+)", name)
    return [int(part) if k % 2 else part for k, part in enumerate(parts)]
