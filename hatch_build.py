"""Build hook: compile the kernels if there is a C compiler, and build without them otherwise.

Set ``SPHERICALPCA_NO_KERNELS=1`` to leave them out, and ``CC`` to choose the compiler.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

KERNELS = Path("src", "sphericalpca", "kernels")
LIBRARY = "libkernels.dylib" if sys.platform == "darwin" else "libkernels.c.so"
# No instruction set of this machine: `sparse.c` has code for several, and chooses at run time.
FLAGS = ("-O3", "-std=gnu11", "-fno-math-errno", "-fPIC", "-shared")


class KernelsHook(BuildHookInterface[Any]):
    """Adds the library to a wheel, or puts it beside the sources for an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and name the wheel after the platform if that succeeds."""
        sources = Path(self.root) / KERNELS
        if version == "editable":
            if not is_current(sources / LIBRARY):
                self._compile(sources, sources / LIBRARY)
            return
        self._folder = tempfile.TemporaryDirectory(prefix="kernels-")
        library = Path(self._folder.name) / LIBRARY
        if self._compile(sources, library):
            build_data["tag"] = f"py3-none-{platform()}"
            build_data["pure_python"] = False
            build_data["force_include"][str(library)] = f"sphericalpca/kernels/{LIBRARY}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what is in the wheel now."""
        if version != "editable":
            self._folder.cleanup()

    def _compile(self, sources: Path, library: Path) -> bool:
        """Whether there is a library now; one that is out of date does not stay."""
        try:
            compile_kernels(sources, library)
        except (OSError, subprocess.SubprocessError) as error:
            library.unlink(missing_ok=True)
            reason = getattr(error, "stderr", None) or error
            self.app.display_info(f"Built without compiled kernels: {reason}")
            return False
        return True


def is_current(library: Path) -> bool:
    """Whether a library is wanted, newer than all that it is made of, and of this platform."""
    made_of = [Path(__file__), *library.parent.glob("*.[ch]")]
    if os.environ.get("SPHERICALPCA_NO_KERNELS") or not library.exists():
        return False
    return library.stat().st_mtime > max(p.stat().st_mtime for p in made_of) and loads(library)


def compile_kernels(sources: Path, library: Path) -> None:
    """Compile all C files of a folder into a library, which appears whole or not at all.

    Raises
    ------
    OSError
        If kernels are not wanted, there is no compiler, or Python cannot load what it makes.
    subprocess.SubprocessError
        If it fails.
    """
    if sys.platform == "win32":
        raise OSError("they have not been tried on Windows")
    if os.environ.get("SPHERICALPCA_NO_KERNELS"):
        raise OSError("SPHERICALPCA_NO_KERNELS is set")
    with tempfile.TemporaryDirectory(prefix=".kernels-", dir=library.parent) as folder:
        made = Path(folder) / LIBRARY  # on the same disk: two installations may run at once
        files = sorted(map(str, sources.glob("*.c")))
        subprocess.run(
            [*compiler(), *FLAGS, "-o", str(made), *files, "-lm"],
            check=True,
            capture_output=True,
            text=True,
            timeout=600,
        )
        if not loads(made):
            raise OSError("the compiler made a library for another platform")
        made.replace(library)


def compiler() -> list[str]:
    """The command of the C compiler."""
    if chosen := shlex.split(os.environ.get("CC", "")):
        return chosen
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    raise FileNotFoundError("no C compiler found (cc, gcc, clang)")


def loads(library: Path) -> bool:
    """Whether this Python can load a library."""
    try:
        ctypes.CDLL(str(library))
    except OSError:
        return False
    return True


def platform() -> str:
    """The platform tag of the wheel; manylinux tags are left to auditwheel, which checks them."""
    return next(tag for tag in platform_tags() if not tag.startswith(("manylinux", "musllinux")))
