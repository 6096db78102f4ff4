"""Rows held in memory, or mapped into it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.rows.base import Rows
from sphericalpca.rows.block import Block, Matrix

__all__ = ["MemoryRows"]


class MemoryRows(Rows):
    """What arrays and CSR matrices share: spans of rows, and one scale per row.

    Parameters
    ----------
    X : array or CSR, shape (n, m), float32 or float64
        Neither copied nor modified.
    weight : array of shape (n,), optional
        Non-negative; all ones when left out.
    normalize : bool
        Scale every row to unit length.  Only the n scales are stored.
    mean : array of shape (m,), optional
        Subtracted from every row before it is scaled.
    block_rows : int, optional
        Rows per block; chosen from the size of the data when left out.
    """

    def __init__(
        self,
        X: Matrix,
        *,
        weight: Array | None = None,
        normalize: bool = True,
        mean: Array | None = None,
        block_rows: int | None = None,
    ) -> None:
        n = X.shape[0]
        self._X = X
        self._mean = None if mean is None else np.asarray(mean, dtype=X.dtype)
        height = block_rows or max(256, self._block_height())
        self._spans = [slice(a, min(a + height, n)) for a in range(0, n, height)]
        norm = np.concatenate([self._lengths(span) for span in self._spans])
        # One over a length below the smallest normal number would overflow.
        norm[norm < np.finfo(X.dtype).tiny] = 0.0
        scale = np.ones(n)
        if normalize:
            scale = np.divide(1.0, norm, out=np.zeros(n), where=norm > 0)
            norm = (norm > 0).astype(np.float64)
        weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
        super().__init__(X.shape, X.dtype, weight=weight, scale=scale, norm=norm)

    def blocks(self) -> Iterator[Block]:
        """One block for each span."""
        for span in self._spans:
            matrix, shift = self._part(span)
            facts = (self.weight[span], self.scale[span], self.norm[span])
            yield Block(matrix, span, *facts, self.heaviest, shift)

    @abstractmethod
    def _block_height(self) -> int:
        """How many rows make a good block."""

    @abstractmethod
    def _part(self, span: slice) -> tuple[Matrix, Array | None]:
        """Rows of a span, and what is still to be subtracted from each."""

    @abstractmethod
    def _lengths(self, span: slice) -> Array:
        """Lengths, in float64, of rows before they are scaled.

        A row that equals the mean up to rounding has length 0.
        """
