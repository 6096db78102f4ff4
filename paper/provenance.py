"""Provenance of rows: commit, processor, linear algebra, versions.

Every committed row has this line of facts, which contains no host names and no paths.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

import sphericalpca
from sphericalpca.kernels import instruction_set

__all__ = ["made_with"]

ROOT = Path(__file__).resolve().parents[1]
CPU_FACTS = Path("/proc/cpuinfo")

PACKAGES = ("numpy", "scipy", "scikit-learn")
OPTIONAL = ("pymanopt",)


@cache
def made_with() -> str:
    """The facts, the same for all rows of a process, without numbers of threads."""
    np.ones((2, 2)) @ np.ones((2, 2))  # loads the BLAS library
    kernels = f"kernels {instruction_set()}"
    return "; ".join(
        [f"commit {commit(ROOT)}", processor(CPU_FACTS), _cores(), *_blas(), kernels, *_versions()]
    )


def commit(root: Path) -> str:
    """The commit of the clone in `root`, with "-dirty" where tracked files differ from it.

    "unknown" for an unpacked sdist, even inside a clone of something else.
    """
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return "unknown"
    command = [
        git,
        "-C",
        str(root),
        "describe",
        "--always",
        "--dirty",
        "--abbrev=12",
        "--exclude=*",
    ]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def processor(facts: Path) -> str:
    """The processor's name, from /proc/cpuinfo on Linux and from Python elsewhere."""
    if facts.is_file():
        for line in facts.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return " ".join(value.split())
    return platform.processor() or platform.machine()


def _cores() -> str:
    usable = (
        os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    )
    return f"{len(usable)} cores"


def _blas() -> list[str]:
    """Each BLAS that is loaded, with the kernel that it chose for this processor."""
    found = {
        f"{library['internal_api']} {library['version']} ({library.get('architecture', '?')})"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    }
    return sorted(found)


def _versions() -> list[str]:
    known = [f"sphericalpca {sphericalpca.__version__}", f"python {platform.python_version()}"]
    installed = [*PACKAGES, *(name for name in OPTIONAL if find_spec(name))]
    return [*known, *(f"{name} {metadata.version(name)}" for name in installed)]
