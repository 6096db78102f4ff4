"""What holds for each baseline: scikit-learn's own checks, kinds and types of data, refusals."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from sphericalpca import KSVD, R1PCA, DataError, SphericalKMeans

# The checks feed tiny iteration limits, one-row and all-zero data on purpose.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sphericalpca.NoDirectionWarning"),
    # What scikit-learn says of checks that do not apply (no array API, no polars).
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]


def expected_failures(estimator):
    if not isinstance(estimator, SphericalKMeans):
        return {}
    reason = (
        "Starts are drawn at random, and other rows make another draw, as for scikit-learn's "
        "KMeans; from one start the law holds: test_weights_are_repetitions."
    )
    return {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }


@parametrize_with_checks(
    [
        R1PCA(),
        R1PCA(n_components=1, center=False, cutoff=0.5, tol=0.0, max_iter=20),
        KSVD(n_components=3, n_nonzero_coefs=2, tol=1e-3),
        SphericalKMeans(n_init=2),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


BASELINES = {
    "r1pca": R1PCA(3, random_state=0),
    "r1pca uncentred": R1PCA(3, center=False, random_state=0),
    "ksvd": KSVD(3, n_nonzero_coefs=2, max_iter=5, random_state=0),
    "sphericalkmeans": SphericalKMeans(3, random_state=0),
}


@pytest.fixture(params=BASELINES)
def baseline(request):
    """A function that makes the same unfitted estimator each time."""
    return lambda: clone(BASELINES[request.param])


def directions(model):
    return model.cluster_centers_ if hasattr(model, "cluster_centers_") else model.components_


def test_sparse_and_dense_agree(X, baseline):
    dense = baseline().fit(X)
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        other = baseline().fit(kind(X))
        np.testing.assert_allclose(directions(other), directions(dense), atol=1e-6)
        np.testing.assert_allclose(other.transform(kind(X)), dense.transform(X), atol=1e-5)
        for name in {"weights_", "labels_"} & vars(dense).keys():
            np.testing.assert_allclose(getattr(other, name), getattr(dense, name), atol=1e-7)


def test_single_precision_stays(X, baseline):
    single, double = baseline().fit(X.astype(np.float32)), baseline().fit(X)
    assert directions(single).dtype == np.float32
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(directions(single), directions(double), atol=2e-3)


def test_seeds_names_and_refits_that_fail(X, baseline):
    model, same = baseline().fit(X), baseline().fit(X)
    np.testing.assert_array_equal(directions(model), directions(same))
    name = type(model).__name__.lower()
    assert list(model.get_feature_names_out()) == [f"{name}{k}" for k in range(3)]
    V = model.transform(X)
    with pytest.raises(DataError):
        model.fit(np.zeros((9, 4)))
    np.testing.assert_array_equal(model.transform(X), V)


@pytest.mark.parametrize(
    ("model", "data", "words"),
    [
        (R1PCA(2), np.zeros((5, 3)), "n_samples = 5|zero after centring|at least one row"),
        (R1PCA(2), np.ones((4, 3)), "zero after centring"),
        (R1PCA(2), np.eye(3)[:1], "n_components=2|at most 1|1 row and 3 columns|lower it"),
        (R1PCA(2), 1e200 * np.eye(3), "sum to inf|between|rescale X"),
        (R1PCA(2), 1e-200 * np.eye(3), "sum to 0|between|rescale X"),
        (R1PCA(2), 1e25 * np.eye(3, dtype=np.float32), "3e+37|rescale X"),
        (R1PCA(2), 1e-25 * np.eye(3, dtype=np.float32), "1e-31|rescale X"),
        (KSVD(), np.zeros((9, 3)), "n_samples = 9|zero|at least one row"),
        (KSVD(), np.eye(3), "n_components=8|at most 3|number of rows|lower it"),
        (KSVD(), np.full((9, 2), 1e200), "sum to inf|between|rescale X"),
        (SphericalKMeans(4), np.zeros((5, 3)), "n_samples = 5|zero|at least one row"),
        (SphericalKMeans(4), np.eye(3), "n_clusters=4|rows with a direction|at most 3|lower it"),
    ],
)
def test_data_that_cannot_be_used(model, data, words, fails):
    fails(lambda: model.fit(data), *words.split("|"), error=DataError)


def test_weights_that_leave_too_few_rows(fails):
    model = SphericalKMeans(4)
    alone = np.eye(3)[[0, 0]] * [[0], [1]]
    fails(lambda: model.fit(alone, sample_weight=[1, 0]), "weight zero", error=DataError)
    words = ("n_clusters=4", "at most 3", "rows with a direction")
    fails(lambda: model.fit(np.eye(5), sample_weight=[1, 1, 1, 0, 0]), *words, error=DataError)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        *[(R1PCA, w) for w in ({"cutoff": 0}, {"cutoff": "mean"}, {"tol": -1}, {"max_iter": 0})],
        *[(KSVD, w) for w in ({"n_nonzero_coefs": 0}, {"tol": -1}, {"max_iter": 0})],
        *[(SphericalKMeans, w) for w in ({"n_clusters": 0}, {"n_init": 0}, {"tol": -1})],
        (SphericalKMeans, {"max_iter": 0}),
    ],
)
def test_parameters_out_of_range(X, kind, wrong, fails):
    fails(lambda: kind(**wrong).fit(X), next(iter(wrong)))
