"""`svd_ratio` is above 1 only where f fell for real."""

import numpy as np
import pytest

from sphericalpca import SphericalPCA
from sphericalpca.problem import Problem
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.rows import as_rows
from sphericalpca.solvers import Linearized, solve


def _ratio(X, r, solver, **options):
    options = {"tol": 1e-6, "max_iter": 20, "rng": np.random.default_rng(0), **options}
    return solve(Problem(as_rows(X)), r, solver=solver, **options).svd_ratio


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", SOLVERS)
def test_rounding_never_takes_the_ratio_above_one(name, dtype):
    """Where the SVD is the answer: rows in a subspace of r dimensions, which rounding blurs."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        r = int(rng.integers(1, 5))
        X = rng.standard_normal((40, r)) @ rng.standard_normal((r, 12))
        X += rng.choice([0.0, 1e-9, 1e-5]) * rng.standard_normal(X.shape)
        ratio = _ratio(X.astype(dtype), r, SOLVERS[name].load()())
        assert 0.99 < ratio <= 1.0, seed


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nor_where_a_mean_cosine_is_asked_for(dtype):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 12))
        for share in (0.5, 0.9, 0.999):
            assert SphericalPCA(share).fit(X.astype(dtype)).svd_ratio_ <= 1.0, seed


def test_a_real_fall_stays_above_one(rng):
    """Algorithm 1 with constants far below its condition overshoots."""
    X = rng.standard_normal((200, 20)) * np.linspace(3, 0.1, 20)
    assert _ratio(X, 3, Linearized(lam=1.0, mu=1.0), tol=0, max_iter=3) > 1.001
