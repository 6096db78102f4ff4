"""Rows for codecs, and kernels that are compiled for these tests where there are none."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import sphericalpca.kernels

SOURCE = Path(sphericalpca.kernels.__file__).with_name("scan.c")
PLACES = ("levels", "scan")  # modules that ask for the kernels


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """The kernels, compiled from their source."""
    compiler = shutil.which("cc")
    if compiler is None or not SOURCE.exists():
        pytest.skip("no C compiler, or no source")
    library = tmp_path_factory.mktemp("kernels") / "libscan.so"
    command = [compiler, "-O3", "-shared", "-fPIC", str(SOURCE), "-o", str(library)]
    subprocess.run(command, check=True, capture_output=True)
    return ctypes.CDLL(str(library))


@pytest.fixture(params=["compiled", "plain"])
def kernels(request, monkeypatch):
    """With and without compiled kernels."""
    found = request.getfixturevalue("compiled") if request.param == "compiled" else None
    for place in PLACES:
        monkeypatch.setattr(f"sphericalpca.codec.{place}.kernels", lambda: found)
    return request.param


def clustered(n, m, seed=0, decay=0.9):
    """Rows around some centres, with a spectrum that falls."""
    rng = np.random.default_rng(seed)
    scale = decay ** np.arange(m)
    centres = rng.standard_normal((20, m)) * scale
    return centres[rng.integers(20, size=n)] + 0.7 * rng.standard_normal((n, m)) * scale


@pytest.fixture(scope="session")
def rows():
    return clustered(3000, 40).astype(np.float32)
