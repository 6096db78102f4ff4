"""One matrix, written in every format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from reliability.samples import SAMPLES, sample_suffix
from sphericalpca.registry.formats import FORMATS

# Rows of a row group, record batch or chunk: none of them divides the matrix evenly.
GROUP = 30


# Ways to write a matrix of float32 numbers.
EXACT = [name for name, way in SAMPLES.items() if FORMATS[way.format].dtype in ("", "float32")]


@pytest.fixture(scope="session")
def write():
    """Write a matrix in one of the formats; returns the path."""

    def write(X, name, folder, stem="rows"):
        path = Path(folder) / f"{stem}{sample_suffix(SAMPLES[name])}"
        SAMPLES[name].write(X, path, GROUP)
        return path

    return write


@pytest.fixture(params=EXACT, ids=lambda name: name.replace(" ", "_"))
def format_name(request):
    return request.param


@pytest.fixture
def sample(format_name):
    return SAMPLES[format_name]


@pytest.fixture(scope="session")
def X():
    """100 x 7 in float32, some zeros, no zero row."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((100, 3)) @ rng.standard_normal((3, 7))
    X += 0.3 * rng.standard_normal(X.shape)
    X[rng.random(X.shape) < 0.2] = 0.0
    X[:, 0] += 3.0
    return X.astype(np.float32)


@pytest.fixture
def path(X, format_name, write, tmp_path):
    """The matrix X in each format in turn."""
    return write(X, format_name, tmp_path)


@pytest.fixture(scope="session")
def dense():
    """A copy of a block: its memory may be used again."""

    def dense(block):
        return block.toarray() if sparse.issparse(block) else block.copy()

    return dense
