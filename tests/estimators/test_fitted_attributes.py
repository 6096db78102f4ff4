"""Every fitted attribute against its formula, computed in plain numpy."""

import contextlib

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sphericalpca import NoDirectionWarning, SphericalPCA
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.solvers import Alternating, Linearized, Start

ALGORITHM_1 = Linearized(lam="block", mu="block")


FITS = {
    "default": ("auto", True, False, np.asarray, float),
    "float32": ("auto", True, False, np.asarray, np.float32),
    "raw": ("alternating", False, False, np.asarray, float),
    "centred-sparse": ("auto", True, True, sparse.csr_array, float),
    "raw-centred": ("auto", False, True, np.asarray, float),
    "anderson": ("anderson", True, False, np.asarray, float),
    "subspace-float32": ("subspace", True, False, np.asarray, np.float32),
    "subspace-centred-sparse": ("subspace", True, True, sparse.csr_array, float),
    "subspace-raw": ("subspace", False, False, sparse.csc_array, float),
    "newton": ("newton", True, False, np.asarray, float),
    "algorithm-1": (ALGORITHM_1, True, False, np.asarray, float),
    "algorithm-1-raw": (ALGORITHM_1, False, False, sparse.csr_array, float),
}
HISTORIES = {
    "Linearized": {"delta_U", "delta_V", "decrease_ratio", "subgradient"},
    "Subspace": {"small_iterations"},
    "Newton": {"hessian_products", "radius"},
}


@pytest.mark.parametrize("options", FITS.values(), ids=FITS)
def test_every_attribute_is_that_of_its_formula(X, weight, oracle, options):
    solver, normalize, center, kind, dtype = options
    X = np.vstack([X[:10], np.zeros((3, 7)), X[10:]]).astype(dtype)
    weight = np.insert(weight, [10, 10, 10], 5.0)
    model = SphericalPCA(3, solver=solver, normalize=normalize, center=center, init="svd", tol=1e-5)
    with contextlib.nullcontext() if center else pytest.warns(NoDirectionWarning, match="3 of 43"):
        model.fit(kind(X), sample_weight=weight)
    Z, w = oracle.rows(X, weight, normalize=normalize, center=center)
    tol = 1e-9 if dtype is float else 2e-5

    # Components are orthonormal, decorrelated, in order of their weights, and signed.
    C = model.components_
    assert C.shape == (3, model.n_features_in_) == (3, 7)
    assert C.dtype == dtype
    np.testing.assert_allclose(C @ C.T, np.eye(3), atol=tol)
    U = C.T.astype(float)
    V = oracle.best_components(Z, U)
    moment = V.T @ (w[:, None] * V) / w.sum()
    np.testing.assert_allclose(moment, np.diag(np.diag(moment)), atol=tol)
    assert (np.diff(np.diag(moment)) < 0).all()
    assert (C[range(3), np.abs(C).argmax(axis=1)] > 0).all()
    eigenvalues = np.linalg.eigvalsh(moment)[::-1]
    np.testing.assert_allclose(model.component_weights_, eigenvalues, atol=tol)
    assert model.component_weights_.sum() == pytest.approx(1, abs=1e-12)

    # Numbers are those of the rows that have a direction.
    cosines = np.linalg.norm(Z @ U, axis=1) / np.linalg.norm(Z, axis=1)
    assert model.mean_cosine_ == pytest.approx(np.average(cosines, weights=w), rel=tol)
    assert model.loss_ == pytest.approx(oracle.loss(Z, w, U, V), rel=tol)
    start = oracle.value(Z, w, oracle.svd_start(Z, w, 3))
    assert model.svd_ratio_ == pytest.approx(start / oracle.value(Z, w, U), rel=10 * tol)
    assert model.svd_ratio_ < 1
    assert model.residual_ == pytest.approx(oracle.residual(Z, w, U), rel=1e-3, abs=tol)
    assert model.residual_ <= 1e-5
    assert model.stop_reason_ == "converged"

    # The history is complete.
    common = {"loss", "residual", "passes", "flops", "seconds"}
    assert set(model.history_) == common | HISTORIES.get(type(model.solver_).__name__, set())
    assert model.n_iter_ > 1
    for record in model.history_.values():
        assert isinstance(record, np.ndarray)
        assert record.shape == (model.n_iter_,)
    assert model.history_["residual"][-1] == model.residual_
    assert (model.history_["residual"][:-1] > model.tol).all()

    # Types are plain: what a user prints, compares or writes to JSON.
    assert (type(model.n_iter_), type(model.n_passes_), type(model.stop_reason_)) == (
        int,
        float,
        str,
    )
    assert model.n_passes_ % 0.5 == 0
    for name in ("mean_cosine_", "loss_", "svd_ratio_", "residual_"):
        assert type(getattr(model, name)) is float, name
    assert not hasattr(model, "feature_names_in_")


def test_mean_is_the_weighted_mean(X, weight):
    expected = weight @ X / weight.sum()
    for kind in (np.asarray, sparse.csr_array, sparse.csc_matrix):
        model = SphericalPCA(center=True).fit(kind(X), sample_weight=weight)
        np.testing.assert_allclose(model.mean_, expected, atol=1e-14)
    assert SphericalPCA().fit(X).mean_ is None


@pytest.mark.parametrize("solver", SOLVERS)
def test_svd_ratio_is_nan_without_an_svd_start(X, solver):
    U = np.linalg.qr(np.random.default_rng(1).standard_normal((7, 2)))[0]
    for init in ("random", U):
        model = SphericalPCA(solver=solver, init=init, n_init=2, tol=0.5, random_state=0).fit(X)
        assert np.isnan(model.svd_ratio_)


def test_the_best_of_several_starts_is_kept(oracle):
    X = np.random.default_rng(3).standard_normal((12, 8))
    one = [SphericalPCA(1, init="random", random_state=s).fit(X).mean_cosine_ for s in range(8)]
    assert np.ptp(one) > 0.01  # there are local optima to tell apart
    fits = [SphericalPCA(1, n_init=k, random_state=0).fit(X) for k in (1, 3, 6, 10)]
    assert (np.diff([model.mean_cosine_ for model in fits]) >= -1e-12).all()
    Z, w = oracle.rows(X)
    start = oracle.value(Z, w, oracle.svd_start(Z, w, 1))
    reached = oracle.value(Z, w, fits[-1].components_.T)
    assert fits[-1].svd_ratio_ == pytest.approx(start / reached)


@pytest.mark.parametrize(("solver", "tol"), [(s, t) for s in SOLVERS for t in (0, 1e-14)])
def test_max_iter_is_a_stated_reason(X, solver, tol):
    with pytest.warns(ConvergenceWarning) as caught:
        model = SphericalPCA(solver=solver, tol=tol, max_iter=3 if tol else 7).fit(X)
    assert len(caught) == 1
    assert (model.n_iter_, model.stop_reason_) == (3 if tol else 7, "max_iter")


def test_refitting_forgets_the_first_fit(X):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdefg"))
    model = SphericalPCA(center=True).fit(frame)
    assert list(model.feature_names_in_) == list("abcdefg")
    model.set_params(center=False, n_components=3).fit(X[:, :5])
    fresh = SphericalPCA(3).fit(X[:, :5])
    assert vars(model).keys() == vars(fresh).keys(), "no mean and no names of features"
    np.testing.assert_array_equal(model.components_, fresh.components_)
    assert model.mean_ is None


def test_same_seed_same_result(X):
    for options in ({"init": "random"}, {"n_init": 3}, {}):
        first, second = (SphericalPCA(random_state=5, **options).fit(X) for _ in range(2))
        np.testing.assert_array_equal(first.components_, second.components_)


@pytest.mark.parametrize("given", [np.eye(6, 4), Start(np.eye(6, 4)), "random"], ids=type)
def test_a_truncated_model_can_be_fitted_again(given):
    X = np.random.default_rng(0).standard_normal((40, 6))
    full = SphericalPCA(4, init=given, random_state=0).fit(X)
    short = full.truncate(2)
    assert full.init is given
    assert short.init == (given if isinstance(given, str) else "auto")
    assert clone(short).fit(X).n_components_ == short.fit(X).n_components_ == 2


class Interrupted(Alternating):
    """Ctrl-C in the middle of a long fit."""

    def step(self, problem, state):
        raise KeyboardInterrupt


BROKEN_REFITS = {
    "nan": lambda m, X: m.fit(np.full((4, 3), np.nan)),
    "zero": lambda m, X: m.fit(np.zeros((4, 3))),
    "constant": lambda m, X: m.fit(np.ones((4, 3))),
    "few rows": lambda m, X: m.fit(X[:1, :4]),
    "weights": lambda m, X: m.fit(X[:, :5], sample_weight=[-1.0] * 40),
    "start": lambda m, X: m.set_params(init=np.eye(3)).fit(X[::2, :5]),
    "parameter": lambda m, X: m.set_params(tol=-1).fit(X[:, :5]),
    "interrupted": lambda m, X: m.set_params(solver=Interrupted()).fit(2 + X[::2]),
}


@pytest.mark.parametrize("broken", BROKEN_REFITS)
def test_a_refit_that_fails_leaves_the_old_model_usable(X, broken):
    """A new mean_ or n_features_in_ with old components_ belongs to neither model."""
    for center in (True, False) if broken != "constant" else (True,):
        model = SphericalPCA(3, center=center).fit(X)
        V = model.transform(X)
        with pytest.raises((ValueError, KeyboardInterrupt)):
            BROKEN_REFITS[broken](model, X)
        np.testing.assert_array_equal(model.transform(X), V)


def test_a_warning_made_an_error_loses_no_result(X):
    """The suite of a careful user turns warnings into errors."""
    model = SphericalPCA(3, max_iter=1, tol=1e-12)
    with pytest.warns(ConvergenceWarning):
        expected = SphericalPCA(3, max_iter=1, tol=1e-12).fit_transform(X)
    with pytest.raises(ConvergenceWarning):
        model.fit(X)
    np.testing.assert_array_equal(model.transform(X), expected)
