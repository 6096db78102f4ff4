"""Vectors that look like embeddings, models of every kind fitted to them, and what is expected."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from sphericalpca import SphericalPCA

# Options and types of models.
KINDS = {
    "plain": ({}, np.float32),
    "in double": ({}, np.float64),
    "centred": ({"center": True}, np.float32),
    "centred in double": ({"center": True}, np.float64),
    "lengths count": ({"normalize": False}, np.float32),
    "centred, lengths count": ({"normalize": False, "center": True}, np.float64),
    "one component": ({"n_components": 1}, np.float64),
    "all components": ({"n_components": 24}, np.float32),
}


def _vectors(n, m, seed):
    """Unit rows with a mean and a decaying spectrum, as encoders give."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m)) / np.arange(1, m + 1) ** 0.5
    X = X @ np.linalg.qr(rng.standard_normal((m, m)))[0] + 0.1
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="session")
def X():
    """Of several lengths: a factor does not change a direction, unless a mean is subtracted."""
    lengths = np.random.default_rng(1).uniform(0.5, 2.0, size=(300, 1))
    return _vectors(300, 24, 0) * lengths.astype(np.float32)


@pytest.fixture(scope="session")
def fresh():
    """Rows that the models have not seen."""
    return _vectors(50, 24, 2)


@pytest.fixture(scope="session", params=KINDS, ids=lambda name: name.replace(" ", "_"))
def model(request, X):
    options, dtype = KINDS[request.param]
    return SphericalPCA(**{"n_components": 6, **options}).fit(X.astype(dtype))


@pytest.fixture(scope="session")
def dtype(model):
    return model.components_.dtype


@pytest.fixture(scope="session")
def plain_model(X):
    return SphericalPCA(6).fit(X)


@pytest.fixture(scope="session")
def centred_model(X):
    return SphericalPCA(6, center=True).fit(X)


@pytest.fixture(scope="session")
def minilm(data_home):
    """Real embeddings, and two models of them: as they are, and centred."""
    path = data_home / "newsgroups_minilm_f16.npz"
    if not path.exists():
        pytest.skip(f"no {path.name} in the data home")
    with np.load(path) as content:
        X = content["X"][:3000].astype(np.float32)
    return X, [SphericalPCA(64, center=center, tol=1e-3).fit(X) for center in (False, True)]


@pytest.fixture
def without(monkeypatch):
    """Make packages impossible to import."""

    def hide(*names):
        for name in names:
            monkeypatch.setitem(sys.modules, name, None)

    return hide
