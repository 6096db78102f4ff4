"""The contract between the data and everything that computes on them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.parallel import parallel, spread, workers
from sphericalpca.rows.block import Block

__all__ = ["Kernel", "Rows"]

Kernel = Callable[[Block], tuple[Any, ...]]


class Rows(ABC):
    """n weighted rows of m numbers, read block by block.

    A new home for data (a file, a cluster) is a new subclass with `parts`, and perhaps
    a `sweep` that runs elsewhere; nothing above this room asks where the rows live.

    Attributes
    ----------
    shape : (n, m)
    dtype : float32 or float64, the type of all products
    weight, scale, norm : float64 arrays, shape (n,)
        As in `Block`.
    heaviest : float
        The largest weight.
    stored : int
        How many numbers the rows hold; zeros of sparse rows are not held.
    resident : bool
        Whether they are held in memory.
    passes : float
        Passes made over the rows.  A pass is a read that makes both products, X U and
        X' V; a read that makes one of them counts half.
    flops : float
        Floating-point operations of the products made with the rows.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: np.dtype[Any],
        *,
        weight: Array,
        scale: Array,
        norm: Array,
        stored: int,
        resident: bool = True,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.weight = np.where(norm > 0, weight, 0.0)
        self.scale = scale
        self.norm = norm
        self.heaviest = float(self.weight.max(initial=0.0)) or 1.0
        self.stored = stored
        self.resident = resident
        self.passes = 0.0
        self.flops = 0.0

    @abstractmethod
    def parts(self, count: int) -> list[Iterator[Block]]:
        """The rows in order, in at most `count` parts that can be read at the same time.

        Each part comes in blocks of a size that suits the home of the rows.
        """

    def blocks(self) -> Iterator[Block]:
        """The rows in order, in blocks."""
        for part in self.parts(1):
            yield from part

    @property
    def total_weight(self) -> float:
        """sum_j w_j over the rows that have a direction."""
        return float(self.weight.sum())

    @property
    def energy(self) -> float:
        """sum_j w_j ||x_j||^2."""
        return float(self.weight @ self.norm**2)

    def sweep(self, kernel: Kernel, *, columns: int = 0, passes: float = 1.0) -> tuple[Any, ...]:
        """Read every row once; the sum over blocks of what `kernel` returns for each.

        Parts of the rows are read by one thread each.  Sums over many blocks are kept in
        float64, whatever the type of the data.

        Parameters
        ----------
        kernel : callable
            Takes a block, returns a tuple of numbers and arrays.
        columns : int
            With how many columns in all the rows are multiplied, for the count of flops.
        passes : float
            What this read counts as.
        """
        self.passes += passes
        self.flops += 2.0 * self.stored * columns
        with parallel():
            sums = spread(partial(_sum_over, kernel=kernel), self.parts(workers()))
        totals = [_total(parts) for parts in zip(*sums, strict=True)]
        return tuple(total if total.ndim else float(total) for total in totals)

    def project(self, U: Array, out: Array | None = None) -> Array:
        """X U for all rows, shape (n, r), in the type of the data."""
        Y = np.empty((self.shape[0], U.shape[1]), dtype=self.dtype) if out is None else out
        U = U.astype(self.dtype, copy=False)

        def store(block: Block) -> tuple[()]:
            Y[block.span] = block.project(U)
            return ()

        self.sweep(store, columns=U.shape[1], passes=0.5)
        return Y


def _total(parts: Sequence[Array]) -> Array:
    """The sum of what the threads found, in the first one's memory."""
    total = parts[0]
    for part in parts[1:]:
        total = np.add(total, part, out=total if total.ndim else None)
    return total


def _sum_over(blocks: Iterator[Block], kernel: Kernel) -> list[Any]:
    totals = [np.asarray(part) for part in kernel(next(blocks))]
    for count, block in enumerate(blocks):
        if count == 0:
            # What a kernel returns may be the caller's, and may be of the data's type.
            totals = [np.array(total, dtype=np.float64) for total in totals]
        for total, part in zip(totals, kernel(block), strict=True):
            np.add(total, part, out=total)
    return totals
