"""Rows in float64: products with all digits, reads that count, and memory that is kept to."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import open_rows
from sphericalpca.certificate import certify
from sphericalpca.problem import Problem
from sphericalpca.rows import DoubleRows, as_rows, memory


@pytest.fixture
def X(rng):
    """Some zeros, one empty row, and lengths that differ."""
    X = rng.standard_normal((40, 7)) * (rng.random((40, 7)) < 0.6)
    X[4] = 0.0
    return (X * np.geomspace(1, 100, 40)[:, None]).astype(np.float32)


@pytest.mark.parametrize("where", ["dense", "csr", "csr without room", "file"])
@pytest.mark.parametrize("centred", [False, True])
def test_products_are_those_of_the_same_numbers_in_float64(X, where, centred, tmp_path, rng):
    mean = X.mean(axis=0) if centred else None
    np.save(tmp_path / "X.npy", X)
    matrix = {"dense": X, "file": open_rows(tmp_path / "X.npy")}.get(where, sparse.csr_array(X))
    given = as_rows(matrix, mean=mean, normalize=False)
    if where == "csr without room":
        given.room = 0
    rows, shifted = DoubleRows(given), X.astype(np.float64) - (mean if centred else 0.0)
    U, V = rng.standard_normal((7, 3)), rng.standard_normal((40, 3))
    # Differences are rounded to float32 where they are made explicitly.
    options = {"rtol": 1e-6 if centred else 1e-13, "atol": 1e-4 if centred else 1e-11}
    for found in (rows.project(U), rows.correlate(V)):
        assert found.dtype == np.float64
    np.testing.assert_allclose(rows.project(U), shifted @ U, **options)
    np.testing.assert_allclose(rows.correlate(V), shifted.T @ V, **options)
    explicit = np.vstack([block.project(np.eye(7)) for block in rows.blocks()])
    np.testing.assert_allclose(explicit, shifted, **options)
    assert given.passes == 2.0  # four products of half a pass


def test_sparse_rows_are_copied_only_where_there_is_room(X):
    given = as_rows(sparse.csr_array(X), normalize=False)
    assert given.in_double().dtype == np.float64
    given.room = 20 * given.stored - 1
    assert given.in_double().dtype == np.float32


@pytest.mark.parametrize("wide", [False, True])
def test_a_certificate_of_sparse_rows_stays_within_their_room(wide, monkeypatch):
    """Without room for a copy, blocks are converted one after the other."""
    monkeypatch.setattr(memory, "ROOM", 2**20)
    shape = (2100, 6000) if wide else (6000, 2100)
    X = sparse.random_array(shape, density=0.08, rng=0, dtype=np.float32, format="csr")
    rows = as_rows(X)
    U = np.linalg.qr(np.random.default_rng(0).standard_normal((shape[1], 2)))[0]
    tracemalloc.start()
    try:
        found = certify(Problem(rows), U, max_bounds=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.kind == "probable"
    assert 20 * rows.stored > rows.room > 8 * X.nnz - 1
    assert peak < rows.room + 12 * 2**20
