"""The weighted mean of the rows, for centring."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sphericalpca.linalg import Array
from sphericalpca.rows.base import Watch
from sphericalpca.rows.block import Block, Matrix, spans_of, stored_numbers
from sphericalpca.rows.reading import RowSource, refuse_non_finite
from sphericalpca.rows.streamed import RawRows

__all__ = ["shares", "weighted_mean"]

# Rows are converted to float64 to be added up, this many stored numbers at a time.
BLOCK_ENTRIES = 3_000_000


def weighted_mean(
    X: Matrix | RowSource, weight: Array | None = None, watch: Watch | None = None
) -> Array:
    """Weighted mean of all rows, zero rows included, in float64; a sparse X stays sparse.

    Rows in files are checked meanwhile: NaN or infinity raises a `DataError` that names it.
    """
    share = shares(X.shape[0], weight)

    def weighted_sum(block: Block) -> tuple[Array]:
        refuse_non_finite(X, block.span.start, block.matrix)
        return (_sum(block.matrix, share[block.span]),)

    if isinstance(X, RowSource):
        return np.asarray(RawRows(X, watch=watch).sweep(weighted_sum)[0])
    total = np.zeros(X.shape[1])
    for span in spans_of(X, -(-stored_numbers(X) // BLOCK_ENTRIES) or 1):
        total += _sum(X[span], share[span])
        if watch is not None:
            watch(span.stop - span.start)
    return total


def shares(n: int, weight: Array | None) -> Array:
    """Weights that sum to 1, which keeps a weighted sum of rows within the range of the data."""
    share = np.ones(n) if weight is None else weight / weight.max()
    return np.asarray(share / share.sum())


def _sum(X: Matrix, share: Array) -> Array:
    # NumPy would convert a transposed float32 array column by column, four times more slowly.
    return np.asarray(X.T @ share if sparse.issparse(X) else share @ X)
