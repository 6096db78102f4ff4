"""Every fitted attribute against its formula, computed in plain numpy."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sphericalpca import NoDirectionWarning, SphericalPCA
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.solvers import Linearized, Start

ALGORITHM_1 = Linearized(lam="block", mu="block")


@pytest.fixture(
    params=[
        pytest.param((solver, normalize, center, kind, dtype), id=name)
        for name, solver, normalize, center, kind, dtype in [
            ("default", "auto", True, False, np.asarray, float),
            ("float32", "auto", True, False, np.asarray, np.float32),
            ("sparse", "auto", True, False, sparse.csr_array, float),
            ("raw", "alternating", False, False, np.asarray, float),
            ("raw-sparse", "alternating", False, False, sparse.csr_matrix, float),
            ("centred", "auto", True, True, np.asarray, float),
            ("centred-sparse", "auto", True, True, sparse.csr_array, float),
            ("raw-centred", "auto", False, True, np.asarray, float),
            ("raw-centred-sparse", "auto", False, True, sparse.csc_array, float),
            ("anderson", "anderson", True, False, np.asarray, float),
            ("subspace", "subspace", True, False, np.asarray, float),
            ("subspace-float32", "subspace", True, False, np.asarray, np.float32),
            ("subspace-centred-sparse", "subspace", True, True, sparse.csr_array, float),
            ("subspace-raw", "subspace", False, False, np.asarray, float),
            ("newton", "newton", True, False, np.asarray, float),
            ("algorithm-1", ALGORITHM_1, True, False, np.asarray, float),
            ("algorithm-1-raw", ALGORITHM_1, False, False, sparse.csr_array, float),
        ]
    ]
)
def fitted(request, X, weight, oracle):
    """A model, the rows that it should have seen, their weights, and a tolerance."""
    solver, normalize, center, kind, dtype = request.param
    X = np.vstack([X[:10], np.zeros((3, 7)), X[10:]]).astype(dtype)
    weight = np.insert(weight, [10, 10, 10], 5.0)
    model = SphericalPCA(3, solver=solver, normalize=normalize, center=center, tol=1e-5)
    if center:
        model.fit(kind(X), sample_weight=weight)
    else:
        with pytest.warns(NoDirectionWarning, match="3 of 43"):
            model.fit(kind(X), sample_weight=weight)
    Z, w = oracle.rows(X, weight, normalize=normalize, center=center)
    return model, Z, w, 1e-9 if dtype is float else 2e-5


def test_components_are_orthonormal(fitted):
    model, _, _, tol = fitted
    C = model.components_
    assert C.shape == (3, 7)
    np.testing.assert_allclose(C @ C.T, np.eye(3), atol=tol)


def test_components_are_canonical(fitted, oracle):
    model, Z, w, tol = fitted
    V = oracle.best_components(Z, model.components_.T.astype(float))
    moment = V.T @ (w[:, None] * V) / w.sum()
    np.testing.assert_allclose(moment, np.diag(np.diag(moment)), atol=tol)
    assert (np.diff(np.diag(moment)) < 0).all()
    for component in model.components_:
        assert component[np.argmax(np.abs(component))] > 0


def test_component_weights(fitted, oracle):
    model, Z, w, tol = fitted
    V = oracle.best_components(Z, model.components_.T.astype(float))
    eigenvalues = np.linalg.eigvalsh(V.T @ (w[:, None] * V) / w.sum())[::-1]
    np.testing.assert_allclose(model.component_weights_, eigenvalues, atol=tol)
    assert model.component_weights_.sum() == pytest.approx(1, abs=1e-12)


def test_mean_cosine(fitted):
    model, Z, w, tol = fitted
    U = model.components_.T.astype(float)
    cosines = np.linalg.norm(Z @ U, axis=1) / np.linalg.norm(Z, axis=1)
    assert model.mean_cosine_ == pytest.approx(np.average(cosines, weights=w), rel=tol)
    assert isinstance(model.mean_cosine_, float)


def test_objective_is_the_loss_with_zero_rows_left_out(fitted, oracle):
    model, Z, w, tol = fitted
    U = model.components_.T.astype(float)
    brute_force = oracle.loss(Z, w, U, oracle.best_components(Z, U))
    assert model.loss_ == pytest.approx(brute_force, rel=tol)


def test_svd_ratio(fitted, oracle):
    model, Z, w, tol = fitted
    start = oracle.value(Z, w, oracle.svd_start(Z, w, 3))
    reached = oracle.value(Z, w, model.components_.T.astype(float))
    assert model.svd_ratio_ == pytest.approx(start / reached, rel=10 * tol)
    assert model.svd_ratio_ < 1


def test_residual(fitted, oracle):
    model, Z, w, tol = fitted
    expected = oracle.residual(Z, w, model.components_.T.astype(float))
    assert model.residual_ == pytest.approx(expected, rel=1e-3, abs=tol)
    assert model.residual_ <= 1e-5
    assert model.stop_reason_ == "converged"


def test_history_has_exactly_n_iter_entries(fitted):
    model, *_ = fitted
    keys = {"loss", "residual", "passes", "flops", "seconds"}
    keys |= {
        "Linearized": {"delta_U", "delta_V", "decrease_ratio", "subgradient"},
        "Subspace": {"small_iterations"},
        "Newton": {"hessian_products", "radius"},
    }.get(type(model.solver_).__name__, set())
    assert set(model.history_) == keys
    assert model.n_iter_ > 1
    for record in model.history_.values():
        assert isinstance(record, np.ndarray)
        assert record.shape == (model.n_iter_,)
    assert model.history_["residual"][-1] == model.residual_
    assert (model.history_["residual"][:-1] > model.tol).all()


def test_types_are_plain(fitted):
    """What a user prints, compares or writes to JSON."""
    model, Z, _, tol = fitted
    dtype = np.float64 if tol < 1e-6 else np.float32
    assert model.components_.dtype == dtype
    assert type(model.n_iter_) is int
    assert type(model.n_passes_) is float
    assert model.n_passes_ % 0.5 == 0
    assert type(model.stop_reason_) is str
    for name in ("mean_cosine_", "loss_", "svd_ratio_", "residual_"):
        assert type(getattr(model, name)) is float, name
    assert model.n_features_in_ == Z.shape[1]
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


def test_svd_ratio_with_more_starts_is_over_the_best_reached(X, oracle):
    model = SphericalPCA(2, n_init=4, random_state=0).fit(X)
    Z, w = oracle.rows(X)
    start = oracle.value(Z, w, oracle.svd_start(Z, w, 2))
    assert model.svd_ratio_ == pytest.approx(start / oracle.value(Z, w, model.components_.T))


def test_the_best_of_several_starts_is_kept(oracle):
    X = np.random.default_rng(3).standard_normal((12, 8))
    one = [SphericalPCA(1, init="random", random_state=s).fit(X).mean_cosine_ for s in range(8)]
    assert np.ptp(one) > 0.01  # there are local optima to tell apart
    many = SphericalPCA(1, n_init=10, random_state=0).fit(X)
    assert many.mean_cosine_ >= SphericalPCA(1).fit(X).mean_cosine_ - 1e-12
    fewer = [SphericalPCA(1, n_init=k, random_state=0).fit(X).mean_cosine_ for k in (1, 3, 6)]
    assert (np.diff([*fewer, many.mean_cosine_]) >= -1e-12).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_max_iter_is_a_stated_reason(X, solver):
    with pytest.warns(ConvergenceWarning) as caught:
        model = SphericalPCA(solver=solver, tol=1e-14, max_iter=3).fit(X)
    assert len(caught) == 1
    assert model.stop_reason_ == "max_iter"
    assert model.n_iter_ == 3


@pytest.mark.parametrize("solver", SOLVERS)
def test_tol_0_runs_to_max_iter(X, solver):
    with pytest.warns(ConvergenceWarning):
        model = SphericalPCA(solver=solver, tol=0, max_iter=7).fit(X)
    assert (model.n_iter_, model.stop_reason_) == (7, "max_iter")


def test_n_passes_counts_every_read_of_every_start(X, monkeypatch):
    from sphericalpca.rows import Rows  # noqa: PLC0415

    reads, data = [], []
    sweep = Rows.sweep

    def counted(self, kernel, **options):
        data.append(self)
        if self is data[0]:  # not the small problems of projected rows
            reads.append(options.get("passes", 1.0))
        return sweep(self, kernel, **options)

    monkeypatch.setattr(Rows, "sweep", counted)
    for options in (
        {},
        {"n_init": 3},
        {"init": "random"},
        {"solver": "linearized", "tol": 0.3},
        {"solver": "subspace"},
        {"solver": "subspace", "n_init": 2},
        {"solver": "newton"},
    ):
        reads.clear()
        data.clear()
        model = SphericalPCA(random_state=0, **options).fit(X)
        assert model.n_passes_ == sum(reads)
        assert model.n_passes_ >= model.n_iter_


def test_refitting_forgets_the_first_fit(X):
    model = SphericalPCA(center=True).fit(X)
    model.set_params(center=False, n_components=3).fit(X[:, :5])
    fresh = SphericalPCA(3).fit(X[:, :5])
    assert vars(model).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(model.components_, fresh.components_)
    assert model.mean_ is None


def test_feature_names_are_forgotten_when_refitted_without(X):
    pandas = pytest.importorskip("pandas")
    model = SphericalPCA().fit(pandas.DataFrame(X, columns=list("abcdefg")))
    assert list(model.feature_names_in_) == list("abcdefg")
    model.fit(X)
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("options", [{"init": "random"}, {"n_init": 3}, {}])
def test_same_seed_same_result(X, options):
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
