"""A fit that fails loses nothing: the model of the fit before still stands."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sphericalpca import SphericalPCA
from sphericalpca.solvers import Alternating


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


@pytest.mark.parametrize(
    ("broken", "center"),
    [(b, c) for b in BROKEN_REFITS for c in (True, False) if c or b != "constant"],
)
def test_a_refit_that_fails_leaves_the_old_model_usable(X, broken, center):
    """A new mean_ or n_features_in_ beside old components_ is neither model."""
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
