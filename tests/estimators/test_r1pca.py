"""R1-PCA against plain numpy, PCA and the laws of its loss."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from sphericalpca import R1PCA
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
    model, pca = R1PCA(3, cutoff=np.inf, tol=1e-12).fit(X), PCA(3).fit(X)
    np.testing.assert_allclose(np.abs(model.components_), np.abs(pca.components_), atol=1e-9)
    np.testing.assert_allclose(model.mean_, pca.mean_)
    assert (model.weights_ == 1).all()
    np.testing.assert_allclose(
        np.abs(model.transform(X)), np.abs(pca.transform(X)), atol=1e-8 * np.abs(X).max()
    )
    uncentred = R1PCA(2, cutoff=np.inf, center=False, tol=1e-12).fit(X)
    V = np.linalg.svd(X)[2][:2]
    np.testing.assert_allclose(oracle.projector(uncentred.components_), V.T @ V, atol=1e-9)
    assert uncentred.mean_ is None
    # By default the cutoff is the median distance from that.
    median = np.median(distance(X - X.mean(axis=0), pca.components_.T))
    assert R1PCA(3).fit(X).cutoff_ == pytest.approx(median)
    assert R1PCA(3, cutoff=0.7).fit(X).cutoff_ == 0.7


def test_the_end_is_that_of_the_formulas(X, center):
    model = R1PCA(3, center=center, tol=1e-10).fit(X)
    Z, U = centred(X, model), model.components_.T
    s = distance(Z, U)
    assert model.loss_ == pytest.approx(huber(s, model.cutoff_))
    np.testing.assert_allclose(model.weights_, [min(1, model.cutoff_ / d) for d in s], rtol=1e-6)
    assert 0.2 < (model.weights_ < 1).mean() < 0.8  # the cutoff parts the rows
    CU = Z.T @ (model.weights_[:, None] * (Z @ U))
    eigenvalues = np.diag(U.T @ CU)
    np.testing.assert_allclose(CU, U * eigenvalues, atol=1e-7 * eigenvalues[0])
    assert (np.diff(eigenvalues) < 0).all()  # the strongest component first
    np.testing.assert_allclose(U.T @ U, np.eye(3), atol=1e-12)
    assert (U[np.abs(U).argmax(axis=0), np.arange(3)] > 0).all()
    Y = model.transform(X)
    np.testing.assert_allclose(Y, Z @ U, atol=1e-12)
    image = model.inverse_transform(Y)
    np.testing.assert_allclose(model.transform(image), Y, atol=1e-12)
    assert np.linalg.norm(X - image, axis=1) == pytest.approx(s)


def test_the_loss_never_rises(X, center):
    for cutoff in ("median", 0.3, 3.0, np.inf):
        model = R1PCA(2, cutoff=cutoff, center=center, tol=1e-9).fit(X)
        start = np.linalg.svd(centred(X, model), full_matrices=False)[2][:2].T
        losses = [huber(distance(centred(X, model), start), model.cutoff_)]
        losses += list(model.history_["loss"])
        assert (np.diff(losses) <= 1e-12 * losses[0]).all()
        assert model.history_["loss"][-1] == model.loss_
        assert len(model.history_["residual"]) == model.n_iter_


def test_no_nearby_subspace_is_better(X, rng):
    model = R1PCA(2, tol=1e-10).fit(X)
    Z = centred(X, model)
    for _ in range(30):
        moved = model.components_.T + 0.03 * rng.standard_normal((7, 2))
        s = distance(Z, np.linalg.qr(moved)[0])
        assert huber(s, model.cutoff_) > model.loss_


def test_rotating_the_axes_rotates_the_components(X, center, random_U):
    """What the name says, and what an L1 norm of coordinates would not give."""
    Q = random_U(7, 7)
    model = R1PCA(3, center=center, tol=1e-10).fit(X)
    turned = R1PCA(3, center=center, tol=1e-10).fit(X @ Q)
    expected = model.components_ @ Q
    signs = np.sign((expected * turned.components_).sum(axis=1))
    np.testing.assert_allclose(turned.components_, expected * signs[:, None], atol=1e-7)
    np.testing.assert_allclose(turned.weights_, model.weights_, atol=1e-7)


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


def test_sparse_data_are_not_filled(center):
    """A dense copy would take 80 MB."""
    X = sparse.random_array((500, 20_000), density=1e-4, random_state=1, format="csr")
    tracemalloc.start()
    model = R1PCA(2, center=center, random_state=0, max_iter=3, tol=1.0).fit(X)
    model.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def test_wide_data_take_the_randomized_start(rng):
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 1100))
    X += 0.01 * rng.standard_normal(X.shape)
    model = R1PCA(3, cutoff=np.inf, random_state=0).fit(X)
    assert principal_angles(model.components_.T, PCA(3).fit(X).components_.T)[-1] < 1e-3


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


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rounding_is_no_distance(rng, random_U, float_type, form):
    """Of 190 rows 150 are in the plane up to rounding: the cutoff is that of the other 40."""
    U = random_U(6, 3)
    inside = rng.standard_normal((150, 2)) * [9, 5] @ U[:, :2].T
    heights = rng.uniform(1, 3, 20)
    feet = rng.standard_normal((20, 2)) @ U[:, :2].T
    above, below = (feet + sign * np.outer(heights, U[:, 2]) for sign in (1, -1))
    X = form(np.concatenate([inside, above, below]).astype(float_type))
    model = R1PCA(2, center=False).fit(X)
    assert model.cutoff_ == pytest.approx(np.median(heights), rel=1e-3)
    assert (model.weights_[:150] > 0.999).all()


def test_running_out_of_iterations_is_said(X):
    with pytest.warns(ConvergenceWarning, match="in 2 iterations .*tol 1e-12.*raise max_iter"):
        model = R1PCA(2, max_iter=2, tol=1e-12).fit(X)
    assert model.n_iter_ == 2
    assert model.stop_reason_ == "max_iter"
    assert R1PCA(2).fit(X).stop_reason_ == "converged"
