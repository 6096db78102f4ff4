"""Unit rows are the same problem at every magnitude: nothing may leave the number range."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import certificate
from sphericalpca.certificate import certify
from sphericalpca.linalg import principal_angles
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.solvers import Alternating, Linearized, solve, start

MAGNITUDES = [
    *[(np.float64, c) for c in (1e-300, 1e-200, 1e-160, 1e150)],
    *[(np.float32, c) for c in (1e-30, 1e-20, 1e20, 1e30)],
]


@pytest.fixture(params=MAGNITUDES, ids=lambda p: f"{np.dtype(p[0])}-{p[1]:g}")
def magnitude(request):
    return request.param


@pytest.fixture
def dtype(magnitude):
    return magnitude[0]


@pytest.fixture
def twins(magnitude, layout, zoo):
    """The same data near one and far from it, as a function of the options of `as_rows`."""
    dtype, size = magnitude
    X = zoo["spiked"].X.astype(dtype)
    convert = sparse.csr_array if layout == "csr" else np.asarray

    def make(**options):
        return [Problem(as_rows(convert(A), **options)) for A in (X, X * dtype(size))]

    return make


def _agree(found, expected, dtype):
    size = np.abs(expected).max()
    np.testing.assert_allclose(found / size, expected / size, atol=1e3 * np.finfo(dtype).eps)


@pytest.mark.parametrize("heavy", [1e-8, 1.0, 1e9], ids=lambda w: f"weight_{w:g}")
def test_evaluation_is_the_same(twins, dtype, heavy, random_U):
    near, far = (
        problem.evaluate(random_U(8, 2)) for problem in twins(weight=np.linspace(1, 2, 40) * heavy)
    )
    assert far.value == pytest.approx(near.value, rel=1e-5)
    _agree(far.gradient, near.gradient, dtype)


def test_second_moments_are_the_same(twins, dtype, random_U):
    near, far = twins()
    factor = np.linspace(1, 2, 40)
    _agree(far.gram(factor), near.gram(factor), dtype)
    _agree(far.covariance_times(np.eye(8), factor), near.gram(factor), dtype)


@pytest.mark.parametrize("normalize", [True, False], ids=["unit", "raw"])
def test_cosines_are_the_same(twins, dtype, normalize):
    near, far = (problem.cosines() for problem in twins(normalize=normalize))
    _agree(far, near, dtype)


@pytest.mark.parametrize("gram_features", [8, 7], ids=["gram", "randomized"])
@pytest.mark.parametrize("normalize", [True, False], ids=["unit", "raw"])
def test_the_svd_start_is_the_same(twins, dtype, gram_features, normalize, monkeypatch):
    monkeypatch.setattr(start, "GRAM_FEATURES", gram_features)
    near, far = (
        start.svd_start(problem, 2, np.random.default_rng(0)).U
        for problem in twins(normalize=normalize)
    )
    assert principal_angles(near, far).max() < 1e4 * np.finfo(dtype).eps


def _solve(problem, solver, **options):
    options = {"tol": 0.0, "max_iter": 10, "rng": np.random.default_rng(0), **options}
    return solve(problem, 2, solver=solver, **options).solution


def test_solutions_are_the_same(twins, solver):
    near, far = (_solve(problem, solver) for problem in twins())
    assert far.value == pytest.approx(near.value, rel=1e-5)
    np.testing.assert_allclose(far.history["loss"], near.history["loss"], rtol=1e-4)


def test_the_value_of_raw_rows_scales_with_them(twins, magnitude):
    near, far = (_solve(problem, Alternating()) for problem in twins(normalize=False))
    assert far.value / magnitude[1] == pytest.approx(near.value, rel=1e-5)


def test_algorithm_1_stays_finite_on_raw_rows(twins):
    _, far = twins(normalize=False)
    found = _solve(far, Linearized(), init="random")
    assert np.isfinite(found.value)
    history = dict(found.history)
    # A ratio to the length of the step, infinite where short rows do not move the pair at all.
    ratio = history.pop("decrease_ratio")
    assert np.isfinite(ratio[history["delta_U"] + history["delta_V"] > 0]).all()
    assert all(np.isfinite(column).all() for column in history.values())


@pytest.mark.parametrize("direct_size", [8, 7], ids=["all_eigenvalues", "iterative"])
@pytest.mark.parametrize("normalize", [True, False], ids=["unit", "raw"])
def test_the_gap_is_the_same(twins, direct_size, normalize, monkeypatch, random_U):
    monkeypatch.setattr(certificate, "DIRECT_SIZE", direct_size)
    near, far = (certify(p, random_U(8, 2), max_bounds=3) for p in twins(normalize=normalize))
    assert far.gap == pytest.approx(near.gap, rel=1e-3)


@pytest.mark.parametrize("normalize", [True, False], ids=["unit", "raw"])
def test_the_gap_of_few_rows_is_the_same(magnitude, layout, normalize, monkeypatch, zoo):
    monkeypatch.setattr(certificate, "DIRECT_SIZE", 10)
    dtype, size = magnitude
    X, U = zoo["few rows"].X.astype(dtype), np.eye(25)[:, :3]
    convert = sparse.csr_array if layout == "csr" else np.asarray
    near, far = (
        certify(Problem(as_rows(convert(A), normalize=normalize)), U, max_bounds=3)
        for A in (X, X * dtype(size))
    )
    assert near.gap > 0.1
    assert far.gap == pytest.approx(near.gap, rel=1e-3)
