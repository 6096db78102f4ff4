"""The weighted mean of the rows, for centring."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sphericalpca.linalg import Array
from sphericalpca.rows.base import Watch
from sphericalpca.rows.block import Block, Matrix, stored_numbers
from sphericalpca.rows.reading import RowSource, refuse_non_finite
from sphericalpca.rows.streamed import RawRows

__all__ = ["shares", "weighted_mean"]

# Rows are brought to float64 to be added up, this many stored numbers at a time.
BLOCK_ENTRIES = 3_000_000


def weighted_mean(
    X: Matrix | RowSource, weight: Array | None = None, watch: Watch | None = None
) -> Array:
    """Weighted mean of all rows, zero rows included, in float64; a sparse X stays sparse.

    Rows in files are checked on the way: a NaN or infinity is a `DataError` that names it.
    """
    add_up = _sum_in_files if isinstance(X, RowSource) else _sum_in_memory
    return add_up(X, shares(X.shape[0], weight), watch)


def shares(n: int, weight: Array | None) -> Array:
    """Weights that sum to 1, which keeps a weighted sum of rows within the range of the data."""
    share = np.ones(n) if weight is None else weight / weight.max()
    return np.asarray(share / share.sum())


def _sum_in_memory(X: Matrix, share: Array, watch: Watch | None) -> Array:
    n, m = X.shape
    height = max(1, BLOCK_ENTRIES * n // max(stored_numbers(X), 1))
    total = np.zeros(m)
    for first in range(0, n, height):
        part = share[first : first + height]
        total += _sum(X[first : first + height], part)
        if watch is not None:
            watch(len(part))
    return total


def _sum_in_files(source: RowSource, share: Array, watch: Watch | None) -> Array:
    def weighted_sum(block: Block) -> tuple[Array]:
        refuse_non_finite(source, block.span.start, block.matrix)
        return (_sum(block.matrix, share[block.span]),)

    return np.asarray(RawRows(source, watch=watch).sweep(weighted_sum)[0])


def _sum(X: Matrix, share: Array) -> Array:
    # A transposed float32 array would be brought to float64 column by column: four times slower.
    return np.asarray(X.T @ share if sparse.issparse(X) else share @ X)
