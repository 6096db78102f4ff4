"""A few rows of a stream, drawn so that they stand for all rows seen.

Priority sampling (Duffield, Lund and Thorup 2007): a row of weight w gets the priority w / u, u
uniform on (0, 1], and the rows of highest priority are kept.  With t the highest priority among all
others, max(w, t) are weights whose sums over kept rows are unbiased for sums over all rows.  Rows
come in any order, and in any batches: u depends on the place in the stream alone.

The mean cosine of all rows is known exactly for the U of the time when each of them came.  That of
the current U is estimated by regression on it: for shuffled rows the two hardly differ, and the
estimate is much better than a mean over the kept rows; for sorted rows it is no worse.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from sphericalpca.linalg import Array, Labels, row_norms
from sphericalpca.rows import Matrix, Rows, as_rows

__all__ = ["Reservoir"]

# At most this many rows are kept: fewer, but not below the minimum, where they hold many numbers.
MOST_ROWS, FEWEST_ROWS = 256, 16
MOST_NUMBERS = 2**20


class Reservoir(NamedTuple):
    """Rows that were kept, with the cosines that they had when they came."""

    rows: Matrix
    weight: Array = np.empty(0)
    priority: Array = np.empty(0)
    cosine: Array = np.empty(0)
    threshold: float = 0.0  # the highest priority of a row that is not here
    total: float = 0.0  # weight of all rows
    mean: float = 0.0  # of the cosines that all rows had when they came

    def after(self, rows: Rows, U: Array, *, cosine: float, place: int) -> Reservoir:
        """Once these rows came, at U; `cosine` is their mean, `place` the number of rows before."""
        n, held, weight = rows.shape[0], len(self.weight), rows.stats.weight
        room = int(np.clip(MOST_NUMBERS * n // max(rows.stored, 1), FEWEST_ROWS, MOST_ROWS))
        u = 1.0 - np.random.Generator(np.random.PCG64(0).advance(place)).random(n)
        priority = np.append(self.priority, weight / u)
        order = np.argsort(-priority, kind="stable")
        kept = np.sort(order[:room])
        kept = kept[priority[kept] > self.threshold]
        old, new = kept[kept < held], kept[kept >= held] - held
        added, total = _taken(rows, new), self.total + rows.totals.weight
        return Reservoir(
            _stacked([self.rows[old], added]),
            np.append(self.weight[old], weight[new]),
            priority[kept],
            np.append(self.cosine[old], _cosines(added, U)),
            max(self.threshold, float(priority[order[room:]].max(initial=0.0))),
            total,
            self.mean + (cosine - self.mean) * (rows.totals.weight / total),
        )

    def mean_cosine(self, U: Array) -> float:
        """The mean cosine of all rows at U, estimated; exact as long as all rows are here."""
        share = np.maximum(self.weight, self.threshold)
        share = share / share.sum()
        now = _cosines(self.rows, U)
        apart = self.cosine - share @ self.cosine
        spread = float(share @ apart**2)
        slope = float((share * apart) @ now) / spread if spread > 1e-12 else 1.0
        return float(share @ now + slope * (self.mean - share @ self.cosine))


def _taken(rows: Rows, chosen: Labels) -> Matrix:
    """Copies of some rows, in order."""
    parts = []
    for block in rows.blocks():
        inside = (chosen >= block.span.start) & (chosen < block.span.stop)
        parts.append(block.matrix[chosen[inside] - block.span.start])
    return _stacked(parts)


def _stacked(parts: list[Matrix]) -> Matrix:
    if any(map(sparse.issparse, parts)):
        return sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
    return np.concatenate(parts)


def _cosines(X: Matrix, U: Array) -> Array:
    return row_norms(as_rows(X).project(U)) if X.shape[0] else np.empty(0)
