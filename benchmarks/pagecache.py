"""The system's cache of a file: load the file, drop it, measure how much is cached."""

from __future__ import annotations

import ctypes
import mmap
import os
from pathlib import Path

import numpy as np

__all__ = ["cached_share", "drop", "read_through"]

PIECE = 1 << 24


def read_through(path: Path) -> None:
    """Load the file into the cache, as far as it fits."""
    with path.open("rb", buffering=0) as file:
        while file.read(PIECE):
            pass


def drop(path: Path) -> None:
    """Drop the file from the cache; unwritten pages are written first, as they cannot be dropped.

    Needs no privileges, but the file must be on a disk, and must not be mapped.
    """
    if not hasattr(os, "posix_fadvise"):
        raise OSError("This system has no posix_fadvise: a cold disk cannot be measured here.")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def cached_share(path: Path) -> float:
    """How much of the file is in the cache, from 0 to 1."""
    size = path.stat().st_size
    pages = -(-size // mmap.PAGESIZE)
    found = np.zeros(pages, dtype=np.uint8)
    with path.open("rb") as file, mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as view:
        content = np.frombuffer(view, dtype=np.uint8)
        system = ctypes.CDLL(None, use_errno=True)
        failed = system.mincore(
            ctypes.c_void_p(content.ctypes.data),
            ctypes.c_size_t(size),
            ctypes.c_void_p(found.ctypes.data),
        )
        del content  # a view that is in use cannot be closed
    if failed:
        raise OSError(ctypes.get_errno(), f"Cannot tell how much of {path} is cached.")
    return float((found & 1).mean())
