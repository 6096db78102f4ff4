"""The best start within the span of the SVD: laws of it, and that it leads higher."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import NoDirectionWarning, SphericalPCA
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.solvers.start import svd_start
from sphericalpca.solvers.within import improved, with_best_start


def _clouds(rng, n=300, m=24, groups=12):
    """Narrow groups of very different sizes."""
    centres = rng.standard_normal((groups, m))
    which = np.minimum(rng.geometric(0.3, n), groups) - 1
    return centres[which] + 0.2 * rng.standard_normal((n, m))


def test_other_starts_lead_higher_where_the_svd_leads_astray():
    """Rows without a preferred direction have many local maxima."""
    gains = []
    for seed in range(12):
        X = np.random.default_rng(seed).standard_normal((60, 10))
        auto = SphericalPCA(2, tol=1e-6, max_iter=500).fit(X)
        plain = SphericalPCA(2, tol=1e-6, max_iter=500, init="svd").fit(X)
        gains.append(auto.mean_cosine_ - plain.mean_cosine_)
        ratio = plain.svd_ratio_ * plain.mean_cosine_ / auto.mean_cosine_
        assert auto.svd_ratio_ == pytest.approx(ratio, rel=1e-9)
    assert min(gains) > -1e-5
    assert max(gains) > 1e-3


def test_a_better_start_is_orthonormal_within_the_span_and_knows_f_of_the_svd(rng):
    for seed in range(12):
        problem = Problem(as_rows(_clouds(np.random.default_rng(seed))))
        start = svd_start(problem, 3, rng)
        better = with_best_start(problem, start)
        np.testing.assert_allclose(better.U.T @ better.U, np.eye(3), atol=1e-12)
        S = start.span
        np.testing.assert_allclose(S @ (S.T @ better.U), better.U, atol=1e-10)
        if better is not start:
            assert better.svd_value == pytest.approx(problem.evaluate(start.U).value, rel=1e-12)
            assert problem.evaluate(better.U).value > 0


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 1e30])
def test_the_choice_does_not_depend_on_the_unit_of_length(scale, rng):
    X = _clouds(rng)
    one = SphericalPCA(3, normalize=False).fit(X)
    other = SphericalPCA(3, normalize=False).fit(X * scale)
    assert other.mean_cosine_ == pytest.approx(one.mean_cosine_, rel=1e-9)


def test_a_start_without_a_span_is_left_alone(rng):
    problem = Problem(as_rows(rng.standard_normal((20, 5))))
    start = improved(problem, svd_start(problem, 2, rng))
    bare = type(start)(start.U)
    assert with_best_start(problem, bare) is bare
    assert improved(problem, bare) is bare


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("m", [2, 1100])
def test_samples_without_a_direction_do_no_harm(layout, m):
    """Among 30,000 rows a sample of every eighth misses the only one that is not zero."""
    X = np.zeros((30_000, m), dtype=np.float32)
    X[1, :2] = 3, 4
    with pytest.warns(NoDirectionWarning, match="29999 of 30000"):
        model = SphericalPCA(1, random_state=0).fit(layout(X))
    np.testing.assert_allclose(np.abs(model.components_[0, :2]), [0.6, 0.8], rtol=1e-6)


def test_draws_do_not_depend_on_the_basis_of_the_span(rng):
    """Rounding may turn the basis in which the SVD was computed; the start stays the same."""
    moved = 0
    for seed in range(8):
        X = np.random.default_rng(seed).standard_normal((60, 10)) + 0.1
        problem = Problem(as_rows(X))
        start = svd_start(problem, 2, np.random.default_rng(0))
        Q = np.linalg.qr(rng.standard_normal((start.span.shape[1],) * 2))[0]
        turned = replace(start, span=start.span @ Q, coordinates=Q.T @ start.coordinates)
        found = [with_best_start(problem, one) for one in (start, turned)]
        moved += found[0] is not start
        np.testing.assert_allclose(*(one.U @ one.U.T for one in found), atol=1e-9)
    assert moved >= 3
