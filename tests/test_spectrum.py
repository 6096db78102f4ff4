"""Bounds of eigenvalues: never below the truth, and tight enough to be of use."""

import math

import numpy as np
import pytest
from scipy import sparse, stats

from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.spectrum import LeadingEigenvalues, Ritz, _largest_outside, tangent


def _rows(rng, n, m, density=1.0):
    X = rng.standard_normal((n, m)) * np.geomspace(1.0, 0.05, m)
    if density == 1.0:
        return X
    return sparse.csr_array(X * (rng.random((n, m)) < density))


def _top(problem, factor, r):
    X = problem.rows._X
    A = (X.toarray() if sparse.issparse(X) else X) * problem.rows.stats.scale[:, None]
    A = A * factor[:, None]
    return float(np.sort(np.linalg.eigvalsh(A.T @ A))[-r:].sum())


@pytest.mark.parametrize("shape", [(40, 90), (200, 60)])
@pytest.mark.parametrize("density", [1.0, 0.2])
@pytest.mark.parametrize("r", [1, 4])
def test_a_bound_is_above_the_eigenvalues_and_near_them(shape, density, r, rng):
    problem = Problem(as_rows(_rows(rng, *shape, density)))
    U = np.linalg.qr(rng.standard_normal((shape[1], r)))[0]
    leading = LeadingEigenvalues(problem, U)
    for _ in range(3):  # each starts from what the last one found
        factor = rng.random(shape[0]) + 0.1
        true = _top(problem, factor, r)
        bound = leading.bound(factor, 1e-6 * true)
        assert true <= bound <= true * (1.0 + 1e-4)
        about, lengths = leading.estimate(factor, 1e-6 * true)
        assert about == pytest.approx(true, rel=1e-4)
        assert lengths.shape == (shape[0],)


def test_small_problems_have_no_bound_below_the_truth():
    rng = np.random.default_rng(0)
    below = 0
    for _ in range(200):
        n, m = rng.integers(3, 30, 2)
        r = int(rng.integers(1, min(n, m)))
        problem = Problem(as_rows(_rows(rng, n, m)))
        leading = LeadingEigenvalues(problem, np.linalg.qr(rng.standard_normal((m, r)))[0])
        factor = rng.random(n) + 0.01
        below += leading.bound(factor, 1e-3) < _top(problem, factor, r)
    assert below == 0


def test_the_block_matrix_bounds_eigenvalues_for_any_vectors(rng):
    """Also for vectors that are nowhere near eigenvectors."""
    for _ in range(50):
        B = rng.standard_normal((20, 20))
        A = B @ B.T
        S = np.linalg.qr(rng.standard_normal((20, 6)))[0]
        found = Ritz.within(S, A @ S, 6)
        rest = A - S @ (S.T @ A)
        rest -= (rest @ S) @ S.T
        largest = float(np.linalg.eigvalsh(rest)[-1])
        for r in (1, 3, 6, 8):
            assert found.top_sum(r, largest) >= np.sort(np.linalg.eigvalsh(A))[-r:].sum() - 1e-9


def test_small_residuals_beside_large_ones_count(rng):
    """Through R'R they drown in rounding errors, which are added."""
    for _ in range(20):
        turn = np.linalg.qr(rng.standard_normal((2, 2)))[0]
        E = np.vstack([turn, np.zeros((2, 2))])
        R = np.vstack([np.zeros((2, 2)), np.diag([1.0, 1e-9]) @ turn])
        found = Ritz(np.ones(2), E, E + R)  # A = [1 R'; R 1]
        assert 0 <= found.top_sum(2, 1.0) - (3.0 + 1e-9) < 1e-6


@pytest.mark.parametrize("shape", [(40, 90), (90, 40)])
def test_units_do_not_matter(shape, rng):
    X, U = rng.standard_normal(shape), np.linalg.qr(rng.standard_normal((shape[1], 3)))[0]
    bounds = []
    for unit in (1e-100, 1e-12, 1.0, 1e100):
        problem = Problem(as_rows(unit * X, normalize=False))
        bounds.append(LeadingEigenvalues(problem, U).bound(np.ones(shape[0]), unit**2) / unit**2)
    np.testing.assert_allclose(bounds, bounds[2], rtol=1e-9)


def test_no_fit_draws_the_vectors_of_a_bound(rng):
    """A U from `random_state=0` would not be independent of them."""
    X = Problem(as_rows(rng.standard_normal((40, 90))))
    mine = LeadingEigenvalues(X, np.eye(90)[:, :3])._rng.random(1000)
    assert not set(mine) & set(np.random.default_rng(0).random(10_000))


def test_refining_makes_residuals_smaller(rng):
    B = rng.standard_normal((50, 50)) * np.geomspace(1, 0.01, 50)
    A = B.T @ B
    S = np.linalg.qr(rng.standard_normal((50, 5)))[0]
    first = Ritz.within(S, A @ S, 5)
    better = first.refined(lambda Q: A @ Q, 3)
    errors = [np.linalg.norm(each.images - each.vectors * each.values) for each in (first, better)]
    assert errors[1] < 0.1 * errors[0]
    np.testing.assert_allclose(better.vectors.T @ better.vectors, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(better.images, A @ better.vectors, atol=1e-8)


@pytest.mark.parametrize(("block", "size"), [(1, 5), (4, 5), (4, 50), (16, 400)])
def test_the_angle_is_exceeded_as_rarely_as_promised(block, size):
    for failure in (0.2, 1e-3, 1e-9):
        x = 1.0 / (1.0 + tangent(block, size, failure) ** 2)
        assert stats.beta(block / 2, (size - block) / 2).cdf(x) <= failure * (1.0 + 1e-9)


def test_random_vectors_have_that_angle(rng):
    """The law of the angle itself: the share of draws beyond the one for 20 %."""
    block, size, draws = 3, 20, 4000
    beyond = 0
    limit = tangent(block, size, 0.2)
    for _ in range(draws):
        Q = np.linalg.qr(rng.standard_normal((size, block)))[0]
        cosine = np.linalg.norm(Q[0])
        beyond += math.sqrt(1.0 / cosine**2 - 1.0) > limit
    assert beyond / draws < 0.22


def test_the_largest_eigenvalue_outside_is_between_the_bounds(rng):
    B = rng.standard_normal((300, 300)) * np.geomspace(1, 0.1, 300)
    A = B.T @ B
    E = np.linalg.qr(rng.standard_normal((300, 4)))[0]
    outside = np.eye(300) - E @ E.T
    true = float(np.linalg.eigvalsh(outside @ A @ outside)[-1])
    found = list(_largest_outside(lambda Q: A @ Q, E, rng, 48))
    assert all(least <= true * (1.0 + 1e-9) for least, _ in found)
    assert all(true <= least * ratio * (1.0 + 1e-9) for least, ratio in found)
    widths = [least * (ratio - 1.0) for least, ratio in found]
    assert widths[-1] < 1e-6 * true < widths[1]


def test_nothing_is_left_outside_a_whole_basis():
    assert list(_largest_outside(lambda Q: Q, np.eye(3), np.random.default_rng(0), 8)) == [(0, 1)]
