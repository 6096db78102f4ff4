"""What counts as significant, by one rule for the whole report: difference and equivalence."""

from __future__ import annotations

import math

from scipy import stats

from sphericalpca.metrics import PairedDifference

__all__ = ["LEVEL", "MARGIN", "can_show", "has_interval", "is_equivalent"]

# A difference is significant if its p-value is at most this.
LEVEL = 0.05

# Smaller differences do not matter; equivalence tests use this margin.
MARGIN = 0.02

# With two values Student's t is 12.7: an interval would exceed all possible accuracies.
FEWEST_FOR_INTERVAL = 3


def has_interval(n: int) -> bool:
    """Whether `n` values give a useful interval."""
    return n >= FEWEST_FOR_INTERVAL


def can_show(n: int, *, rivals: int, replicates: bool) -> bool:
    """Whether `n` pairs could show a difference, however large it is.

    The smallest p-value that Wilcoxon's test can reach is 2 / 2^n, with all signs alike, and
    Holm multiplies it by the number of rivals: one rival takes 6 pairs, ten take 9.  With
    fewer, "no significant difference" would say nothing.  Replicates have no p-value; there the
    interval decides.
    """
    return has_interval(n) and (replicates or rivals * 2.0 ** (1 - n) <= LEVEL)


def is_equivalent(gain: PairedDifference, *, margin: float = MARGIN) -> bool:
    """Whether two one-sided t tests at 5 % show that a difference is smaller than `margin`.

    That is so where the 90 % interval lies within the margin.  `gain` has the 95 % one, of the
    mean or of replicates, so its half width over its quantile is the standard error in both cases.
    """
    if not math.isfinite(gain.low) or gain.n < 2:
        return False
    error = (gain.high - gain.mean) / float(stats.t.ppf(0.975, gain.n - 1))
    return abs(gain.mean) + float(stats.t.ppf(0.95, gain.n - 1)) * error < margin
