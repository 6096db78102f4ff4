"""Subspaces of all dimensions from one, and projections made as they are asked for."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sphericalpca import SphericalPCA
from sphericalpca.dimensions.subspaces import Ladder, SvdProjections
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows

SIZE = 40


@pytest.fixture(scope="module")
def X():
    return load_digits().data


@pytest.fixture(scope="module")
def weight(X):
    return np.random.default_rng(0).integers(0, 2, len(X)).astype(float)


@pytest.fixture(scope="module")
def rows(X, weight):
    return as_rows(X, weight=weight)


@pytest.fixture(scope="module")
def U(X, weight):
    return SphericalPCA(SIZE).fit(X, sample_weight=weight).components_.T


@pytest.fixture(scope="module")
def ladder(U, rows, weight):
    further = SvdProjections(Problem(rows), np.random.default_rng(0)).vectors(50)[:, SIZE:]
    return Ladder(U, rows, weight, further)


def mean_length(Z, weight):
    return weight @ np.linalg.norm(Z, axis=1) / weight.sum()


def test_starts_are_orthonormal_and_begin_with_the_fit(ladder, U, rows):
    every = ladder.start(ladder.highest)
    np.testing.assert_allclose(every.T @ every, np.eye(ladder.highest), atol=1e-10)
    np.testing.assert_array_equal(ladder.start(SIZE), U)
    assert (ladder.size, ladder.highest) == (SIZE, 50)
    for r in (20, SIZE, 45, 50):
        np.testing.assert_allclose(ladder.project(r), rows.project(ladder.start(r)), atol=1e-12)


@pytest.mark.parametrize("r", [2, 3, 5])
def test_few_components_are_improved(X, ladder, rows, weight, r):
    found = mean_length(ladder.project(r), weight)
    leading = mean_length(rows.project(ladder.start(r)), weight)
    best = SphericalPCA(r).fit(X, sample_weight=weight).mean_cosine_
    assert leading < found <= best * (1 + 1e-6)
    assert best - found < (best - leading) / 2


def test_directions_beyond_the_fit_come_heaviest_first(ladder, rows, weight):
    further = (weight[:, None] * ladder.project(50)[:, SIZE:] ** 2).sum(axis=0)
    assert (np.diff(further) <= 1e-9).all()
    # With the leading singular vectors inside, as much is kept as they keep.
    svd = SvdProjections(Problem(rows), np.random.default_rng(0)).project(50)
    energy = [(weight @ (Z**2).sum(axis=1)) for Z in (ladder.project(50), svd)]
    np.testing.assert_allclose(*energy, rtol=1e-3)


@pytest.mark.parametrize("gram_features", [1024, 3], ids=["at once", "as needed"])
def test_singular_vectors(X, weight, rows, monkeypatch, gram_features):
    for module in ("sphericalpca.solvers.start", "sphericalpca.dimensions.subspaces"):
        monkeypatch.setattr(f"{module}.GRAM_FEATURES", gram_features)
    monkeypatch.setattr("sphericalpca.dimensions.subspaces.FIRST_COLUMNS", 5)
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    exact = np.linalg.svd(unit[weight > 0], full_matrices=False)[1] ** 2
    svd = SvdProjections(Problem(rows), np.random.default_rng(0))
    for count in (3, 4, 8, 30, 6, 61):
        Z = svd.project(count)
        assert Z.shape == (len(X), count)
        assert svd.projected >= count
        np.testing.assert_allclose(Z, rows.project(svd.vectors(count)), atol=1e-12)
        energy = weight @ (Z**2).sum(axis=1)
        np.testing.assert_allclose(energy, exact[:count].sum(), rtol=1e-3)
