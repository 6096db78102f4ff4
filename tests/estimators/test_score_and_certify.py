"""score, certify and sample weights."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import Certificate, SphericalPCA
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.solvers import Linearized

ALL = [*SOLVERS, Linearized(lam="block", mu="block", order="vu")]


@pytest.fixture(params=[np.asarray, sparse.csr_array], ids=["dense", "csr"])
def kind(request):
    return request.param


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("center", [True, False])
def test_score_is_the_mean_cosine(X, weight, kind, normalize, center):
    model = SphericalPCA(3, normalize=normalize, center=center).fit(kind(X), sample_weight=weight)
    assert model.score(kind(X), sample_weight=weight) == pytest.approx(model.mean_cosine_)
    new = np.random.default_rng(2).standard_normal((15, 7))
    w = np.arange(15.0)
    Z = new - (model.mean_ if center else 0)
    cosines = np.linalg.norm(Z @ model.components_.T, axis=1) / np.linalg.norm(Z, axis=1)
    assert model.score(kind(new)) == pytest.approx(cosines.mean())
    assert model.score(kind(new), sample_weight=w) == pytest.approx(np.average(cosines, weights=w))
    assert type(model.score(kind(new))) is float


def test_score_takes_and_ignores_y(X):
    model = SphericalPCA(3).fit(X, np.arange(40))
    assert model.score(X, np.arange(40)) == model.score(X)


def test_score_leaves_zero_rows_out(X, kind):
    model = SphericalPCA(3).fit(X)
    padded = np.vstack([X, np.zeros((10, 7))])
    assert model.score(kind(padded)) == pytest.approx(model.score(X), rel=1e-12)


def test_score_of_a_row_outside_the_subspace_is_zero():
    model = SphericalPCA(1).fit([[1.0, 0.0], [2.0, 0.0]])
    assert model.score([[0.0, 3.0]]) == pytest.approx(0, abs=1e-12)
    assert model.score([[5.0, 0.0]]) == pytest.approx(1)


@pytest.mark.parametrize("options", [{}, {"center": True}, {"normalize": False}])
def test_certificate_value_and_gap(X, weight, kind, options, oracle):
    model = SphericalPCA(3, **options).fit(kind(X), sample_weight=weight)
    found = model.certify(kind(X), sample_weight=weight)
    Z, w = oracle.rows(X, weight, **options)
    assert isinstance(found, Certificate)
    assert found.value == pytest.approx(oracle.value(Z, w, model.components_.T), rel=1e-10)
    assert found.gap == pytest.approx(found.bound / found.value - 1, abs=1e-14)
    assert found.bound >= found.value
    assert found.rigorous is True


def test_bound_is_not_below_the_optimum_by_sign_enumeration():
    """r = 1: max over signs of ||X'(w s)|| is the optimum."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((9, 4))
        w = rng.uniform(0.1, 2, 9)
        Z = X / np.linalg.norm(X, axis=1, keepdims=True)
        signs = np.array(list(itertools.product([-1, 1], repeat=8)))
        signs = np.hstack([np.ones((len(signs), 1)), signs])
        optimum = np.linalg.norm(signs @ (w[:, None] * Z), axis=1).max()
        model = SphericalPCA(1, n_init=20, random_state=0).fit(X, sample_weight=w)
        found = model.certify(X, sample_weight=w)
        assert found.value == pytest.approx(optimum, rel=1e-6)
        assert found.bound >= optimum * (1 - 1e-12)
        # Any subspace must get a valid bound, not the fitted one only.
        poor = SphericalPCA(1, init="random", random_state=seed, tol=0.9).fit(X, sample_weight=w)
        assert poor.certify(X, sample_weight=w).bound >= optimum * (1 - 1e-12)


def test_gap_is_zero_where_the_optimum_is_certain():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 9))  # inside a plane
    model = SphericalPCA(2, tol=1e-10).fit(X)
    found = model.certify(X)
    assert found.gap == pytest.approx(0, abs=1e-9)
    assert found.value == pytest.approx(50)


def test_certificate_is_tightened_over_s():
    """The bound at s = ||U'x|| alone is several times as loose on isotropic data."""
    X = np.random.default_rng(0).standard_normal((400, 30))
    model = SphericalPCA(5).fit(X)
    Z = X / np.linalg.norm(X, axis=1, keepdims=True)
    s = np.linalg.norm(Z @ model.components_.T, axis=1)
    plain = s.sum() / 2 + np.linalg.eigvalsh((Z.T / s) @ Z)[-5:].sum() / 2
    found = model.certify(X)
    assert found.gap < 0.5 * (plain / found.value - 1)


def test_certificate_of_a_truncated_model_and_of_new_data(X):
    model = SphericalPCA(4).fit(X)
    fewer = model.truncate(2).certify(X)
    best = SphericalPCA(2, n_init=10, random_state=0).fit(X)
    assert fewer.bound >= best.certify(X).value * (1 - 1e-12)
    new = np.random.default_rng(5).standard_normal((30, 7))
    other = SphericalPCA(4, n_init=10, random_state=0).fit(new)
    assert model.certify(new).bound >= other.certify(new).value * (1 - 1e-12)
    assert model.certify(new).gap > other.certify(new).gap


def test_more_features_than_can_be_decomposed_are_not_called_rigorous():
    wide = sparse.random_array((2100, 2100), density=0.002, random_state=0, format="csr")
    wide = (wide + sparse.eye_array(2100)).tocsr()
    model = SphericalPCA(2, tol=1e-2).fit(wide)
    found = model.certify(wide)
    assert found.rigorous is False
    assert found.gap >= 0
    few = wide[:50]
    assert model.certify(few).rigorous is True  # few rows: the n x n products suffice


@pytest.mark.parametrize("center", [False, True])
def test_certificate_of_wide_data_agrees_for_dense_and_sparse(center):
    """More than 2048 features: by way of the inner products of the rows."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 2100)) + 0.2
    X += 0.5 * rng.standard_normal(X.shape)
    X[rng.random(X.shape) < 0.5] = 0
    model = SphericalPCA(3, center=center, random_state=0).fit(X)
    dense, csr = model.certify(X), model.certify(sparse.csr_array(X))
    narrow = np.linalg.svd(X - (X.mean(axis=0) if center else 0), full_matrices=False)
    Z = narrow.U * narrow.S  # the same rows in 30 dimensions
    same = SphericalPCA(3).fit(Z).certify(Z)
    for found in (dense, csr):
        assert found.rigorous is True
        assert found.value == pytest.approx(same.value, rel=1e-5)
        assert found.bound == pytest.approx(same.bound, rel=1e-3)


@pytest.mark.parametrize("solver", ALL)
@pytest.mark.parametrize("options", [{}, {"center": True}, {"normalize": False}])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_equal_repetition(X, kind, solver, options):
    times = np.arange(40) % 4  # weight 0 leaves a row out
    kept = SphericalPCA(3, solver=solver, max_iter=60, **options)
    kept.fit(kind(X), sample_weight=times)
    many = SphericalPCA(3, solver=solver, max_iter=60, **options)
    repeated = np.repeat(X, times, axis=0)
    many.fit(kind(repeated))
    np.testing.assert_allclose(kept.components_, many.components_, atol=1e-8)
    for name in ("mean_cosine_", "loss_", "svd_ratio_", "component_weights_"):
        np.testing.assert_allclose(getattr(kept, name), getattr(many, name), rtol=1e-9)
    assert kept.n_iter_ == many.n_iter_
    for name in set(kept.history_) - {"seconds", "flops", "residual", "decrease_ratio"}:
        np.testing.assert_allclose(
            kept.history_[name], many.history_[name], rtol=1e-6, atol=1e-9, err_msg=name
        )
    np.testing.assert_allclose(kept.transform(X), many.transform(X), atol=1e-8)
    assert kept.score(X, sample_weight=times) == pytest.approx(many.score(repeated))
    ours, theirs = kept.certify(X, sample_weight=times), many.certify(repeated)
    assert ours.value == pytest.approx(theirs.value)
    assert ours.bound == pytest.approx(theirs.bound, rel=1e-3)


def test_weights_of_one_are_no_weights(X):
    plain = SphericalPCA(3).fit(X)
    for weight in (np.ones(40), [1] * 40, np.ones(40, dtype=np.float32), 1.0):
        model = SphericalPCA(3).fit(X, sample_weight=weight)
        np.testing.assert_allclose(model.components_, plain.components_, atol=1e-12)
        assert model.loss_ == pytest.approx(plain.loss_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("factor", [1e-60, 1e-6, 1e6, 1e60])
def test_a_common_factor_of_the_weights_does_not_move_the_subspace(
    X, weight, factor, dtype, oracle
):
    X = X.astype(dtype)
    plain = SphericalPCA(3).fit(X, sample_weight=weight)
    scaled = SphericalPCA(3).fit(X, sample_weight=factor * weight)
    atol = 1e-8 if dtype is np.float64 else 1e-3
    P, Q = oracle.projector(plain.components_), oracle.projector(scaled.components_)
    np.testing.assert_allclose(Q, P, atol=atol)
    assert scaled.mean_cosine_ == pytest.approx(plain.mean_cosine_, rel=1e-5)
    assert scaled.n_iter_ == plain.n_iter_


def test_weights_are_not_modified(X, weight):
    weight.flags.writeable = False
    before = weight.copy()
    model = SphericalPCA(3).fit(X, sample_weight=weight)
    model.score(X, sample_weight=weight)
    model.certify(X, sample_weight=weight)
    np.testing.assert_array_equal(weight, before)
