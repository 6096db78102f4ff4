"""Tests of paired differences between methods, and corrections for several tests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import stats

from sphericalpca.exceptions import Parameter, ParameterError
from sphericalpca.linalg import Array

__all__ = ["PairedDifference", "holm", "paired_difference"]

# Up to this many differences the exact distribution of the rank sum is computed.
EXACT_SIZE = 50


@dataclass(frozen=True)
class PairedDifference:
    """Difference between two methods in paired measurements.

    Attributes
    ----------
    mean : float
        Mean of a - b.
    low, high : float
        Ends of the confidence interval (Student's t over pairs); -inf and inf for one pair.
    p_value : float
        Wilcoxon's signed-rank test, two-sided; 1 if all differences are zero.
    n : int
        Number of pairs.
    """

    mean: float
    low: float
    high: float
    p_value: float
    n: int


def paired_difference(a: Any, b: Any, *, confidence: float = 0.95) -> PairedDifference:
    """Compare two methods measured on the same draws.

    The p value is exact for up to 50 non-zero differences, ties included, and scipy's
    normal approximation beyond.  Zero differences are dropped, as Wilcoxon proposed.

    Parameters
    ----------
    a, b : array-like of shape (n_pairs,)
        One measurement of each method per draw, in the same order.
    confidence : float, default=0.95
        Coverage of the interval.

    Returns
    -------
    difference : PairedDifference

    Raises
    ------
    ParameterError
        If a and b are not lists of finite numbers of the same length, or `confidence` is not
        between 0 and 1.

    Examples
    --------
    >>> from sphericalpca.metrics import paired_difference
    >>> found = paired_difference([0.8, 0.7, 0.9, 0.8], [0.7, 0.5, 0.6, 0.4])
    >>> round(found.mean, 3), found.p_value
    (0.25, 0.125)
    """
    check_confidence(confidence)
    d = _differences(a, b)
    n, scale = len(d), float(np.abs(d).max()) or 1.0
    mean, half = float((d / scale).mean()) * scale, math.inf
    if n > 1:
        # Divided by the largest difference, squares and sums stay in range.
        deviation = float((d / scale).std(ddof=1)) * scale
        half = float(stats.t.ppf((1 + confidence) / 2, n - 1)) * deviation / math.sqrt(n)
    return PairedDifference(mean, mean - half, mean + half, _signed_rank_p(d), n)


def holm(p_values: Any) -> Array:
    """Correct p-values of several tests by Holm's step-down method.

    The i-th smallest of m p values is multiplied by m - i + 1; none may become smaller
    than one before it, or larger than 1.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)

    Returns
    -------
    adjusted : ndarray of shape (n_tests,)
        In the order given; reject where the value is at most the chosen level.

    Raises
    ------
    ParameterError
        If they are not a list of numbers from 0 to 1.

    Examples
    --------
    >>> from sphericalpca.metrics import holm
    >>> holm([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        rule = "must be a list of numbers from 0 to 1"
        raise ParameterError(Parameter("p_values", p_values), rule)
    order = np.argsort(p, kind="stable")
    stepped = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def _differences(a: Any, b: Any) -> Array:
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or not a.size:
        rule = "they must be two non-empty lists of the same length, one measurement per draw"
        raise ParameterError(f"a has shape {a.shape} and b shape {b.shape}", rule)
    with np.errstate(over="ignore", invalid="ignore"):
        d = np.asarray(a - b)
    broken = int((~np.isfinite(d)).sum())
    if broken:
        value = f"{broken} of {len(a)} pairs are not finite numbers"
        raise ParameterError(value, remedy="drop those pairs from both")
    return d


def check_confidence(value: float, name: str = "confidence") -> None:
    """Raise an error unless a confidence, or another share, is between 0 and 1."""
    if not isinstance(value, Real) or not 0 < value < 1:
        rule = "must be between 0 and 1, both excluded, such as 0.95"
        raise ParameterError(Parameter(name, value), rule)


def _signed_rank_p(d: Array) -> float:
    """Wilcoxon's signed-rank p value, two-sided, zeros dropped."""
    size = np.abs(d)
    if not size.any():
        return 1.0
    # Accuracies are quotients of integers: equal differences may differ by rounding.
    size = np.round(size / size.max(), 12)
    d, size = d[size > 0], size[size > 0]
    if len(d) > EXACT_SIZE:
        return float(stats.wilcoxon(np.sign(d) * size).pvalue)
    ranks = np.round(2 * stats.rankdata(size)).astype(int)  # ranks of ties may be half-integers
    observed, total = int(ranks[d > 0].sum()), int(ranks.sum())
    # Distribution of the sum of ranks, each included with probability 1/2.
    chance = np.zeros(total + 1)
    chance[0] = 1.0
    for rank in ranks:
        chance[rank:] = (chance[rank:] + chance[: total + 1 - rank]) / 2
        chance[:rank] /= 2
    tail = chance[: min(observed, total - observed) + 1].sum()
    return float(min(2 * tail, 1.0))
