"""A few rows of a stream, drawn so that they represent all rows seen.

Priority sampling (Duffield, Lund and Thorup 2007): a row of weight w gets the priority w / u, u
uniform on (0, 1], and the highest priorities are kept.  With t the highest of all others, max(w, t)
are weights whose sums are unbiased.  u depends on a row's place in the stream, not on batches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from sphericalpca.linalg import Array, row_norms
from sphericalpca.rows import Matrix, Rows, as_rows

__all__ = ["Reservoir"]

# Number of rows to keep at most; of wide rows fewer are kept, but not below the minimum.
MOST_ROWS, FEWEST_ROWS, MOST_NUMBERS = 256, 16, 2**20


class Reservoir(NamedTuple):
    """The rows that were kept, with their cosines on arrival."""

    rows: Matrix
    weight: Array = np.empty(0)
    priority: Array = np.empty(0)
    cosine: Array = np.empty(0)
    threshold: float = 0.0  # the highest priority of a row that is not here
    total: float = 0.0  # weight of all rows
    mean: float = 0.0  # of the cosines of all rows on arrival

    def after(self, rows: Rows, U: Array, *, cosine: float, place: int) -> Reservoir:
        """Add these rows, at U; `cosine` is their mean, `place` the number of rows before."""
        n, held, weight = rows.shape[0], len(self.weight), rows.stats.weight
        room = int(np.clip(MOST_NUMBERS * n // max(rows.stored, 1), FEWEST_ROWS, MOST_ROWS))
        u = 1.0 - np.random.Generator(np.random.PCG64(0).advance(place)).random(n)
        priority = np.append(self.priority, weight / u)
        order, kept = np.argsort(-priority, kind="stable"), np.zeros(held + n, dtype=bool)
        kept[order[:room]] = priority[order[:room]] > self.threshold
        old, new, total = kept[:held], kept[held:], self.total + rows.totals.weight
        added = _stacked([block.matrix[new[block.span]] for block in rows.blocks()])
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
        """Estimate the mean cosine of all rows at U; exact as long as all rows are kept."""
        # Regression on the cosines on arrival: their mean is known, and they are often close.
        share = np.maximum(self.weight, self.threshold)
        share = share / share.sum()
        now, then = _cosines(self.rows, U), self.cosine - share @ self.cosine
        slope = ((share * then) @ now) / max(share @ then**2, 1e-12)
        return float(share @ now + slope * (self.mean - share @ self.cosine))


def _stacked(parts: list[Matrix]) -> Matrix:
    if any(map(sparse.issparse, parts)):
        return sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
    return np.concatenate(parts)


def _cosines(X: Matrix, U: Array) -> Array:
    return row_norms(as_rows(X).project(U)) if X.shape[0] else np.empty(0)
