"""Unit rows are the same problem at every magnitude: nothing may leave the number range.

From 1e-300 to 1e150 in float64 and from 1e-30 to 1e30 in float32, without a warning.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import SphericalPCA, certificate
from sphericalpca.certificate import certify
from sphericalpca.linalg import principal_angles
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.solvers import Alternating, Linearized, solve, start

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MAGNITUDES = [
    *[(np.float64, c) for c in (1e-300, 1e-200, 1e-160, 1e150)],
    *[(np.float32, c) for c in (1e-30, 1e-20, 1e20, 1e30)],
]
RANGES = [(np.float64, -300, 150), (np.float32, -30, 30)]


@pytest.fixture
def convert(layout):
    return sparse.csr_array if layout == "csr" else np.asarray


@pytest.fixture(params=MAGNITUDES, ids=lambda p: f"{np.dtype(p[0])}-{p[1]:g}")
def magnitude(request):
    return request.param


def _twins(X, magnitude, convert, **options):
    """The same data near one and far from it."""
    dtype, size = magnitude
    X = X.astype(dtype)
    return [Problem(as_rows(convert(A), **options)) for A in (X, X * dtype(size))]


def _agree(found, expected, dtype):
    size = np.abs(expected).max()
    np.testing.assert_allclose(found / size, expected / size, atol=1e3 * np.finfo(dtype).eps)


def test_values_gradients_and_moments_are_the_same(magnitude, convert, zoo, random_U):
    (dtype, _), X, factor = magnitude, zoo["spiked"].X, np.linspace(1, 2, 40)
    for heavy in (1e-8, 1.0, 1e9):
        twins = _twins(X, magnitude, convert, weight=factor * heavy)
        near, far = (problem.evaluate(random_U(8, 2)) for problem in twins)
        assert far.value == pytest.approx(near.value, rel=1e-5)
        _agree(far.gradient, near.gradient, dtype)
    near, far = _twins(X, magnitude, convert)
    _agree(far.gram(factor), near.gram(factor), dtype)
    _agree(far.covariance_times(np.eye(8), factor), near.gram(factor), dtype)
    for normalize in (True, False):
        near, far = _twins(X, magnitude, convert, normalize=normalize)
        _agree(far.cosines(), near.cosines(), dtype)


@pytest.mark.parametrize("normalize", [True, False], ids=["unit", "raw"])
def test_starts_and_certificates_are_the_same(magnitude, normalize, monkeypatch, zoo, random_U):
    """By every way to the eigenvectors: the Gram matrix, iterations, inner products of rows."""
    twins = _twins(zoo["spiked"].X, magnitude, sparse.csr_array, normalize=normalize)
    for direct_size in (8, 7):
        monkeypatch.setattr(start, "GRAM_FEATURES", direct_size)
        monkeypatch.setattr(certificate, "DIRECT_SIZE", direct_size)
        near, far = (start.svd_start(twin, 2, np.random.default_rng(0)).U for twin in twins)
        assert principal_angles(near, far).max() < 1e4 * np.finfo(magnitude[0]).eps
        near, far = (certify(twin, random_U(8, 2), max_bounds=3).gap for twin in twins)
        assert far == pytest.approx(near, rel=1e-3)
    monkeypatch.setattr(certificate, "DIRECT_SIZE", 10)
    twins = _twins(zoo["few rows"].X, magnitude, np.asarray, normalize=normalize)
    near, far = (certify(twin, np.eye(25)[:, :3], max_bounds=3).gap for twin in twins)
    assert near > 0.1
    assert far == pytest.approx(near, rel=1e-3)


def _solve(problem, solver, **options):
    options = {"tol": 0.0, "max_iter": 10, "rng": np.random.default_rng(0), **options}
    return solve(problem, 2, solver=solver, **options).solution


def test_solutions_are_the_same(solver, convert, zoo):
    for magnitude in MAGNITUDES:
        near, far = (_solve(p, solver) for p in _twins(zoo["spiked"].X, magnitude, convert))
        assert far.value == pytest.approx(near.value, rel=1e-5)
        np.testing.assert_allclose(far.history["loss"], near.history["loss"], rtol=1e-4)


def test_raw_rows_scale_the_value_and_keep_algorithm_1_finite(magnitude, zoo):
    twins = _twins(zoo["spiked"].X, magnitude, np.asarray, normalize=False)
    near, far = (_solve(problem, Alternating()) for problem in twins)
    assert far.value / magnitude[1] == pytest.approx(near.value, rel=1e-5)
    found = _solve(twins[1], Linearized(), init="random")
    assert np.isfinite(found.value)
    history = dict(found.history)
    # A ratio to the length of the step, infinite where short rows do not move the pair at all.
    ratio = history.pop("decrease_ratio")
    assert np.isfinite(ratio[history["delta_U"] + history["delta_V"] > 0]).all()
    assert all(np.isfinite(column).all() for column in history.values())


@pytest.mark.parametrize(("normalize", "center"), [(True, False), (True, True), (False, True)])
def test_a_fit_from_end_to_end(magnitude, normalize, center, zoo):
    (dtype, size), X = magnitude, zoo["text"].X
    far = (size * X).astype(dtype)
    options = {"normalize": normalize, "center": center, "max_iter": 40}
    plain, model = SphericalPCA(3, **options).fit(X), SphericalPCA(3, **options)
    V = model.fit_transform(far)
    atol = 1e-9 if dtype == np.float64 else 1e-4
    assert principal_angles(model.components_.T, plain.components_.T).max() < 20 * atol + 1e-7
    np.testing.assert_allclose(V, plain.transform(X), atol=100 * atol)
    np.testing.assert_array_equal(model.transform(far), V)
    names = ["mean_cosine_", "svd_ratio_", "component_weights_"] + ["loss_"] * normalize
    for name in names:
        np.testing.assert_allclose(getattr(model, name), getattr(plain, name), rtol=atol)
    assert model.score(far) == pytest.approx(plain.mean_cosine_, rel=atol)
    assert model.certify(far).gap == pytest.approx(plain.certify(X).gap, abs=1e-3)


@pytest.mark.parametrize("numbers", RANGES)
def test_mixed_magnitudes(convert, numbers, zoo, rng):
    """Of rows, which says nothing; of entries; of columns, of which the largest is all."""
    (dtype, low, high), X = numbers, zoo["noise"].X
    mixed = convert((X * 10 ** rng.uniform(low, high, size=(40, 1))).astype(dtype))
    atol, plain, model = 1e-9 if dtype == np.float64 else 1e-3, SphericalPCA(3), SphericalPCA(3)
    V = model.fit_transform(mixed)
    np.testing.assert_allclose(V, plain.fit_transform(X), atol=10 * atol)
    assert model.loss_ == pytest.approx(plain.loss_, rel=atol)
    entries = convert((X * 10 ** rng.uniform(low, high, size=X.shape)).astype(dtype))
    for normalize in (True, False):
        model = SphericalPCA(2, normalize=normalize)
        lengths = np.linalg.norm(model.fit_transform(entries).astype(float), axis=1)
        assert (np.isclose(lengths, 1, atol=1e-5) | (lengths == 0)).all()
        np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-5)
        assert np.isfinite([model.loss_, model.mean_cosine_, model.residual_]).all()
    X = X + 3.0
    X[:, 0] *= 10.0 ** (high - 1)
    model = SphericalPCA(1).fit(convert(X.astype(dtype)))
    np.testing.assert_allclose(model.components_, np.eye(7)[:1], atol=1e-6)


@pytest.mark.parametrize("magnitude", [(np.float64, 1e-300), (np.float32, 1e-30)])
def test_weights_on_rows_of_small_magnitude(magnitude, zoo):
    """1 / length and a large weight must not overflow together."""
    (dtype, size), X, weight = magnitude, zoo["noise"].X, np.linspace(0.2, 3, 40)
    plain = SphericalPCA(3).fit(X, sample_weight=weight)
    model = SphericalPCA(3).fit((size * X).astype(dtype), sample_weight=1e9 * weight)
    assert principal_angles(model.components_.T, plain.components_.T).max() < 1e-3


@pytest.mark.parametrize("order", ["uv", "vu"])
def test_block_constants_never_fall_behind_their_start(order, zoo):
    """With mu = 2 lambda_max the U step is singular but for X, which rounding may swallow."""
    options = {"solver": Linearized("block", "block", order=order), "normalize": False}
    for magnitude in (1e-17, 1e-100, 1.0):
        model = SphericalPCA(3, max_iter=20, **options).fit(magnitude * zoo["noise"].X)
        assert model.svd_ratio_ <= 1 + 1e-6
        assert model.mean_cosine_ > 0.5
    # All rows on one line of tiny length: the start is the optimum.
    model = SphericalPCA(1, max_iter=1, **options).fit(np.tile([0.0, 1e-17], (7, 1)))
    assert model.mean_cosine_ == pytest.approx(1)
