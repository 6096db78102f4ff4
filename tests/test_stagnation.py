"""A tolerance below rounding errors ends a fit, with a warning."""

import warnings

import numpy as np
import pytest

from sphericalpca import SphericalPCA
from sphericalpca.estimators.monitoring import UnfinishedFitWarning
from sphericalpca.registry.solvers import SOLVERS

EXACT = [name for name, entry in SOLVERS.items() if not entry.moves_pairs]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 12))
    return (X + 0.2 * rng.standard_normal(X.shape)).astype(np.float32)


@pytest.mark.parametrize("solver", EXACT)
def test_a_tolerance_below_the_rounding_of_float32_ends_the_fit(X, solver):
    model = SphericalPCA(3, solver=solver, tol=1e-12)
    with pytest.warns(UnfinishedFitWarning, match="made no more progress after") as caught:
        model.fit(X)
    assert len(caught) == 1
    assert "float64" in str(caught[0].message)
    assert model.stop_reason_ == "stagnant"
    assert model.n_iter_ < 500
    # It ends where a fit with a tolerance that float32 allows ends.
    near = SphericalPCA(3, solver=solver, tol=1e-5).fit(X)
    assert model.mean_cosine_ == pytest.approx(near.mean_cosine_, rel=1e-6)


def test_no_run_is_cut_short_that_still_moves(X):
    """Algorithm 1 creeps: each step is short, but the residual falls."""
    model = SphericalPCA(3, solver="linearized", tol=1e-12, max_iter=200)
    with pytest.warns(UnfinishedFitWarning, match="did not converge in 200 iterations"):
        model.fit(X.astype(np.float64))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SphericalPCA(3, tol=1e-10).fit(X.astype(np.float64)).stop_reason_ == "converged"


def test_without_a_tolerance_all_iterations_are_made(X):
    model = SphericalPCA(3, tol=0, max_iter=90)
    with pytest.warns(UnfinishedFitWarning):
        model.fit(X)
    assert (model.n_iter_, model.stop_reason_) == (90, "max_iter")
