"""How large can NMI be at a given accuracy?  Exact for two clusters of two classes.

A clustering of n_1 + n_2 samples into two clusters is, up to names, a table

            cluster A   cluster B
    class 1     a        n_1 - a
    class 2     b        n_2 - b

with (n_1 + 1)(n_2 + 1) possible (a, b); one of the clusters may be empty.  Its accuracy is
max(a + n_2 - b, n_1 - a + b) / (n_1 + n_2), so every number of correct samples from half of
them to all of them occurs.  The largest NMI for each is found by enumerating all tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from numbers import Integral
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import entr

from sphericalpca.exceptions import Parameter, ParameterError, check_choice
from sphericalpca.linalg import Array
from sphericalpca.metrics.clustering import Normalisation

__all__ = ["nmi_ceiling"]

Counts = npt.NDArray[np.integer[Any]]

# Tolerance for accuracies at the boundary of those that round to the given one.
EDGE = 1e-12


def nmi_ceiling(
    accuracy: float,
    class_sizes: Sequence[int],
    *,
    normalisation: Normalisation = "max",
    mean: bool = False,
    rounding: float = 0.0005,
) -> float:
    """The largest NMI that a clustering into two clusters can have at this accuracy.

    Parameters
    ----------
    accuracy : float
        By the best one-to-one matching, known up to `rounding`.
    class_sizes : sequence of two positive int
        Number of samples in each of the two classes.
    normalisation : {"max", "arithmetic", "geometric", "min"}, default="max"
        As in `nmi`.
    mean : bool, default=False
        Whether accuracy and NMI are means over clusterings of the same samples.  A mean
        over unequal clusterings can lie above what one clustering can have: its ceiling
        is the concave envelope, over all accuracies, of the ceiling of one.
    rounding : float, default=0.0005
        The true accuracy lies within this distance of the one given; the default is for
        three printed digits, 0 for an exact accuracy.

    Returns
    -------
    ceiling : float
        NaN if `mean` is false and no single clustering has such an accuracy.

    Raises
    ------
    ParameterError
        If there are not two classes, or the accuracy is not from 0 to 1.

    Examples
    --------
    >>> from paper.ceiling import nmi_ceiling
    >>> round(nmi_ceiling(0.832, (500, 268), normalisation="arithmetic"), 3)
    0.479
    >>> round(nmi_ceiling(0.832, (500, 268), normalisation="arithmetic", mean=True), 3)
    0.71
    """
    check_choice("normalisation", normalisation, get_args(Normalisation))
    n_1, n_2 = _check_sizes(class_sizes)
    accuracies, ceilings = _ceilings(n_1, n_2, normalisation)
    if not (math.isfinite(rounding) and rounding >= 0):
        rule = "must be a number >= 0, such as 0.0005"
        raise ParameterError(Parameter("rounding", rounding), rule)
    lowest, highest = accuracy - rounding - EDGE, accuracy + rounding + EDGE
    if not (lowest <= 1 and highest >= accuracies[0]):
        raise ParameterError(
            Parameter("accuracy", accuracy),
            f"must be from {accuracies[0]:.4g} to 1",
            f"the better of two matchings gets at least half of {n_1} + {n_2} samples right",
        )
    if mean:
        # The envelope rises to 1 at accuracy 1, so its right end is where it is largest.
        return _envelope(accuracies, ceilings, min(highest, 1.0))
    near = (lowest <= accuracies) & (accuracies <= highest)
    return float(ceilings[near].max()) if near.any() else math.nan


def _check_sizes(class_sizes: Any) -> tuple[int, int]:
    sizes = tuple(class_sizes)
    if len(sizes) != 2 or not all(isinstance(n, Integral) and int(n) >= 1 for n in sizes):
        raise ParameterError(
            Parameter("class_sizes", class_sizes),
            "must be two positive integers",
            "the ceiling is worked out for two classes and two clusters only",
        )
    return int(sizes[0]), int(sizes[1])


@lru_cache(maxsize=32)
def _ceilings(n_1: int, n_2: int, normalisation: str) -> tuple[Array, Array]:
    """Every attainable accuracy, increasing, and the largest NMI at each."""
    n = n_1 + n_2
    a, b = np.arange(n_1 + 1)[:, None], np.arange(n_2 + 1)
    right = np.maximum(a + n_2 - b, n_1 - a + b)
    fewest = (n + 1) // 2
    ceilings = np.zeros(n - fewest + 1)
    np.maximum.at(ceilings, right - fewest, _nmi_of_tables(a, b, n_1, n_2, normalisation))
    return np.arange(fewest, n + 1) / n, ceilings


def _nmi_of_tables(a: Counts, b: Counts, n_1: int, n_2: int, normalisation: str) -> Array:
    n = n_1 + n_2
    of_classes = entr(n_1 / n) + entr(n_2 / n)
    of_clusters = entr((a + b) / n) + entr((n - a - b) / n)
    joint = entr(a / n) + entr((n_1 - a) / n) + entr(b / n) + entr((n_2 - b) / n)
    information = np.maximum(of_classes + of_clusters - joint, 0.0)
    scale = {
        "max": np.maximum(of_classes, of_clusters),
        "arithmetic": (of_classes + of_clusters) / 2,
        "geometric": np.sqrt(of_classes * of_clusters),
        "min": np.minimum(of_classes, of_clusters),
    }[normalisation]
    # A single cluster carries no information: 0 / 0 is 0 here.
    shares = np.divide(information, scale, out=np.zeros_like(information), where=of_clusters > 0)
    return np.asarray(np.minimum(shares, 1.0))


def _envelope(x: Array, y: Array, at: float) -> float:
    """Least concave function above the points (x, y): the highest chord over `at`."""
    left, right = x <= at, x > at
    if not right.any():
        return float(y[-1])
    share = (at - x[left, None]) / (x[right] - x[left, None])
    return float(((1 - share) * y[left, None] + share * y[right]).max())
