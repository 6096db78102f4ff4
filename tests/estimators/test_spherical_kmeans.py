"""Spherical k-means against brute force, and by its laws."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from sphericalpca import NoDirectionWarning, SphericalKMeans
from sphericalpca.baselines.lloyd import lloyd


def unit(A):
    return A / np.linalg.norm(A, axis=1, keepdims=True)


def least_inertia(Z, w, k):
    """Over all partitions: with the best centres, W - sum over clusters of ||sum w z||."""
    best = np.inf
    for labels in product(range(k), repeat=len(Z) - 1):
        member = np.eye(k)[[0, *labels]]  # the first row may as well be in the first cluster
        best = min(best, w.sum() - np.linalg.norm(member.T @ (w[:, None] * Z), axis=1).sum())
    return best


@pytest.fixture
def blobs(rng):
    """Four directions in space, rows of all lengths."""
    truth = np.repeat(np.arange(4), 30)
    centers = np.array([[3, 0, 0], [0, 3, 0], [0, 0, 3], [-2, -2, -2]])
    X = centers[truth] + 0.5 * rng.standard_normal((120, 3))
    return X * np.exp(rng.uniform(-3, 3, (120, 1))), truth


@pytest.mark.parametrize(("k", "weighted"), [(1, True), (2, False), (3, True)])
def test_best_of_many_starts_is_the_best_partition(rng, k, weighted):
    for _ in range(2):
        Z = unit(rng.standard_normal((8, 3)))
        w = rng.uniform(0.2, 3, 8) if weighted else np.ones(8)
        model = SphericalKMeans(k, n_init=60, tol=0, random_state=0).fit(Z, sample_weight=w)
        assert model.inertia_ == pytest.approx(least_inertia(Z, w, k))


def test_groups_by_direction_are_found_where_k_means_fails(blobs):
    X, truth = blobs
    labels = SphericalKMeans(4, random_state=0).fit_predict(X)
    assert adjusted_rand_score(truth, labels) > 0.9
    assert adjusted_rand_score(truth, KMeans(4, n_init=10, random_state=0).fit_predict(X)) < 0.7


def test_fitted_attributes_fit_together(blobs):
    X, _ = blobs
    model = SphericalKMeans(4, tol=0, random_state=0).fit(X)
    centers = model.cluster_centers_
    np.testing.assert_allclose(np.linalg.norm(centers, axis=1), 1, atol=1e-12)
    cosines = unit(X) @ centers.T
    np.testing.assert_array_equal(model.labels_, cosines.argmax(axis=1))
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.inertia_ == pytest.approx((1 - cosines.max(axis=1)).sum())
    assert model.score(X) == pytest.approx(-model.inertia_)
    np.testing.assert_allclose(model.transform(X), 1 - cosines, atol=1e-12)
    assert model.history_["inertia"][-1] == model.inertia_
    assert len(model.history_["inertia"]) == model.n_iter_
    sums = np.eye(4)[model.labels_].T @ unit(X)
    np.testing.assert_allclose(centers, unit(sums), atol=1e-12, err_msg="mean directions")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("seed", range(2))
def test_the_inertia_never_rises(seed, kind):
    """Many clusters for few rows, from bad centres: some become empty on the way."""
    rng = np.random.default_rng(seed)
    Z = unit(rng.standard_normal((60, 4)))
    start = unit(rng.standard_normal((20, 4)) + 6 * np.eye(4)[0])
    w = rng.uniform(0.5, 2, 60)
    run = lloyd(kind(Z), w, start, tol=0.0, max_iter=100)
    first = (w * (1 - (Z @ start.T).max(axis=1))).sum()
    assert (np.diff([first, *run.inertias]) <= 1e-12 * first).all()
    assert run.converged
    assert len(np.unique(run.last.labels)) == 20


def test_empty_clusters_begin_at_the_worst_rows():
    """All centres on one side: the others never get a row unless they are moved."""
    Z = np.repeat(np.eye(3), 5, axis=0)
    start = unit(np.array([[1.0, 0, 0], [1, -0.1, -0.1], [1, -0.2, -0.2]]))
    run = lloyd(Z, np.ones(15), start, tol=1e-4, max_iter=10)
    assert run.inertias[1] == pytest.approx(0)  # each of the two in another group at once
    assert len(np.unique(run.last.labels)) == 3


def test_a_cluster_too_many_comes_to_rest():
    """It must not take over the rows of another, which would then be the empty one."""
    Z = np.eye(2)[[0, 0, 1, 1]]
    start = np.array([[-1.0, 0], [1, 0], [0, 1]])
    run = lloyd(Z, np.ones(4), start, tol=0.0, max_iter=50)
    assert run.converged
    np.testing.assert_array_equal(run.last.labels, [1, 1, 2, 2])


def test_a_cluster_whose_rows_cancel_keeps_its_centre():
    Z = np.array([[1.0, 0], [-1, 0]])
    run = lloyd(Z, np.ones(2), np.array([[0.0, 1]]), tol=0.0, max_iter=5)
    np.testing.assert_array_equal(run.last.centers, [[0, 1]])
    assert run.last.inertia == 2


def test_lengths_of_rows_and_axes_are_immaterial(blobs, rng, random_U):
    X, _ = blobs
    scale, Q = np.exp(rng.uniform(-200, 200, (len(X), 1))), random_U(3, 3)
    model, scaled, turned = (
        SphericalKMeans(4, random_state=0).fit(A) for A in (X, scale * X, X @ Q)
    )
    np.testing.assert_array_equal(model.labels_, scaled.labels_)
    assert scaled.inertia_ == pytest.approx(model.inertia_)
    np.testing.assert_array_equal(model.labels_, turned.labels_)
    np.testing.assert_allclose(turned.cluster_centers_, model.cluster_centers_ @ Q, atol=1e-9)


def test_weights_are_repetitions(rng):
    """From the same start; a draw of starts cannot be the same for other rows."""
    Z, w = unit(rng.standard_normal((30, 4))), rng.integers(1, 4, 30)
    repeated = np.repeat(Z, w, axis=0)
    one = lloyd(Z, w.astype(float), Z[:5], tol=0.0, max_iter=100)
    many = lloyd(repeated, np.ones(w.sum()), Z[:5], tol=0.0, max_iter=100)
    np.testing.assert_array_equal(np.repeat(one.last.labels, w), many.last.labels)
    np.testing.assert_allclose(one.last.centers, many.last.centers, atol=1e-12)
    assert one.last.inertia == pytest.approx(many.last.inertia)
    model = SphericalKMeans(5, random_state=0).fit(Z, sample_weight=w)
    assert model.score(Z, sample_weight=w) == pytest.approx(model.score(repeated))


def test_rows_of_weight_zero_take_no_part(blobs):
    X, _ = blobs
    weight = np.r_[np.ones(100), np.zeros(20)]
    model = SphericalKMeans(3, random_state=0).fit(X, sample_weight=weight)
    alone = SphericalKMeans(3, random_state=0).fit(X[:100])
    np.testing.assert_allclose(model.cluster_centers_, alone.cluster_centers_, atol=1e-12)
    np.testing.assert_array_equal(model.labels_, alone.predict(X))


def test_zero_rows_are_told_of_and_get_no_cluster(blobs):
    X, _ = blobs
    with_zeros = np.insert(X, [0, 50], 0.0, axis=0)
    with pytest.warns(NoDirectionWarning, match="2 of 122 rows.*took no part"):
        model = SphericalKMeans(4, random_state=0).fit(with_zeros)
    alone = SphericalKMeans(4, random_state=0).fit(X)
    np.testing.assert_array_equal(np.flatnonzero(model.labels_ == -1), [0, 51])
    np.testing.assert_array_equal(np.delete(model.labels_, [0, 51]), alone.labels_)
    assert model.inertia_ == pytest.approx(alone.inertia_)
    with pytest.warns(NoDirectionWarning, match="2 of 122 rows.*label -1"):
        np.testing.assert_array_equal(model.predict(with_zeros), model.labels_)
    assert (model.transform(with_zeros)[[0, 51]] == 1).all()
    assert model.score(with_zeros) == pytest.approx(-model.inertia_)


def test_what_did_not_work_is_said(rng):
    X = rng.standard_normal((300, 5))
    with pytest.warns(ConvergenceWarning, match="in 1 iteration .*tol 0.*raise max_iter"):
        model = SphericalKMeans(9, n_init=1, max_iter=1, tol=0, random_state=0).fit(X)
    assert model.n_iter_ == 1
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    X = np.array([[1.0, 0], [2, 0], [0, 1], [0, 3]])
    with pytest.warns(ConvergenceWarning, match="Only 2 of n_clusters=3.*lower n_clusters"):
        model = SphericalKMeans(3, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(0)
    assert adjusted_rand_score(model.labels_, [0, 0, 1, 1]) == 1


def test_more_starts_are_never_worse_and_a_tolerance_saves_iterations(rng):
    X = rng.standard_normal((150, 6))
    one, ten = (SphericalKMeans(8, n_init=n, random_state=0).fit(X).inertia_ for n in (1, 10))
    assert ten <= one
    runs = [SphericalKMeans(8, n_init=1, random_state=s).fit(X).inertia_ for s in range(4)]
    assert np.ptp(runs) > 0  # else the law above says nothing
    coarse, fine = (
        SphericalKMeans(8, n_init=1, tol=t, random_state=0).fit(X).n_iter_ for t in (1e-2, 0)
    )
    assert coarse < fine
