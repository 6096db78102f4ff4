"""Folders that commands make."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["not_left_empty"]


@contextmanager
def not_left_empty(folder: Path) -> Iterator[None]:
    """Remove folders that were created in this context and stayed empty."""
    absent = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        yield
    finally:
        with suppress(OSError):  # something is in it, or it was not made
            for place in absent:
                place.rmdir()
