"""Queries held out of the data, and the recall of their neighbours after a reduction."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse, stats

from sphericalpca.exceptions import DataError, Parameter, ParameterError
from sphericalpca.linalg import Array
from sphericalpca.metrics.neighbours import check_k, nearest_neighbours, recall_per_query
from sphericalpca.metrics.search import BLOCK_ROWS, NOBODY, Ids, Metric, Neighbours
from sphericalpca.metrics.significance import check_confidence
from sphericalpca.rows import ClusterMatrix, Matrix, RowSource, as_rows

__all__ = ["HeldOut", "Share", "bisected", "mean_share", "smallest", "take_rows"]

# Rows beyond the k-th that are checked for ties with it, such as copies of a text.
SPARE = 64
# Cosines that differ by at most this many rounding errors are equal.
ROUNDING = 8
# Largest fraction of the rows that is held out.
LARGEST_PART = 0.2


@dataclass(frozen=True)
class Share:
    """A mean share over queries, with its confidence interval.

    Attributes
    ----------
    mean, low, high : float
        From 0 to 1; the ends of the interval lie around the mean.
    """

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class HeldOut:
    """Queries, and their true neighbours by cosine among the other rows.

    Attributes
    ----------
    ids : int array of shape (n_queries,)
        Row numbers of the queries, increasing.
    truth : Neighbours
        More than `k` for each query, to detect ties with the k-th.
    k : int
        The largest number of neighbours available.
    n_rows : int
        Rows of the data, queries included.
    """

    ids: Ids
    truth: Neighbours
    k: int
    n_rows: int

    @staticmethod
    def draw(X: Matrix | RowSource, count: int, k: int, rng: np.random.Generator) -> HeldOut:
        """Draw at most `count` rows that have a direction, and search for the neighbours of each.

        At most a fifth of all rows are drawn; `k` is the largest number of neighbours needed.
        """
        if not (isinstance(X, (np.ndarray, RowSource)) or sparse.issparse(X)):
            far = isinstance(X, ClusterMatrix)
            what = "on a Dask cluster" if far else f"a {type(X).__name__}"
            remedy = f"pass {'X.compute()' if far else 'an array'}, or files opened by open_rows"
            raise DataError(f"X is {what}", "neighbours are searched in this process", remedy)
        norms = as_rows(X).stats.norm
        there, zero = np.flatnonzero(norms > 0), np.flatnonzero(norms == 0)
        if count < 2:
            rule = "must be at least 2 for a mean share with an interval"
            raise ParameterError(Parameter("queries", count), rule)
        count = min(count, int(LARGEST_PART * len(there)))
        n_base = len(there) - count
        if count < 2 or not 1 <= k <= n_base:
            rows = "1 row that is" if len(there) == 1 else f"{len(there)} rows that are"
            few = f"X has {rows} not zero, too few to hold out queries and look for "
            value = (few, Parameter("k", k), " neighbours among the rest")
            more = f"pass at least {max(10, math.ceil(k / (1 - LARGEST_PART)))} such rows"
            fewer = (", or pass ", Parameter("k", n_base)) if count >= 2 else ()
            raise DataError(value, remedy=(more, *fewer))
        ids = np.sort(rng.choice(there, count, replace=False))
        wanted, absent = min(k + SPARE, n_base), np.concatenate([ids, zero])
        found = nearest_neighbours(X, take_rows(X, ids), wanted, left_out=absent)
        return HeldOut(ids, found, k, X.shape[0])

    @property
    def n_base(self) -> int:
        """Rows that were not held out."""
        return self.n_rows - len(self.ids)

    @property
    def weight(self) -> Array:
        """Weights for a fit that never sees the queries: 0 for them, 1 for other rows."""
        weight = np.ones(self.n_rows)
        weight[self.ids] = 0.0
        return weight

    def right(self, k: int) -> Ids:
        """Row numbers of the first k neighbours and of ties with the k-th, padded with -1."""
        if not isinstance(k, Integral) or not 1 <= k <= self.k:
            rule = f"must be an integer from 1 to {self.k}, the number of neighbours searched"
            raise ParameterError(Parameter("k", k), rule, "draw again for more")
        scores = self.truth.scores
        slack = ROUNDING * float(np.finfo(scores.dtype).eps)
        ties = scores >= scores[:, k - 1 : k] - slack
        return np.where(ties, self.truth.ids, NOBODY)

    def search(self, Z: Array, k: int, metric: Metric = "cosine") -> Ids:
        """The ids that a search among the reduced rows Z finds, shape (n_queries, k)."""
        return nearest_neighbours(Z, Z[self.ids], k, metric=metric, left_out=self.ids).ids

    def recall(self, found: Ids, k: int) -> Array:
        """The share of the k true neighbours among those found, shape (n_queries,)."""
        return recall_per_query(self.right(k), found, k)


def mean_share(shares: Any, k: int, confidence: float = 0.95) -> Share:
    """Compute the mean of shares, such as recalls, one for each query, and its interval.

    Queries are independent, but the k hits of one query are not.  So Wilson's interval is used
    with the number of independent trials that explains the variance between queries.  If all
    queries agree, for example on 1, the interval does not shrink to a point.

    Parameters
    ----------
    shares : array-like of shape (n_queries,)
        From 0 to 1.
    k : int
        Number of trials per share.
    confidence : float, default=0.95

    Returns
    -------
    share : Share

    Raises
    ------
    ParameterError
        If there are no shares or some are outside 0 to 1, if `k` is not a positive integer, or if
        `confidence` is not between 0 and 1.

    Examples
    --------
    >>> from sphericalpca.metrics import mean_share
    >>> share = mean_share([1.0, 0.8, 0.9, 1.0], k=10)
    >>> round(share.mean, 3), share.low < share.mean < share.high
    (0.925, True)
    """
    values = np.asarray(shares)
    numbers = values.dtype.kind in "biuf" and values.ndim == 1 and values.size > 0
    if not numbers or not ((values >= 0) & (values <= 1)).all():
        rule = "must be a list of numbers from 0 to 1, one per query, for at least one query"
        raise ParameterError(f"shares has shape {values.shape} and type {values.dtype}", rule)
    check_k(k, "the number of trials per share")
    check_confidence(confidence)
    values = values.astype(np.float64)
    n, mean = len(values), float(values.mean())
    spread, chance = float(values.var(ddof=1)) if n > 1 else 0.0, mean * (1 - mean)
    trials = float(n)
    if chance > 0:
        trials = n * k if spread == 0 else min(max(n * chance / spread, n), n * k)
    z = float(stats.t.ppf((1 + confidence) / 2, max(n - 1, 1)))
    centre = (mean + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(chance / trials + (z / (2 * trials)) ** 2)
    # Rounding must not put the mean outside.
    low, high = min(centre - half, mean), max(centre + half, mean)
    return Share(mean, max(low, 0.0), min(high, 1.0))


def bisected(low: int, high: int, reaches: Callable[[int], bool]) -> int:
    """Find the smallest size that reaches the target; `high` does, and `low` does not."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def smallest(reaches: Callable[[int], bool], first: int, limit: int) -> int:
    """Find the smallest size that reaches the target, by doubling and bisection, or `limit`."""
    low, high = 0, min(first, limit)
    while not reaches(high):
        if high == limit:
            return limit
        low, high = high, min(2 * high, limit)
    return bisected(low, high, reaches)


def take_rows(X: Matrix | RowSource, ids: Ids) -> Matrix:
    """Load the rows with these increasing numbers."""
    if not isinstance(X, RowSource):
        return X if len(ids) == X.shape[0] else X[ids]
    first, taken = 0, []
    for block in X.read(slice(0, X.shape[0]), BLOCK_ROWS):
        here = ids[(ids >= first) & (ids < first + block.shape[0])] - first
        taken.append(block[here])
        first += block.shape[0]
    return sparse.vstack(taken).tocsr() if sparse.issparse(taken[0]) else np.concatenate(taken)
