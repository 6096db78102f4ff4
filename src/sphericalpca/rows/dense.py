"""Dense rows: arrays in any memory order, and read-only memory maps."""

from __future__ import annotations

import numpy as np

from sphericalpca.linalg import Array, row_norms
from sphericalpca.parallel import equal_ends
from sphericalpca.rows.memory import MemoryRows

__all__ = ["DenseRows"]

# A block of a few megabytes is read from memory once and serves both products of a pass
# from cache; smaller blocks pay more for the call than for the numbers.
BLOCK_ENTRIES = 3_000_000
# Below this a second thread costs more than it saves.
SMALL_ENTRIES = 100_000


class DenseRows(MemoryRows):
    """A dense array."""

    def _block_ends(self, threads: int) -> list[int]:
        # As many blocks for every thread, of about the best size; few rows are not divided.
        n, size = len(self._X), self._X.size
        blocks = threads * -(-size // (threads * BLOCK_ENTRIES)) if size > SMALL_ENTRIES else 1
        return equal_ends(n, min(blocks, n))

    def _blocks_are_views(self) -> bool:
        return self._mean is None and _addressable(self._X)

    def _stored_numbers(self) -> int:
        return int(self._X.size)

    def _part(self, span: slice) -> tuple[Array, None]:
        # Subtracting a mean explicitly keeps digits that X U - mean U would cancel; a
        # slice that BLAS cannot address is made contiguous, one block at a time.
        X = self._X[span]
        if self._mean is not None:
            with np.errstate(over="ignore"):  # such rows are refused when they are measured
                return X - self._mean, None
        return (X if _addressable(X) else np.ascontiguousarray(X)), None

    def _lengths(self, span: slice) -> Array:
        norm = row_norms(self._part(span)[0])
        if self._mean is not None:
            peak = np.abs(self._X[span]).max(axis=1, initial=0.0).astype(np.float64)
            norm[norm <= 4 * np.finfo(self._X.dtype).eps * peak] = 0.0
        return norm


def _addressable(X: Array) -> bool:
    """Whether BLAS can read X where it is."""
    return X.itemsize in X.strides and min(X.strides) > 0
