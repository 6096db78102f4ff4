"""Small, degenerate and badly placed data that must work."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import NoDirectionWarning, SphericalPCA
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.solvers import Linearized

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(params=[np.asarray, sparse.csr_array], ids=["dense", "csr"])
def kind(request):
    return request.param


@pytest.fixture(params=[*SOLVERS, Linearized("block", "block")], ids=str)
def solver(request):
    return request.param


def check(model, data, n_rows):
    """What holds for every fitted model."""
    C = model.components_
    atol = 1e-10 if C.dtype == np.float64 else 1e-5
    np.testing.assert_allclose(C @ C.T, np.eye(len(C)), atol=atol)
    np.testing.assert_allclose(model.component_weights_.sum(), 1)
    assert (model.component_weights_ >= 0).all()
    V = model.transform(data)
    np.testing.assert_allclose(np.linalg.norm(V, axis=1), np.ones(n_rows), atol=atol)
    assert 0 <= model.mean_cosine_ <= 1 + atol
    assert np.isfinite([model.loss_, model.residual_]).all()
    found = model.certify(data)
    assert np.isfinite(found.bound)
    assert found.gap >= 0
    for record in model.history_.values():
        assert not np.isnan(record).any()
    return V


@pytest.mark.parametrize("normalize", [True, False])
def test_one_sample(kind, solver, normalize):
    x = np.array([[3.0, 0.0, -4.0]])
    model = SphericalPCA(1, solver=solver, normalize=normalize).fit(kind(x))
    check(model, kind(x), 1)
    np.testing.assert_allclose(model.components_, [[-0.6, 0, 0.8]], atol=1e-12)
    assert model.mean_cosine_ == pytest.approx(1)
    assert model.loss_ == pytest.approx(0 if normalize else 16, abs=1e-12)  # (5 - 1)^2


def test_one_number(solver):
    model = SphericalPCA(1, solver=solver).fit([[-7.0]])
    np.testing.assert_array_equal(model.components_, [[1]])
    np.testing.assert_array_equal(model.transform([[-7.0], [2.0]]), [[-1], [1]])


def test_one_feature(kind, solver):
    X = np.array([[1.0], [-2.0], [3.0]])
    model = SphericalPCA(1, solver=solver).fit(kind(X))
    np.testing.assert_array_equal(model.transform(kind(X)), np.sign(X))
    check(model, kind(X), 3)


def test_one_component_is_a_line_and_the_best_of_all_signs(X, kind):
    """r = 1: the answer is X's for some signs, and no local change improves it."""
    Z = X[:10] / np.linalg.norm(X[:10], axis=1, keepdims=True)
    signs = np.array(list(itertools.product([-1, 1], repeat=10)))
    model = SphericalPCA(1, n_init=20, random_state=0).fit(kind(X[:10]))
    best = np.linalg.norm(signs @ Z, axis=1).max()
    assert 10 * model.mean_cosine_ == pytest.approx(best, rel=1e-8)
    assert set(np.unique(check(model, kind(X[:10]), 10).round(12))) <= {-1.0, 1.0}


@pytest.mark.parametrize("center", [False, True])
def test_as_many_components_as_features(X, kind, solver, center):
    model = SphericalPCA(7, solver=solver, center=center).fit(kind(X))
    check(model, kind(X), 40)
    assert model.mean_cosine_ == pytest.approx(1)
    assert model.loss_ == pytest.approx(0, abs=1e-10)


def test_as_many_components_as_rows(X, kind, solver):
    few = X[:4]
    model = SphericalPCA(4, solver=solver).fit(kind(few))
    check(model, kind(few), 4)
    assert model.mean_cosine_ == pytest.approx(1)


@pytest.mark.parametrize("m", [9, 1030])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rank_below_the_number_of_components(kind, solver, m, dtype):
    """Also where the start is a randomized SVD (m > 1024)."""
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((12, 2)) @ rng.standard_normal((2, m))).astype(dtype)
    model = SphericalPCA(5, solver=solver, max_iter=30, random_state=0).fit(kind(X))
    check(model, kind(X), 12)
    assert model.mean_cosine_ == pytest.approx(1, rel=1e-5)
    np.testing.assert_allclose(model.component_weights_[2:], 0, atol=1e-5)


def test_identical_rows(kind, solver):
    X = np.tile([1.0, 2.0, 0.0, -2.0], (6, 1))
    model = SphericalPCA(2, solver=solver).fit(kind(X))
    check(model, kind(X), 6)
    assert model.mean_cosine_ == pytest.approx(1)
    np.testing.assert_allclose(model.component_weights_, [1, 0], atol=1e-12)
    np.testing.assert_allclose(np.abs(model.components_[0]), [1 / 3, 2 / 3, 0, 2 / 3])


def test_rows_and_their_negatives(X, kind, solver):
    """A sign says nothing about a line."""
    plain = SphericalPCA(2, solver=solver, tol=1e-8).fit(kind(X))
    flipped = X * np.where(np.arange(40) % 3, 1, -1)[:, None]
    model = SphericalPCA(2, solver=solver, tol=1e-8).fit(kind(flipped))
    np.testing.assert_allclose(model.components_, plain.components_, atol=1e-10)


def test_the_saddle_of_two_directions(kind):
    """10 times e1 and 9 times e2: the SVD start has residual 0 but is not optimal."""
    X = np.eye(2)[[0] * 10 + [1] * 9]
    model = SphericalPCA(1).fit(kind(X))
    assert 19 * model.mean_cosine_ == pytest.approx(np.sqrt(10**2 + 9**2))
    assert model.svd_ratio_ == pytest.approx(10 / np.sqrt(181))


def test_one_hot_rows(kind):
    X = np.eye(6)[np.repeat(np.arange(6), [6, 5, 4, 3, 2, 1])]
    model = SphericalPCA(2, n_init=5, random_state=0).fit(kind(X))
    assert (np.linalg.norm(X @ model.components_.T, axis=1) > 1e-3).all()
    assert 21 * model.mean_cosine_ > 11 * 1.1  # leaving no row out beats the SVD's 6 + 5
    check(model, kind(X), 21)


@pytest.mark.parametrize("n_components", [1, 3, 6])
def test_the_identity_matrix(kind, solver, n_components):
    model = SphericalPCA(n_components, solver=solver, max_iter=50).fit(kind(np.eye(6)))
    check(model, kind(np.eye(6)), 6)


def test_data_inside_a_plane_are_recovered(kind, solver, oracle):
    rng = np.random.default_rng(3)
    basis = np.linalg.qr(rng.standard_normal((8, 3)))[0]
    X = rng.standard_normal((50, 3)) @ basis.T
    model = SphericalPCA(3, solver=solver).fit(kind(X))
    np.testing.assert_allclose(oracle.projector(model.components_), basis @ basis.T, atol=1e-10)
    assert model.certify(kind(X)).gap == pytest.approx(0, abs=1e-9)


def test_more_features_than_the_gram_matrix_is_formed_for(kind, oracle):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 1300))
    X += 0.1 * rng.standard_normal(X.shape)
    model = SphericalPCA(3, tol=1e-6, random_state=0).fit(kind(X))
    Z, w = oracle.rows(X)
    start = oracle.value(Z, w, oracle.svd_start(Z, w, 3))
    reached = oracle.value(Z, w, model.components_.T)
    assert model.svd_ratio_ == pytest.approx(start / reached, rel=1e-6)
    check(model, kind(X), 60)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
def test_centring_survives_large_offsets(X, kind, normalize, offset, oracle):
    """One column far from zero: after centring it is like any other."""
    moved = X.copy()
    moved[:, 2] += offset
    exact = moved - moved.mean(axis=0)
    expected = SphericalPCA(3, normalize=normalize).fit(exact)
    model = SphericalPCA(3, normalize=normalize, center=True).fit(kind(moved))
    atol = 1e-12 * offset + 1e-10
    P, Q = oracle.projector(expected.components_), oracle.projector(model.components_)
    np.testing.assert_allclose(Q, P, atol=atol)
    assert model.mean_cosine_ == pytest.approx(expected.mean_cosine_, abs=atol)
    np.testing.assert_allclose(model.transform(kind(moved)), expected.transform(exact), atol=atol)


def test_centring_survives_large_offsets_in_float32(X, kind, oracle):
    moved = (X + 1e3 * (np.arange(7) == 2)).astype(np.float32)
    exact = moved.astype(np.float64) - moved.astype(np.float64).mean(axis=0)
    expected = SphericalPCA(3).fit(exact)
    model = SphericalPCA(3, center=True).fit(kind(moved))
    P, Q = oracle.projector(expected.components_), oracle.projector(model.components_)
    np.testing.assert_allclose(Q, P, atol=2e-3)
    assert model.mean_cosine_ == pytest.approx(expected.mean_cosine_, abs=1e-4)


def test_denormal_rows_count_as_zero(kind):
    X = np.array([[5e-324, 0.0], [1.0, 2.0], [0.0, 1.0]])
    with pytest.warns(NoDirectionWarning, match="1 of 3"):
        model = SphericalPCA(1).fit(kind(X))
    with pytest.warns(NoDirectionWarning, match="1 of 3"):
        assert not model.transform(kind(X))[0].any()


def test_rows_that_are_zero_where_the_others_are_not(kind):
    """Disjoint supports: most projections on the first component vanish."""
    X = np.kron(np.eye(3), np.ones((4, 2)))
    model = SphericalPCA(3).fit(kind(X))
    check(model, kind(X), 12)
    assert model.mean_cosine_ == pytest.approx(1)
