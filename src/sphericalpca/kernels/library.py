"""Compiled kernels: the library, and which of its instruction sets is used."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path

from sphericalpca.exceptions import ParameterError

__all__ = ["VARIABLE", "instruction_set", "instruction_sets", "library"]

VARIABLE = "SPHERICALPCA_KERNELS"
# Python would take "libkernels.so" for a module, and fail to import it.
NAMES = ("libkernels.c.so", "libkernels.dylib")


def library() -> ctypes.CDLL | None:
    """The compiled kernels; None where there are none, or ``SPHERICALPCA_KERNELS=scipy``."""
    return None if instruction_set() == "scipy" else _loaded()


def instruction_set() -> str:
    """The instruction set in use: "avx512", "avx2", "neon" or "generic"; "scipy" without kernels.

    Raises
    ------
    ParameterError
        If the environment variable asks for one that is not available.
    """
    return _chosen(os.environ.get(VARIABLE, ""))


@cache
def instruction_sets() -> tuple[str, ...]:
    """All that this library and this processor support, the best first; always with "scipy"."""
    compiled = _loaded()
    if compiled is None:
        return ("scipy",)
    compiled.instruction_sets.restype = ctypes.c_char_p
    return (*compiled.instruction_sets().decode().split(), "scipy")


@cache
def _chosen(wanted: str) -> str:
    available = instruction_sets()
    if wanted and wanted not in available:
        raise ParameterError(
            f"{VARIABLE}={wanted} is not available here",
            f"must be one of {', '.join(available)}",
            "unset the variable to use the best one",
        )
    return wanted or available[0]


@cache
def _loaded() -> ctypes.CDLL | None:
    for name in NAMES:
        path = Path(__file__).with_name(name)
        try:
            return ctypes.CDLL(str(path))
        except OSError:  # not built, or built for another machine
            continue
    return None
