"""A certificate of float32 rows holds for these rows, whatever float32 does to the numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import certificate
from sphericalpca.certificate import certify
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.solvers import Alternating, solve

EPS = float(np.finfo(np.float32).eps)


def _draw(seed):
    """Float32 rows whose relaxation is often tight: near a subspace, of few kinds, or on a line."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(5, 60)), int(rng.integers(3, 40))
    r = int(rng.integers(1, min(n, m)))
    X = rng.standard_normal((n, r)) @ rng.standard_normal((r, m))
    X += rng.choice([0.0, 1e-4, 0.1, 0.5]) * rng.standard_normal((n, m))
    X *= 10.0 ** rng.uniform(-3, 3)
    weight = rng.uniform(0.1, 2, n) if seed % 3 == 0 else np.ones(n)
    return X.astype(np.float32), weight, r


def _exact_rows(X, normalize):
    X = X.astype(np.float64)
    return X / np.linalg.norm(X, axis=1, keepdims=True) if normalize else X


def _value(X, w, U):
    return float(w @ np.linalg.norm(X @ np.linalg.qr(U)[0], axis=1))


def _best(X, w, U, steps=300):
    """The largest f by exact alternation in plain float64, from U, the SVD and random starts."""
    r, rng = U.shape[1], np.random.default_rng(0)
    svd = np.linalg.svd(np.sqrt(w)[:, None] * X)[2][:r].T
    found = 0.0
    for start in (U, svd, *rng.standard_normal((2, *U.shape))):
        at = np.linalg.qr(start)[0]
        for _ in range(steps):
            Y = X @ at
            V = Y / np.maximum(np.linalg.norm(Y, axis=1, keepdims=True), 1e-300)
            A, _, B = np.linalg.svd(X.T @ (w[:, None] * V), full_matrices=False)
            moved = np.abs(A @ B - at).max()
            at = A @ B
            if moved < 1e-13:
                break
        found = max(found, _value(X, w, at))
    return found


def _certified(X, w, r, *, normalize=True):
    problem = Problem(as_rows(X, weight=w, normalize=normalize))
    options = {"tol": 1e-6, "max_iter": 300, "rng": np.random.default_rng(0)}
    U = solve(problem, r, solver=Alternating(), **options).solution.U.astype(np.float64)
    return certify(problem, U), U


@pytest.mark.parametrize("normalize", [True, False], ids=["unit", "raw"])
def test_the_bound_of_float32_rows_is_not_below_a_float64_value(normalize):
    for seed in range(40):
        X, w, r = _draw(seed)
        exact = _exact_rows(X, normalize)
        found, U = _certified(X, w, r, normalize=normalize)
        best = _best(exact, w, U)
        assert found.rigorous
        assert found.bound >= best, seed
        # So is the share that U may fall short of.
        assert found.gap >= best / _value(exact, w, U) - 1, seed


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("size", [2048, 20], ids=["features", "rows"])
def test_every_direct_way_to_the_eigenvalues_allows_for_rounding(layout, size, monkeypatch):
    monkeypatch.setattr(certificate, "DIRECT_SIZE", size)
    for seed in range(10):
        X = _draw(seed)[0][:15]
        X = np.hstack([X] * (21 // X.shape[1] + 1))
        r, w = min(3, len(X) - 1), np.ones(len(X))
        found, U = _certified(sparse.csr_array(X) if layout == "csr" else X, w, r)
        assert found.rigorous
        assert found.bound >= _best(_exact_rows(X, normalize=True), w, U), seed


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("r", [1, 3, 5])
def test_no_gap_is_below_rounding(dtype, r, rng):
    """Rows in a line, in a plane of three dimensions, and in all there are."""
    X = (rng.standard_normal((50, r)) @ rng.standard_normal((r, 5))).astype(dtype)
    found, _ = _certified(X, np.ones(50), r)
    eps = float(np.finfo(dtype).eps)
    assert eps <= found.gap <= 1000 * eps
    assert found.bound > found.value


def test_the_allowance_of_float32_stays_small_for_long_rows(rng):
    """Sums over more than 1,024 features are added up in float64."""
    for m in (1024, 2000):
        x = rng.standard_normal(m)
        X = np.outer(np.ones(30), x).astype(np.float32)
        problem = Problem(as_rows(X))
        found = certify(problem, x[:, None] / np.linalg.norm(x), max_bounds=1)
        assert EPS < found.gap < 4e-5
