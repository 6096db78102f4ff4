"""transform, fit_transform, inverse_transform, truncate; rows without a direction."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import DataError, NoDirectionWarning, SphericalPCA
from sphericalpca.solvers import Linearized


def test_transform_gives_the_unit_vectors_along_the_projections(X, oracle):
    model = SphericalPCA(3).fit(X)
    V = model.transform(X)
    expected = oracle.best_components(oracle.rows(X)[0], model.components_.T)
    np.testing.assert_allclose(V, expected, atol=1e-12)
    # Euclidean distance is angular distance, what the method is for: ||u - v||^2 = 2 - 2 cos.
    d2 = ((V[:, None] - V[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(d2, 2 - 2 * V @ V.T, atol=1e-12)
    back = model.inverse_transform(V)
    np.testing.assert_allclose(back, V @ model.components_, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(back, axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(model.transform(back), V, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (np.asarray, {"normalize": False, "center": True}),
        (sparse.csr_array, {"solver": Linearized(lam="block", mu="block")}),
        (sparse.csc_matrix, {"init": "random", "n_init": 2, "random_state": 0}),
    ],
    ids=str,
)
def test_fit_transform_equals_fit_then_transform_exactly(X, weight, kind, options):
    data = kind(X)
    at_once = SphericalPCA(3, **options).fit_transform(data, sample_weight=weight)
    model = SphericalPCA(3, **options).fit(data, sample_weight=weight)
    np.testing.assert_array_equal(at_once, model.transform(data))


def test_fit_transform_equals_fit_then_transform_with_zero_and_vanishing_rows():
    X = np.vstack([np.eye(3)[[0] * 9 + [1] * 8], np.zeros((2, 3)), [[0.0, 0.0, 1e-3]]])
    with pytest.warns(NoDirectionWarning):
        at_once = SphericalPCA(2).fit_transform(X)
    with pytest.warns(NoDirectionWarning):
        in_turn = SphericalPCA(2).fit(X).transform(X)
    np.testing.assert_array_equal(at_once, in_turn)


def test_rows_of_new_data_are_mapped_one_by_one(X):
    model = SphericalPCA(3, center=True).fit(X)
    one_by_one = np.vstack([model.transform(X[j : j + 1]) for j in range(40)])
    np.testing.assert_allclose(model.transform(X), one_by_one, atol=1e-14)
    with pytest.raises(DataError, match=r"zero after cent.*at least one"):
        SphericalPCA(1, center=True).fit(np.full((5, 3), 0.1))


def test_dtype_of_the_data_is_the_dtype_of_the_result(X, float_type):
    model = SphericalPCA(3, center=True).fit(X.astype(float_type))
    assert model.components_.dtype == float_type
    for given, found in [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.int64, np.float64),
        (np.float16, np.float32),
    ]:
        assert model.transform((10 * X).astype(given)).dtype == found
    assert model.inverse_transform(model.transform(X.astype(float_type))).dtype == float_type
    assert model.inverse_transform([[1, 0, 0]]).dtype == np.float64


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_zero_rows_take_no_part_and_stay_zero(X, weight, kind):
    with_zeros = np.insert(X, [0, 5, 5, 40], 0.0, axis=0)
    weights = np.insert(weight, [0, 5, 5, 40], 100.0)
    clean = SphericalPCA(3).fit(kind(X), sample_weight=weight)
    with pytest.warns(NoDirectionWarning):
        model = SphericalPCA(3).fit(kind(with_zeros), sample_weight=weights)
    np.testing.assert_allclose(model.components_, clean.components_, atol=1e-12)
    for name in ("mean_cosine_", "loss_", "svd_ratio_", "component_weights_"):
        np.testing.assert_allclose(getattr(model, name), getattr(clean, name), rtol=1e-12)
    with pytest.warns(NoDirectionWarning):
        V = model.transform(kind(with_zeros))
    assert not V[[0, 6, 7, 43]].any()
    assert np.count_nonzero(np.linalg.norm(V, axis=1) > 0.5) == 40


@pytest.mark.parametrize("center", [False, True])
def test_exactly_one_warning_with_the_count_per_call(X, center):
    mean = X.mean(axis=0) if center else np.zeros(7)
    X = np.vstack([X, mean, mean, mean])  # three rows without a direction
    model = SphericalPCA(3, center=center)
    for call in (model.fit, model.transform, model.fit_transform):
        with pytest.warns(NoDirectionWarning, match="3 of 43") as caught:
            call(X)
        assert len(caught) == 1
        assert caught[0].filename == __file__, "the warning must point at the caller's line"


def test_a_vanishing_projection_gives_a_zero_row_and_is_counted(X):
    model = SphericalPCA(3).fit(X)
    outside = X
    for _ in range(2):  # the first time leaves rounding errors of the longer row X
        outside = outside - outside @ model.components_.T @ model.components_
    with pytest.warns(NoDirectionWarning, match="2 of 4") as caught:
        V = model.transform(np.vstack([X[:2], outside[:2]]))
    assert len(caught) == 1
    assert not V[2:].any()
    np.testing.assert_allclose(np.linalg.norm(V[:2], axis=1), 1)
    # 1e-12 of a row is small, yet thousands of rounding errors above nothing.
    U = model.components_
    V = model.transform([np.linalg.svd(U)[2][3] + 1e-12 * U[1]])
    np.testing.assert_allclose(V, [[0, 1, 0]], atol=1e-2)


def test_center_equals_centring_beforehand(X, weight):
    inside = SphericalPCA(3, center=True).fit(X, sample_weight=weight)
    before = X - weight @ X / weight.sum()
    outside = SphericalPCA(3).fit(before, sample_weight=weight)
    np.testing.assert_allclose(inside.components_, outside.components_, atol=1e-10)
    np.testing.assert_allclose(inside.transform(X), outside.transform(before), atol=1e-10)
    assert inside.score(X, sample_weight=weight) == pytest.approx(
        outside.score(before, None, weight)
    )


def test_inverse_transform_adds_the_mean_back(X):
    for kind in (np.asarray, sparse.csr_array):
        model = SphericalPCA(3, center=True).fit(kind(X))
        V = model.transform(kind(X))
        back = model.inverse_transform(V)
        np.testing.assert_allclose(back, V @ model.components_ + X.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(model.transform(back), V, atol=1e-10)
        np.testing.assert_allclose(np.linalg.norm(back - X.mean(axis=0), axis=1), 1, atol=1e-12)
    full = SphericalPCA(7).fit(X)
    back = full.inverse_transform(full.transform(X))
    np.testing.assert_allclose(back, X / np.linalg.norm(X, axis=1, keepdims=True), atol=1e-12)
    assert full.loss_ == pytest.approx(0, abs=1e-10)


def test_truncate_is_a_fitted_model_of_the_first_components(X):
    model = SphericalPCA(4, center=True).fit(X)
    for q in (1, 2, 4):
        short = model.truncate(q)
        assert short.n_components == q
        np.testing.assert_array_equal(short.components_, model.components_[:q])
        Y = model.transform(X)[:, :q]
        expected = Y / np.linalg.norm(Y, axis=1, keepdims=True)
        np.testing.assert_allclose(short.transform(X), expected, atol=1e-10)
        assert short.inverse_transform(short.transform(X)).shape == X.shape
        assert list(short.get_feature_names_out()) == [f"sphericalpca{k}" for k in range(q)]
        assert short.component_weights_.shape == (q,)
        assert short.component_weights_.sum() == pytest.approx(1)
        assert 0 < short.score(X) <= model.score(X) + 1e-12
        assert short.certify(X).gap >= 0
        assert short.n_features_in_ == 7
    assert len(model.components_) == model.n_components == 4


def test_truncate_shares_no_memory_and_claims_nothing_that_only_the_data_can_tell(X):
    model = SphericalPCA(3).fit(X)
    before, short = model.components_.copy(), model.truncate(2)
    for name in ("mean_cosine_", "loss_", "residual_", "svd_ratio_"):
        assert np.isnan(getattr(short, name))
    short.components_[:] = 0
    np.testing.assert_array_equal(model.components_, before)


def test_a_fitted_model_keeps_no_copy_of_the_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 6))
    start = (np.eye(6)[:, :2], rng.standard_normal((5000, 2)))
    for options in (
        {},
        {"center": True},
        {"solver": "linearized", "max_iter": 5, "tol": 1},
        {"n_init": 3},
        {"normalize": False},
    ):
        model = SphericalPCA(2, **options).fit(X, sample_weight=np.ones(5000))
        arrays = [v for v in vars(model).values() if isinstance(v, np.ndarray)]
        arrays += model.history_.values()
        assert all(5000 not in np.shape(a) for a in arrays)
        assert all(a.base is None or a.base.size < 100 for a in arrays)
        assert len(pickle.dumps(model)) < 20_000  # X has 240,000 bytes, V 80,000
    # The start that the user gave is a parameter, not a copy of the data.
    model = SphericalPCA(2, solver="linearized", init=start, tol=1).fit(X)
    assert model.init is start
