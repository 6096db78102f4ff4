"""Small, degenerate and badly placed data that must work."""

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import NoDirectionWarning, SphericalPCA
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.solvers import Linearized

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def kind(layout):
    return sparse.csr_array if layout == "csr" else np.asarray


def check(model, data):
    """Check what holds for any fitted model, and return its components."""
    C = model.components_
    atol = 1e-10 if C.dtype == np.float64 else 1e-5
    np.testing.assert_allclose(C @ C.T, np.eye(len(C)), atol=atol)
    np.testing.assert_allclose(model.component_weights_.sum(), 1)
    assert (model.component_weights_ >= 0).all()
    V = model.transform(data)
    np.testing.assert_allclose(np.linalg.norm(V, axis=1), np.ones(data.shape[0]), atol=atol)
    assert 0 <= model.mean_cosine_ <= 1 + atol
    assert np.isfinite([model.loss_, model.residual_]).all()
    found = model.certify(data)
    assert np.isfinite(found.bound)
    assert found.gap >= 0
    for record in model.history_.values():
        assert not np.isnan(record).any()
    return V


def _low_rank(m):
    rng = np.random.default_rng(0)
    return rng.standard_normal((12, 2)) @ rng.standard_normal((2, m))


# The dimension of the subspace of the data, or None; and a number of components.
HARD = {
    "one row": (np.array([[3.0, 0.0, -4.0]]), 1, 1),
    "one number": (np.array([[-7.0]]), 1, 1),
    "one feature": (np.array([[1.0], [-2.0], [3.0]]), 1, 1),
    "identical rows": (np.tile([1.0, 2.0, 0.0, -2.0], (6, 1)), 1, 2),
    "low rank": (_low_rank(9), 2, 5),
    "low rank and a randomized start": (_low_rank(1030), 2, 5),
    "disjoint supports": (np.kron(np.eye(3), np.ones((4, 2))), 3, 3),
    "all components": (_low_rank(9) + np.eye(12, 9), 9, 9),
    "as many components as rows": (_low_rank(9)[:4] + np.eye(4, 9), 4, 4),
    "the identity": (np.eye(6), None, 3),
}


@pytest.mark.parametrize("name", HARD)
def test_degenerate_data_are_fitted_exactly(name, kind, float_type):
    X, rank, r = HARD[name]
    data = kind(X.astype(float_type))
    close = {"rtol": 0, "atol": 1e-5 if float_type == np.float32 else 1e-9}
    for solver in (*SOLVERS, Linearized("block", "block")):
        model = SphericalPCA(r, solver=solver, max_iter=50, random_state=0).fit(data)
        check(model, data)
        if rank is not None:
            np.testing.assert_allclose(model.mean_cosine_, 1, **close)
            np.testing.assert_allclose(model.loss_ / len(X), 0, **close)
            np.testing.assert_allclose(model.component_weights_[rank:], 0, **close)
        if X.shape[1] == 1:
            np.testing.assert_array_equal(model.transform(data), np.sign(X))


def test_one_sample_is_its_own_component():
    x = np.array([[3.0, 0.0, -4.0]])
    for normalize in (True, False):
        model = SphericalPCA(1, normalize=normalize).fit(x)
        np.testing.assert_allclose(model.components_, [[-0.6, 0, 0.8]], atol=1e-12)
        assert model.loss_ == pytest.approx(0 if normalize else 16, abs=1e-12)  # (5 - 1)^2


def test_saddles_of_one_hot_rows_are_left(kind):
    """10 times e1 and 9 times e2: the SVD start has residual 0 but is not optimal."""
    model = SphericalPCA(1).fit(kind(np.eye(2)[[0] * 10 + [1] * 9]))
    assert 19 * model.mean_cosine_ == pytest.approx(np.sqrt(10**2 + 9**2))
    assert model.svd_ratio_ == pytest.approx(10 / np.sqrt(181))
    X = np.eye(6)[np.repeat(np.arange(6), [6, 5, 4, 3, 2, 1])]
    model = SphericalPCA(2, n_init=5, random_state=0).fit(kind(X))
    assert (np.linalg.norm(X @ model.components_.T, axis=1) > 1e-3).all()
    assert 21 * model.mean_cosine_ > 11 * 1.1  # leaving no row out beats the SVD's 6 + 5
    check(model, kind(X))


def test_more_features_than_the_gram_matrix_is_formed_for(kind, oracle):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 1300))
    X += 0.1 * rng.standard_normal(X.shape)
    model = SphericalPCA(3, tol=1e-6, random_state=0).fit(kind(X))
    Z, w = oracle.rows(X)
    start = oracle.value(Z, w, oracle.svd_start(Z, w, 3))
    reached = oracle.value(Z, w, model.components_.T)
    assert model.svd_ratio_ == pytest.approx(start / reached, rel=1e-6)
    check(model, kind(X))


@pytest.mark.parametrize("normalize", [True, False])
def test_centring_survives_large_offsets(X, kind, normalize, oracle):
    """One column far from zero: after centring it is like any other."""
    for offset, dtype in ((1e3, np.float64), (1e9, np.float64), (1e3, np.float32)):
        moved = (X + offset * (np.arange(7) == 2)).astype(dtype)
        exact = moved.astype(np.float64) - moved.astype(np.float64).mean(axis=0)
        expected = SphericalPCA(3, normalize=normalize).fit(exact)
        model = SphericalPCA(3, normalize=normalize, center=True).fit(kind(moved))
        atol = 1e-12 * offset + 1e-10 if dtype == np.float64 else 2e-3
        P, Q = oracle.projector(expected.components_), oracle.projector(model.components_)
        np.testing.assert_allclose(Q, P, atol=atol)
        assert model.mean_cosine_ == pytest.approx(expected.mean_cosine_, abs=atol)
        V = model.transform(kind(moved))
        np.testing.assert_allclose(V, expected.transform(exact), atol=5 * atol)


def test_denormal_rows_count_as_zero(kind):
    X = np.array([[5e-324, 0.0], [1.0, 2.0], [0.0, 1.0]])
    with pytest.warns(NoDirectionWarning, match="1 of 3"):
        model = SphericalPCA(1).fit(kind(X))
    with pytest.warns(NoDirectionWarning, match="1 of 3"):
        assert not model.transform(kind(X))[0].any()
