"""What to expect of a cosine: errors among neighbours of held-out rows, calibrated.

Rows are found because their estimates are high, so these are too high on average, and most of all
for the best of many: quantiles depend on the estimate, and on the rank as a share of all rows.
"""

from __future__ import annotations

import itertools

import numpy as np

from sphericalpca.linalg import Array

__all__ = ["NEIGHBOURS", "calibrate", "interval"]

NEIGHBOURS = 63
RANKS = (0, 1, 3, 7, 15, 31, NEIGHBOURS)
TAILS = (0.025, 0.975)
BINS, FEWEST = 16, 200


def calibrate(estimates: Array, truths: Array, n: int) -> Array:
    """Lines of rank / n, estimate and the quantiles of truth - estimate there.

    Both arrays have a line of neighbours for each query, best first, among n rows.
    """
    lines = [(0.0, 0.0, 0.0, 0.0)]
    for first, end in itertools.pairwise(RANKS):
        found = estimates[:, first:end].ravel()
        order = np.argsort(found, kind="stable")
        errors = truths[:, first:end].ravel() - found
        count = int(np.clip(len(order) // FEWEST, 1, BINS))
        for part in np.array_split(order, count) if len(order) else ():
            ends = np.quantile(errors[part], TAILS, method="weibull")
            lines.append(((first + end) / 2 / n, found[part].mean(), *ends))
    return np.array(lines[1:] or lines, dtype=np.float64)


def interval(quantiles: Array, estimates: Array, n: int) -> Array:
    """Lower and upper ends for the cosines of neighbours, best first, that were found in n rows."""
    shares = np.unique(quantiles[:, 0])
    middle = np.sqrt(shares[:-1] * shares[1:])
    groups = np.searchsorted(middle, (np.arange(estimates.shape[1]) + 0.5) / n)
    ends = np.empty((2, *estimates.shape))
    for column, group in enumerate(groups):
        _, knots, *errors = quantiles[quantiles[:, 0] == shares[group]].T
        for end, error in zip(ends, errors, strict=True):
            end[:, column] = estimates[:, column] + np.interp(estimates[:, column], knots, error)
    return np.clip(ends, -1, 1)
