"""Properties of rows: weights, scales, lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array, Labels

__all__ = ["RowStats", "Totals"]


@dataclass(frozen=True)
class Totals:
    """Sums over rows: all that solvers need to know of weights and lengths."""

    weight: float  # sum_j w_j over the rows that have a direction
    energy: float  # sum_j w_j ||x_j||^2
    heaviest: float  # the largest weight
    longest: float  # the length of the longest row with a positive weight
    without_direction: int  # how many rows are zero

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.weight + other.weight,
            self.energy + other.energy,
            max(self.heaviest, other.heaviest),
            max(self.longest, other.longest),
            self.without_direction + other.without_direction,
        )


@dataclass(frozen=True)
class RowStats:
    """Weight, scale and length of each row, float64 arrays of shape (n,).

    `norm` is the length of the scaled row; it is 0, and so is the weight, for rows without
    a direction.
    """

    weight: Array
    scale: Array
    norm: Array

    @staticmethod
    def of(
        length: Array, weight: Array | None, dtype: Any, *, normalize: bool, first: int = 0
    ) -> RowStats:
        """From the lengths of rows before they are scaled; `first` numbers them in messages."""
        n = len(length)
        # Every entry may be within range, but a projection of the row beyond it.
        for k in np.flatnonzero(~(length <= 0.99 * float(np.finfo(dtype).max)))[:1]:
            raise DataError(
                f"Row {first + k} of X has length {length[k]:.3g}",
                f"must not exceed the largest number of {np.dtype(dtype)}",
                "rescale X",
            )
        # One over a length below the smallest normal number would overflow.
        norm = np.where(length < np.finfo(dtype).tiny, 0.0, length)
        scale = np.ones(n)
        if normalize:
            scale = np.divide(1.0, norm, out=np.zeros(n), where=norm > 0)
            norm = (norm > 0).astype(np.float64)
        weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
        return RowStats(np.where(norm > 0, weight, 0.0), scale, norm)

    def __getitem__(self, span: slice | Labels) -> RowStats:
        return RowStats(self.weight[span], self.scale[span], self.norm[span])

    def totals(self) -> Totals:
        """Their sums."""
        # Rows without weight do not affect how numbers are scaled, however long they are.
        counted = np.where(self.weight > 0, self.norm, 0.0)
        with np.errstate(over="ignore"):  # callers reject rows that are too long for sums
            energy = float(self.weight @ counted**2)
        return Totals(
            float(self.weight.sum()),
            energy,
            float(self.weight.max(initial=0.0)),
            float(counted.max(initial=0.0)),
            int((self.norm == 0).sum()),
        )
