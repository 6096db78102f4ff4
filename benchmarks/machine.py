"""What rows were made with: cores, linear algebra, versions.  No names of hosts, no paths."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib import metadata
from importlib.util import find_spec

import numpy as np
from threadpoolctl import threadpool_info

import sphericalpca

__all__ = ["QUICK", "made_with"]

# How rows of a quick run are marked: their data are not those that their names promise.
QUICK = "quick run on small data"

PACKAGES = ("numpy", "scipy", "scikit-learn", "pymanopt")


@cache
def made_with(*, quick: bool = False) -> str:
    """One line of facts, the same for all rows of a run."""
    np.ones((2, 2)) @ np.ones((2, 2))  # so that the library of products is loaded
    return "; ".join([f"{_cores()} cores", *_blas(), *_versions(), *[QUICK] * quick])


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _blas() -> list[str]:
    found = {
        f"{library['internal_api']} {library['version']} ({library.get('architecture', '?')}), "
        f"{library['num_threads']} threads"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    }
    return sorted(found)


def _versions() -> list[str]:
    known = [f"sphericalpca {sphericalpca.__version__}", f"python {platform.python_version()}"]
    installed = [name for name in PACKAGES if name != "pymanopt" or find_spec(name)]
    return [*known, *(f"{name} {metadata.version(name)}" for name in installed)]
