"""scikit-learn's own checks of the baselines; every exemption with its reason."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sphericalpca import KSVD, R1PCA, SphericalKMeans

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
        R1PCA(n_components=1, center=False),
        R1PCA(cutoff=0.5, tol=0.0, max_iter=20),
        KSVD(),
        KSVD(n_components=3, n_nonzero_coefs=2, tol=1e-3),
        SphericalKMeans(),
        SphericalKMeans(n_clusters=2, n_init=1, tol=0.0),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
