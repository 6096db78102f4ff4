"""Rows for codecs, with and without compiled kernels."""

import ctypes

import numpy as np
import pytest

from sphericalpca.kernels import instruction_sets, library


@pytest.fixture
def compiled(monkeypatch) -> ctypes.CDLL:
    """The library of this installation, whatever the environment variable selects."""
    if len(instruction_sets()) == 1:
        pytest.skip("no compiled kernels here")
    monkeypatch.delenv("SPHERICALPCA_KERNELS", raising=False)
    return library()


@pytest.fixture(params=["compiled", "plain"])
def kernels(request, monkeypatch):
    """With and without compiled kernels."""
    found = request.getfixturevalue("compiled") if request.param == "compiled" else None
    monkeypatch.setattr("sphericalpca.codec.quantiser.library", lambda: found)
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
