"""scikit-learn's own checks of an estimator, with no exemption."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sphericalpca import SphericalPCA
from sphericalpca.solvers import Alternating, Linearized

# The checks feed tiny iteration limits, one-row and all-zero data on purpose.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sphericalpca.NoDirectionWarning"),
    # What scikit-learn says of checks that do not apply (no array API, no polars).
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]


@parametrize_with_checks(
    [
        SphericalPCA(),
        SphericalPCA(n_components=0.5),  # most checks set it to 2
        SphericalPCA(n_components=1, center=True),
        SphericalPCA(normalize=False, solver=Alternating(), init="svd"),
        SphericalPCA(normalize=False, center=True, init="random", n_init=2, random_state=0),
        SphericalPCA(solver=Linearized(lam="block", mu="block", order="vu"), max_iter=50),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_defaults_are_those_of_the_specification():
    assert SphericalPCA().get_params() == {
        "n_components": 2,
        "solver": "auto",
        "init": "auto",
        "n_init": 1,
        "normalize": True,
        "center": False,
        "tol": 1e-4,
        "max_iter": 1000,
        "random_state": None,
    }
