"""The data: weighted rows, read in blocks, whatever holds them."""

from typing import Any

import numpy as np
from scipy import sparse

from sphericalpca.linalg import Array
from sphericalpca.rows.base import Kernel, Rows
from sphericalpca.rows.block import Block, Matrix
from sphericalpca.rows.csr import SparseRows
from sphericalpca.rows.dense import DenseRows

__all__ = [
    "Block",
    "DenseRows",
    "Kernel",
    "Matrix",
    "Rows",
    "SparseRows",
    "as_rows",
    "weighted_mean",
]

# Rows are brought to float64 to be added up, this many entries at a time.
MEAN_BLOCK_ENTRIES = 3_000_000


def as_rows(X: Matrix, **options: Any) -> Rows:
    """Wrap a validated array or CSR matrix; the options are those of `MemoryRows`."""
    return SparseRows(X, **options) if sparse.issparse(X) else DenseRows(X, **options)


def weighted_mean(X: Matrix, weight: Array | None = None) -> Array:
    """Weighted mean of all rows, zero rows included, in float64; a sparse X stays sparse."""
    n, m = X.shape
    share = np.full(n, 1.0 / n) if weight is None else weight / weight.max()
    share /= share.sum()
    total = np.zeros(m)
    height = max(1, MEAN_BLOCK_ENTRIES // m)
    for first in range(0, n, height):
        # The shares sum to 1, which keeps the sum within the range of the data.
        total += X[first : first + height].T @ share[first : first + height]
    return total
