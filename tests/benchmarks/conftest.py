"""The benchmark is not installed: it is imported from the root of the repository."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

from benchmarks import clock  # noqa: E402 - only now can it be found


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    """Settling before every turn takes most of the time where data are tiny."""
    monkeypatch.setattr(gc, "collect", lambda: 0)
    monkeypatch.setattr(clock, "SETTLE", 0.0)


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """A data home without files."""
    monkeypatch.setenv("SPHERICALPCA_DATA_HOME", str(tmp_path / "empty"))


@pytest.fixture
def small():
    """Unit rows with some structure, float64."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((120, 3)) @ rng.standard_normal((3, 12))
    X += 0.5 * rng.standard_normal(X.shape)
    return X / np.linalg.norm(X, axis=1, keepdims=True)
