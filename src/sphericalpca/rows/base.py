"""The contract between the data and everything that computes on them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.rows.block import Block

__all__ = ["Kernel", "Rows"]

Kernel = Callable[[Block], tuple[Any, ...]]


class Rows(ABC):
    """n weighted rows of m numbers, read block by block.

    A new home for data (a file, a cluster) is a new subclass with `blocks`, and perhaps
    a `sweep` that runs elsewhere; nothing above this room asks where the rows live.

    Attributes
    ----------
    shape : (n, m)
    dtype : float32 or float64, the type of all products
    weight, scale, norm : float64 arrays, shape (n,)
        As in `Block`.
    heaviest : float
        The largest weight.
    passes : int
        How often the rows have been read from first to last.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: np.dtype[Any],
        *,
        weight: Array,
        scale: Array,
        norm: Array,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.weight = np.where(norm > 0, weight, 0.0)
        self.scale = scale
        self.norm = norm
        self.heaviest = float(self.weight.max(initial=0.0)) or 1.0
        self.passes = 0

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """The rows in order, in blocks of a size that suits their home."""

    @property
    def total_weight(self) -> float:
        """sum_j w_j over the rows that have a direction."""
        return float(self.weight.sum())

    @property
    def energy(self) -> float:
        """sum_j w_j ||x_j||^2."""
        return float(self.weight @ self.norm**2)

    def sweep(self, kernel: Kernel) -> tuple[Any, ...]:
        """Read every row once; the sum over blocks of what `kernel` returns for each.

        Sums are kept in float64, whatever the type of the data.
        """
        self.passes += 1
        totals: list[Any] = []
        for block in self.blocks():
            parts = kernel(block)
            if not totals:
                totals = [np.array(part, dtype=np.float64) for part in parts]
            else:
                for total, part in zip(totals, parts, strict=True):
                    np.add(total, part, out=total)
        return tuple(total if total.ndim else float(total) for total in totals)

    def project(self, U: Array) -> Array:
        """X U for all rows, shape (n, r), in the type of the data."""
        Y = np.empty((self.shape[0], U.shape[1]), dtype=self.dtype)
        U = U.astype(self.dtype, copy=False)

        def store(block: Block) -> tuple[()]:
            Y[block.span] = block.project(U)
            return ()

        self.sweep(store)
        return Y
