"""Versions, linear algebra libraries and compiled kernels of an installation."""

from __future__ import annotations

import importlib
import platform
import re
import sys
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from sphericalpca.exceptions import ParameterError
from sphericalpca.kernels import instruction_set, instruction_sets
from sphericalpca.parallel import allowed_threads
from sphericalpca.version import __version__

__all__ = ["describe_system", "show_versions"]

NEEDED = ("numpy", "scipy", "scikit-learn", "threadpoolctl")


def show_versions() -> None:
    """Print versions, linear algebra libraries and the kernels in use, for bug reports.

    Examples
    --------
    >>> import sphericalpca
    >>> sphericalpca.show_versions()  # doctest: +ELLIPSIS
    System
      python                 3...
    Kernels
      in use                 ...
    """
    print(describe_system())  # noqa: T201 - its purpose


def describe_system() -> str:
    """Return the text that `show_versions` prints."""
    importlib.import_module("sklearn.utils.validation")  # loads the libraries that it uses
    python = f"{platform.python_version()} ({platform.python_implementation()}), {sys.executable}"
    try:
        in_use = instruction_set()
    except ParameterError as error:
        in_use = str(error)
    available, threads = ", ".join(instruction_sets()), str(allowed_threads())
    sections = {
        "System": [("python", python), ("platform", platform.platform())],
        "Packages": _versions(),
        "Linear algebra and OpenMP": [_library(found) for found in threadpool_info()],
        "Kernels": [("in use", in_use), ("available", available), ("threads", threads)],
    }
    return "\n\n".join(
        "\n".join([title, *(f"  {name:<22} {fact}" for name, fact in facts)])
        for title, facts in sections.items()
    )


def _versions() -> list[tuple[str, str]]:
    """Required packages, and installed packages of the extras."""
    found = [("sphericalpca", __version__)]
    wanted = dict.fromkeys(NEEDED)
    with suppress(metadata.PackageNotFoundError):  # run from the sources, not installed
        lines = metadata.requires("sphericalpca") or ()
        wanted |= dict.fromkeys(sorted(re.split(r"[^\w.-]", line)[0] for line in lines))
    for name in wanted:
        with suppress(metadata.PackageNotFoundError):
            found.append((name, metadata.version(name)))
    return found


def _library(facts: dict[str, Any]) -> tuple[str, str]:
    found = [facts.get(name) for name in ("version", "architecture", "threading_layer")]
    found += [f"threads: {facts['num_threads']}", Path(facts["filepath"]).name]
    return facts["internal_api"], ", ".join(filter(None, found))
