"""The weighted mean of the rows, for centring."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sphericalpca.linalg import Array
from sphericalpca.rows.block import Matrix

__all__ = ["weighted_mean"]

# Rows are brought to float64 to be added up, this many stored numbers at a time.
BLOCK_ENTRIES = 3_000_000


def weighted_mean(X: Matrix, weight: Array | None = None) -> Array:
    """Weighted mean of all rows, zero rows included, in float64; a sparse X stays sparse."""
    n, m = X.shape
    share = np.ones(n) if weight is None else weight / weight.max()
    # The shares sum to 1, which keeps the sum within the range of the data.
    share = share / share.sum()
    entries = X.nnz if sparse.issparse(X) else n * m
    height = max(1, BLOCK_ENTRIES * n // max(entries, 1))
    total = np.zeros(m)
    for first in range(0, n, height):
        total += X[first : first + height].T @ share[first : first + height]
    return total
