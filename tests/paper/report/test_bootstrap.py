"""The interval of bootstrap replicates: their spread is the standard error itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from paper.report.bootstrap import bootstrap_difference
from sphericalpca.metrics import paired_difference


def test_replicates_spread_like_the_error_of_the_whole_sample(rng):
    """For a mean the standard error is known: sd / sqrt(n), whatever the number of replicates."""
    sample = rng.standard_normal(400) + 0.1
    standard_error = sample.std(ddof=1) / math.sqrt(len(sample))
    for replicates in (50, 2000):
        drawn = rng.choice(sample, (replicates, len(sample))).mean(axis=1)
        found = bootstrap_difference(drawn, np.zeros(replicates))
        half = stats.t.ppf(0.975, replicates - 1) * standard_error
        assert found.high - found.low == pytest.approx(2 * half, rel=0.3)
        assert found.mean == pytest.approx(sample.mean(), abs=standard_error)
        assert math.isnan(found.p_value)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("n", [2, 10, 60])
def test_the_interval_of_replicates_is_that_of_their_mean_without_the_root(n, confidence, rng):
    a, b = rng.standard_normal(n) + 0.3, rng.standard_normal(n)
    found = bootstrap_difference(a, b, confidence=confidence)
    half = stats.t.ppf((1 + confidence) / 2, n - 1) * (a - b).std(ddof=1)
    assert found.high - found.mean == pytest.approx(half)
    assert found.mean - found.low == pytest.approx(half)
    assert (found.mean, found.n) == (paired_difference(a, b).mean, n)


def test_one_replicate_says_nothing_of_the_spread():
    found = bootstrap_difference([3.0], [1.0])
    assert (found.mean, found.low, found.high) == (2.0, -math.inf, math.inf)


def test_large_differences():
    near, far = (bootstrap_difference([0.0, 2 * c, 3 * c], [c, 0.0, c]) for c in (1.0, 1e300))
    for name in ("mean", "low", "high"):
        assert getattr(far, name) / 1e300 == pytest.approx(getattr(near, name))


def test_pairs_that_are_no_pairs_are_refused():
    with pytest.raises(ValueError, match=r"a has shape .* same length"):
        bootstrap_difference([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="1 of 2 pairs are not finite"):
        bootstrap_difference([1.0, math.nan], [1.0, 2.0])
    with pytest.raises(ValueError, match="confidence="):
        bootstrap_difference([1.0], [2.0], confidence=95)
