"""score, certify and sample weights; the bound itself is tested in tests/test_certificate.py."""

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


@pytest.mark.parametrize(
    ("normalize", "center"), [(True, True), (True, False), (False, True), (False, False)]
)
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
    assert model.score(new, np.arange(15)) == model.score(new), "y is ignored"
    if not center:  # then zero rows have no direction, and are left out
        padded = kind(np.vstack([new, np.zeros((10, 7))]))
        assert model.score(padded) == pytest.approx(model.score(new), rel=1e-12)


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


def test_certificate_of_a_truncated_model_and_of_new_data(X):
    model = SphericalPCA(4).fit(X)
    fewer = model.truncate(2).certify(X)
    best = SphericalPCA(2, n_init=10, random_state=0).fit(X)
    assert fewer.bound >= best.certify(X).value * (1 - 1e-12)
    new = np.random.default_rng(5).standard_normal((30, 7))
    other = SphericalPCA(4, n_init=10, random_state=0).fit(new)
    assert model.certify(new).bound >= other.certify(new).value * (1 - 1e-12)
    assert model.certify(new).gap > other.certify(new).gap


@pytest.mark.parametrize("solver", ALL, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_equal_repetition(X, kind, solver):
    times = np.arange(40) % 4  # weight 0 leaves a row out
    repeated = np.repeat(X, times, axis=0)
    options = {"center": kind is np.asarray, "solver": solver, "max_iter": 60}
    kept = SphericalPCA(3, **options).fit(kind(X), sample_weight=times)
    many = SphericalPCA(3, **options).fit(kind(repeated))
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


def test_weights_of_one_are_no_weights_and_none_are_modified(X, weight):
    plain = SphericalPCA(3, normalize=False).fit(X)
    for ones in (np.ones(40), [1] * 40, np.ones(40, dtype=np.float32), 1.0):
        model = SphericalPCA(3, normalize=False).fit(X, sample_weight=ones)
        np.testing.assert_allclose(model.components_, plain.components_, atol=1e-12)
        assert model.loss_ == pytest.approx(plain.loss_)
    weight.flags.writeable = False
    before = weight.copy()
    for call in (plain.fit, plain.score, plain.certify):
        call(X, sample_weight=weight)
    np.testing.assert_array_equal(weight, before)
