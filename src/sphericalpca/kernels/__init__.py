"""Compiled kernels: plain C, loaded by ctypes where a compiled library is there."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path

__all__ = ["library"]


def library() -> ctypes.CDLL | None:
    """The compiled kernels; None where there are none, or ``SPHERICALPCA_KERNELS=scipy``."""
    return None if os.environ.get("SPHERICALPCA_KERNELS") == "scipy" else _loaded()


@cache
def _loaded() -> ctypes.CDLL | None:
    path = Path(__file__).with_name("libkernels.so")
    try:
        return ctypes.CDLL(str(path))
    except OSError:
        return None
