"""The interval of bootstrap replicates: their spread is the standard error itself."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from paper.report.bootstrap import bootstrap_difference
from sphericalpca.metrics import paired_difference


@pytest.mark.parametrize(("n", "confidence"), [(2, 0.95), (10, 0.5), (60, 0.999)])
def test_the_interval_of_replicates_is_that_of_their_mean_without_the_root(n, confidence, rng):
    """Replicates spread like the error of the whole sample: no square root of their number."""
    a, b = rng.standard_normal(n) + 0.3, rng.standard_normal(n)
    found = bootstrap_difference(a, b, confidence=confidence)
    half = stats.t.ppf((1 + confidence) / 2, n - 1) * (a - b).std(ddof=1)
    assert found.high - found.mean == pytest.approx(half)
    assert found.mean - found.low == pytest.approx(half)
    assert (found.mean, found.n) == (paired_difference(a, b).mean, n)
    assert math.isnan(found.p_value)


def test_pairs_that_are_no_pairs_are_refused():
    with pytest.raises(ValueError, match=r"a has shape .* same length"):
        bootstrap_difference([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="1 of 2 pairs are not finite"):
        bootstrap_difference([1.0, math.nan], [1.0, 2.0])
    with pytest.raises(ValueError, match="confidence="):
        bootstrap_difference([1.0], [2.0], confidence=95)
