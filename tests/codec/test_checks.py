"""scikit-learn's own checks, with no exemption."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sphericalpca import SphericalCodec

pytestmark = [
    pytest.mark.filterwarnings("ignore::sphericalpca.CapacityWarning"),
    pytest.mark.filterwarnings("ignore::sphericalpca.NoDirectionWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]


@parametrize_with_checks([SphericalCodec(), SphericalCodec(3, n_components=2, random_state=0)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_defaults_are_those_of_the_specification():
    given = {"n_bytes": 96, "n_components": "auto", "random_state": None}
    assert SphericalCodec().get_params() == given
