"""How many repetitions it takes before anything can be shown: one rule for the whole report."""

from __future__ import annotations

__all__ = ["LEVEL", "can_show", "has_interval"]

# At or below it a p-value counts as shown.
LEVEL = 0.05

# With two values Student's t is 12.7: an interval would reach beyond every accuracy there is.
FEWEST_FOR_INTERVAL = 3


def has_interval(n: int) -> bool:
    """Whether `n` values give an interval worth the name."""
    return n >= FEWEST_FOR_INTERVAL


def can_show(n: int, *, rivals: int, replicates: bool) -> bool:
    """Whether `n` pairs could show a difference, however large it is.

    The smallest p-value that Wilcoxon's test can reach is 2 / 2^n, with all signs alike, and
    Holm multiplies it by the number of rivals: one rival takes 6 pairs, ten take 9.  With
    fewer, "no difference shown" would say nothing.  Replicates have no p-value; there the
    interval decides.
    """
    return has_interval(n) and (replicates or rivals * 2.0 ** (1 - n) <= LEVEL)
