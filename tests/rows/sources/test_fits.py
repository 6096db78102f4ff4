"""The same data through every format: the same loss and the same subspace as from memory."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from reliability.samples import SAMPLES
from sphericalpca import SphericalPCA, open_rows
from sphericalpca.linalg import principal_angles
from sphericalpca.registry.formats import FORMATS
from sphericalpca.rows.reading import best_block_rows

N, M, R = 240, 9, 3


@pytest.fixture(scope="module")
def clear():
    """float32 rows with three directions well above the rest."""
    rng = np.random.default_rng(2)
    spread = np.r_[3.0, 2.5, 2.0, np.full(M - R, 0.6)]
    axes = np.linalg.qr(rng.standard_normal((M, M)))[0]
    return ((rng.standard_normal((N, M)) * spread) @ axes).astype(np.float32)


@pytest.fixture(scope="module")
def weight():
    return np.random.default_rng(4).uniform(0.1, 2.0, N)


@pytest.fixture(params=["float32", "float16"])
def matrix(request, clear, format_name):
    """In float32, or rounded to what float16 holds and stored as such."""
    way = SAMPLES[format_name]
    if request.param == "float16" and (way.sparse or FORMATS[way.format].dtype):
        pytest.skip("the format has no float16")
    return clear.astype(request.param)


@pytest.fixture(params=[[0, N], [0, 50, 51, N]], ids=["one_file", "several_files"])
def files(request, matrix, write, format_name, tmp_path):
    return [
        write(matrix[a:b], format_name, tmp_path, f"part-{k}")
        for k, (a, b) in enumerate(pairwise(request.param))
    ]


def test_the_fit_is_that_of_memory(matrix, weight, files):
    source = open_rows(files, memory_budget=20_000)
    assert best_block_rows(source, 1) < N
    model = SphericalPCA(R, tol=1e-5, random_state=0)
    expected = model.fit(matrix.astype(np.float32), sample_weight=weight)
    loss, U = expected.loss_, expected.components_.T
    found = model.fit(source, sample_weight=weight)
    assert found.components_.dtype == np.float32
    assert found.loss_ == pytest.approx(loss, rel=1e-6)
    assert principal_angles(found.components_.T, U).max() < 1e-3
