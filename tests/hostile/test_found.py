"""What hostile data have found: each case by name, so that it stays found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import R1PCA, DataError, NoDirectionWarning, SphericalPCA
from sphericalpca.evaluation import race
from sphericalpca.metrics import (
    mean_share,
    nearest_neighbours,
    paired_difference,
)
from sphericalpca.registry.solvers import SOLVERS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def X():
    rng = np.random.default_rng(2)
    return rng.standard_normal((12, 2)) @ rng.standard_normal((2, 5))


def test_raw_single_rows_whose_sum_is_out_of_range(X):
    """The length of the longest times their number is compared in float64, without a warning."""
    X = X.astype(np.float32)
    X[3] *= np.float32(1e38) / np.abs(X[3]).max()
    with pytest.raises(DataError, match="too long for the sums of 12 rows in float32: rescale X"):
        SphericalPCA(normalize=False).fit(X)


def test_a_row_of_weight_zero_that_is_too_long_for_squares(X):
    """Zero times infinity is NaN."""
    X[0] *= 1e200
    model = SphericalPCA(1, normalize=False).fit(X, sample_weight=[0, *[1] * 11])
    expected = SphericalPCA(1, normalize=False).fit(X[1:])
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-6)
    assert model.loss_ == pytest.approx(expected.loss_)


@pytest.mark.parametrize("center", [False, True])
def test_rows_that_are_longer_than_the_largest_number(X, layout, center, float_type):
    """Every entry is in range; its projection would not be."""
    X = X.astype(float_type)
    X[7] = np.finfo(float_type).max * np.array([0.9, -0.8, 0.9, 0.9, -0.7], float_type)
    data = sparse.csr_array(X) if layout == "csr" else X
    with pytest.raises(DataError, match=r"Row 7 of X has length .*: rescale X"):
        SphericalPCA(1, center=center).fit(data)
    model = SphericalPCA(1).fit(np.eye(5, dtype=float_type))
    for call in (model.transform, model.score, model.certify):
        with pytest.raises(DataError, match="Row 7 of X has length"):
            call(data)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_size_of_all_weights_does_not_matter(X, solver, float_type):
    """Also where they leave the range of the data's own type."""
    options = {"solver": solver, "max_iter": 5, "tol": 0.0, "random_state": 0}
    X, weight = X.astype(float_type), np.linspace(1, 2, 12)
    plain = SphericalPCA(**options).fit(X, sample_weight=weight)
    for size in (1e-95, 1e-60, 1e60, 1e95):
        model = SphericalPCA(**options).fit(X, sample_weight=weight * size)
        # Constants of Algorithm 1 grow with the weights on one side of its step only.
        rel = 0.05 if solver == "linearized" else 1e-5
        assert model.mean_cosine_ == pytest.approx(plain.mean_cosine_, rel=rel)
        assert np.isfinite(model.loss_)


def test_weights_whose_sum_is_out_of_range(X):
    for size in (5e-324, 1e-200, 1e200, 1e308):
        with pytest.raises(DataError, match=r"weights sum to .* but must sum to at least 1e-100"):
            SphericalPCA().fit(X, sample_weight=np.full(12, size))


def test_neighbours_in_any_kind_of_matrix(X):
    near = nearest_neighbours(X, k=3).ids
    for kind in (np.ndarray.tolist, sparse.bsr_array, sparse.coo_array):
        np.testing.assert_array_equal(nearest_neighbours(kind(X), k=3).ids, near)
        np.testing.assert_array_equal(nearest_neighbours(X, kind(X[:2]), 4).ids[:, 1:], near[:2])
    for wrong in ([], [[]], [["a"]], np.ones(3), np.ones((2, 2)) * 1j, None):
        with pytest.raises(DataError, match="must be a matrix of real numbers"):
            nearest_neighbours(wrong)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("metric", ["inner", "euclidean"])
@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 1e20), (np.float64, 1e160)])
def test_neighbours_whose_products_are_out_of_range(X, kind, metric, dtype, size):
    data = kind((X * size).astype(dtype))
    with pytest.raises(DataError, match="too large for products in float"):
        nearest_neighbours(data, k=2, metric=metric)
    np.testing.assert_array_equal(
        nearest_neighbours(data, k=2).ids, nearest_neighbours(kind(X.astype(dtype)), k=2).ids
    )


def test_neighbours_of_long_rows_in_a_short_base(X):
    """Only the product must be in range, not the square of each."""
    found = nearest_neighbours(X * 1e-100, X * 1e200, 2, metric="inner")
    np.testing.assert_array_equal(found.ids, nearest_neighbours(X, X, 2, metric="inner").ids)


def test_large_differences():
    near, far = (paired_difference([0.0, 2.0 * c, 3.0 * c], [c, 0.0, c]) for c in (1.0, 1e300))
    for name in ("mean", "low", "high"):
        assert getattr(far, name) / 1e300 == pytest.approx(getattr(near, name))
    with pytest.raises(ValueError, match="1 of 2 pairs are not finite"):
        paired_difference([1e308, 0], [-1e308, 1])


def test_a_race_of_equal_rows_and_of_a_single_row_or_column():
    for rows in ([[0.5, 0.2]], [[0.2], [0.3]]):
        with pytest.raises(DataError, match="at least 2 rows and 2 columns"):
            race(rows, 1)
    ours, svd, centred = race(np.ones((5, 3)), 1, rounds=1)
    assert ours.mean_cosine == pytest.approx(1) == svd.mean_cosine
    assert 0 <= centred.mean_cosine <= 1  # about their mean nothing is left of them


def test_complex_shares_are_refused():
    with pytest.raises(ValueError, match="complex64, but must be a list of numbers"):
        mean_share(np.array([0.5 + 0j], dtype=np.complex64), 1)


@pytest.mark.parametrize("model", [SphericalPCA(1, center=True), R1PCA(1)], ids=["ours", "R1PCA"])
def test_one_very_long_sparse_row_about_its_mean(model):
    """Nothing is left of it, and its rounding error squared is out of range."""
    with pytest.raises(DataError, match="zero after centring"):
        model.fit(sparse.csr_array([[1e200, 3e200, -2e200]]))


def test_the_scale_of_a_given_start_says_nothing(X):
    U = np.random.default_rng(0).standard_normal((5, 2))
    expected = SphericalPCA(2, init=U, max_iter=1).fit(X).components_
    for size in (1e-300, 1e-154, 1e154, 1e300):
        found = SphericalPCA(2, init=U * size, max_iter=1).fit(X).components_
        np.testing.assert_allclose(found, expected, atol=1e-7)


def test_rows_below_the_number_range_have_no_curvature():
    X = np.array([[0.07, 0.3], [0.06, 0.4], [-1e-310, -1e-310]])
    model = SphericalPCA(1, solver="newton", normalize=False, random_state=0)
    with pytest.warns(NoDirectionWarning):
        model.fit(X)
    assert np.isfinite(model.components_).all()
