"""R1-PCA against plain numpy, PCA and the laws of its loss."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from sphericalpca import R1PCA, DataError
from sphericalpca.linalg import principal_angles


def distance(X, U):
    """||x - UU'x||, from the difference itself."""
    return np.linalg.norm(X - X @ U @ U.T, axis=1)


def huber(s, c):
    return float(sum(d**2 if d <= c else 2 * c * d - c**2 for d in s))


def centred(X, model):
    return X - (0 if model.mean_ is None else model.mean_)


@pytest.fixture(params=[True, False], ids=["centred", "uncentred"])
def center(request):
    return request.param


@pytest.fixture
def X(X):
    """The common data, some rows of which are far away."""
    X[::9] *= 6
    return X + 0.5


def test_without_a_cutoff_it_is_pca(X, oracle):
    model = R1PCA(3, cutoff=np.inf, tol=1e-12).fit(X)
    pca = PCA(3).fit(X)
    np.testing.assert_allclose(np.abs(model.components_), np.abs(pca.components_), atol=1e-9)
    np.testing.assert_allclose(model.mean_, pca.mean_)
    assert (model.weights_ == 1).all()
    np.testing.assert_allclose(
        np.abs(model.transform(X)), np.abs(pca.transform(X)), atol=1e-8 * np.abs(X).max()
    )


def test_without_a_cutoff_and_mean_it_is_the_svd(X, oracle):
    model = R1PCA(2, cutoff=np.inf, center=False, tol=1e-12).fit(X)
    V = np.linalg.svd(X)[2][:2]
    np.testing.assert_allclose(oracle.projector(model.components_), V.T @ V, atol=1e-9)
    assert model.mean_ is None


def test_cutoff_is_the_median_distance_from_pca(X):
    assert R1PCA(3).fit(X).cutoff_ == pytest.approx(
        np.median(distance(X - X.mean(axis=0), PCA(3).fit(X).components_.T))
    )
    assert R1PCA(3, cutoff=0.7).fit(X).cutoff_ == 0.7


def test_loss_and_weights_are_those_of_the_formulas(X, center):
    model = R1PCA(2, center=center, tol=1e-8).fit(X)
    s = distance(centred(X, model), model.components_.T)
    assert model.loss_ == pytest.approx(huber(s, model.cutoff_))
    np.testing.assert_allclose(model.weights_, [min(1, model.cutoff_ / d) for d in s], rtol=1e-6)
    assert 0.2 < (model.weights_ < 1).mean() < 0.8  # the cutoff parts the rows


@pytest.mark.parametrize("cutoff", ["median", 0.3, 3.0, np.inf])
def test_the_loss_never_rises(X, center, cutoff):
    model = R1PCA(2, cutoff=cutoff, center=center, tol=1e-9).fit(X)
    start = np.linalg.svd(centred(X, model), full_matrices=False)[2][:2].T
    losses = [huber(distance(centred(X, model), start), model.cutoff_)]
    losses += list(model.history_["loss"])
    assert (np.diff(losses) <= 1e-12 * losses[0]).all()
    assert model.history_["loss"][-1] == model.loss_
    assert len(model.history_["residual"]) == model.n_iter_


def test_the_subspace_is_invariant_under_its_weighted_covariance(X, center):
    model = R1PCA(3, center=center, tol=1e-10).fit(X)
    Z, U = centred(X, model), model.components_.T
    CU = Z.T @ (model.weights_[:, None] * (Z @ U))
    eigenvalues = np.diag(U.T @ CU)
    np.testing.assert_allclose(CU, U * eigenvalues, atol=1e-7 * eigenvalues[0])
    assert (np.diff(eigenvalues) < 0).all()  # the strongest component first


def test_no_nearby_subspace_is_better(X, rng):
    model = R1PCA(2, tol=1e-10).fit(X)
    Z = centred(X, model)
    for _ in range(30):
        moved = model.components_.T + 0.03 * rng.standard_normal((7, 2))
        s = distance(Z, np.linalg.qr(moved)[0])
        assert huber(s, model.cutoff_) > model.loss_


def test_names_of_the_columns_that_come_out(X):
    assert list(R1PCA(2).fit(X).get_feature_names_out()) == ["r1pca0", "r1pca1"]


def test_components_are_orthonormal_and_signed(X, center):
    C = R1PCA(4, center=center).fit(X).components_
    np.testing.assert_allclose(C @ C.T, np.eye(4), atol=1e-12)
    assert (C[np.arange(4), np.abs(C).argmax(axis=1)] > 0).all()


def test_rotating_the_axes_rotates_the_components(X, center, random_U):
    """What the name says, and what an L1 norm of coordinates would not give."""
    Q = random_U(7, 7)
    model = R1PCA(3, center=center, tol=1e-10).fit(X)
    turned = R1PCA(3, center=center, tol=1e-10).fit(X @ Q)
    expected = model.components_ @ Q
    signs = np.sign((expected * turned.components_).sum(axis=1))
    np.testing.assert_allclose(turned.components_, expected * signs[:, None], atol=1e-7)
    np.testing.assert_allclose(turned.weights_, model.weights_, atol=1e-7)


@pytest.mark.parametrize("scale", [1e-6, 1e9])
def test_scale_of_the_data_is_immaterial(X, scale):
    model, scaled = R1PCA(3).fit(X), R1PCA(3).fit(scale * X)
    np.testing.assert_allclose(scaled.components_, model.components_, atol=1e-8)
    assert scaled.cutoff_ == pytest.approx(scale * model.cutoff_)
    assert scaled.n_iter_ == model.n_iter_


def test_outliers_move_it_less_than_pca(rng):
    clean = rng.standard_normal((200, 10)) * ([4.0] * 2 + [0.3] * 8)
    dirty = clean.copy()
    dirty[:8] = 12 * rng.standard_normal((8, 10))
    truth = np.eye(10)[:, :2]
    ours, theirs = (
        principal_angles(m.fit(dirty).components_.T, truth)[-1] for m in (R1PCA(2), PCA(2))
    )
    assert ours < 0.6 * theirs
    model = R1PCA(2).fit(dirty)
    assert model.weights_[:8].max() < np.median(model.weights_)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_and_dense_agree(X, center, kind):
    X[np.abs(X) < 0.6] = 0
    dense, thin = (R1PCA(3, center=center, tol=1e-9).fit(A) for A in (X, kind(X)))
    np.testing.assert_allclose(thin.components_, dense.components_, atol=1e-9)
    np.testing.assert_allclose(thin.weights_, dense.weights_, atol=1e-7)
    np.testing.assert_allclose(thin.transform(kind(X)), dense.transform(X), atol=1e-8)


def test_sparse_data_are_not_filled(center):
    """A dense copy would take 800 MB."""
    X = sparse.random_array((1_000, 100_000), density=1e-4, random_state=1, format="csr")
    tracemalloc.start()
    model = R1PCA(2, center=center, random_state=0, max_iter=3, tol=1.0).fit(X)
    model.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


def test_wide_data_take_the_randomized_start(rng):
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 1100))
    X += 0.01 * rng.standard_normal(X.shape)
    model = R1PCA(3, cutoff=np.inf, random_state=0).fit(X)
    assert principal_angles(model.components_.T, PCA(3).fit(X).components_.T)[-1] < 1e-3


def test_single_precision_stays_and_agrees(X, center):
    double = R1PCA(3, center=center).fit(X)
    single = R1PCA(3, center=center).fit(X.astype(np.float32))
    assert single.components_.dtype == np.float32
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert principal_angles(single.components_.T, double.components_.T)[-1] < 1e-2


def test_there_and_back(X, center):
    model = R1PCA(3, center=center).fit(X)
    Y = model.transform(X)
    np.testing.assert_allclose(Y, centred(X, model) @ model.components_.T, atol=1e-12)
    image = model.inverse_transform(Y)
    np.testing.assert_allclose(model.transform(image), Y, atol=1e-12)
    assert np.linalg.norm(X - image, axis=1) == pytest.approx(
        distance(centred(X, model), model.components_.T)
    )


def test_an_outlier_that_owns_a_component_stays():
    """The limit that the notes name: within the subspace there is no distance to weigh."""
    X = np.random.default_rng(0).standard_normal((100, 4)) * [5, 1, 1, 1]
    X[0] = [0, 0, 0, 100]
    model = R1PCA(1).fit(X)
    assert abs(model.components_[0, 3]) > 0.99
    assert model.weights_[0] == 1


def test_data_within_the_subspace(X):
    """No distance is left: all rows count fully, and nothing is divided by zero."""
    flat = np.outer(np.arange(-5.0, 6.0), np.eye(4)[1])
    model = R1PCA(1).fit(flat)
    np.testing.assert_allclose(np.abs(model.components_[0]), np.eye(4)[1], atol=1e-12)
    assert model.cutoff_ == np.inf
    assert (model.weights_ == 1).all()
    full = R1PCA(7).fit(X)
    np.testing.assert_allclose(full.inverse_transform(full.transform(X)), X, atol=1e-10)


def test_rows_without_distance_do_not_silence_the_others(rng):
    """More than half of the rows are zero: a median of zero would give the rest no weight."""
    X = np.zeros((50, 5))
    X[:20] = rng.standard_normal((20, 5)) * [5, 2, 1, 1, 1]
    model = R1PCA(2, center=False, tol=1e-9).fit(X)
    alone = R1PCA(2, center=False, tol=1e-9).fit(X[:20])
    np.testing.assert_allclose(model.components_, alone.components_, atol=1e-7)
    assert model.cutoff_ == pytest.approx(alone.cutoff_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rounding_is_no_distance(rng, random_U, dtype, form):
    """Of 190 rows 150 are in the plane up to rounding: the cutoff is that of the other 40."""
    U = random_U(6, 3)
    inside = rng.standard_normal((150, 2)) * [9, 5] @ U[:, :2].T
    heights = rng.uniform(1, 3, 20)
    feet = rng.standard_normal((20, 2)) @ U[:, :2].T
    above, below = (feet + sign * np.outer(heights, U[:, 2]) for sign in (1, -1))
    X = form(np.concatenate([inside, above, below]).astype(dtype))
    model = R1PCA(2, center=False).fit(X)
    assert model.cutoff_ == pytest.approx(np.median(heights), rel=1e-3)
    assert (model.weights_[:150] > 0.999).all()


def test_running_out_of_iterations_is_said(X):
    with pytest.warns(ConvergenceWarning, match="in 2 iterations .*tol 1e-12.*raise max_iter"):
        model = R1PCA(2, max_iter=2, tol=1e-12).fit(X)
    assert model.n_iter_ == 2
    assert model.stop_reason_ == "max_iter"
    assert R1PCA(2).fit(X).stop_reason_ == "converged"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (np.zeros((5, 3)), ["n_samples = 5", "zero after centring", "at least one row"]),
        (np.ones((4, 3)), ["zero after centring"]),
        (np.eye(3)[:1], ["n_components=2", "at most 1", "1 row and 3 columns", "lower it"]),
        (1e200 * np.eye(3), ["sum to inf", "between", "rescale X"]),
        (1e-200 * np.eye(3), ["sum to 0", "between", "rescale X"]),
        (1e25 * np.eye(3, dtype=np.float32), ["3e+37", "rescale X"]),
        (1e-25 * np.eye(3, dtype=np.float32), ["1e-31", "rescale X"]),
    ],
)
def test_data_that_cannot_be_used(data, words):
    with pytest.raises(DataError) as caught:
        R1PCA(2).fit(data)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("wrong", [{"cutoff": 0}, {"cutoff": "mean"}, {"tol": -1}, {"max_iter": 0}])
def test_parameters_out_of_range(X, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        R1PCA(**wrong).fit(X)


def test_a_refit_that_fails_leaves_the_old_model_usable(X):
    model = R1PCA(3).fit(X)
    Y = model.transform(X)
    with pytest.raises(DataError):
        model.fit(np.ones((9, 4)))
    np.testing.assert_array_equal(model.transform(X), Y)


def test_more_data_cost_no_more_than_their_rows(rng):
    """An n x n matrix of these rows would take 80 GB."""
    X = rng.standard_normal((100_000, 3)) * [3, 2, 1]
    assert R1PCA(2, max_iter=500).fit(X).weights_.shape == (100_000,)
