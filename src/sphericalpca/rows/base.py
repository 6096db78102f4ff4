"""The interface between the data and everything that computes on them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from threading import Event
from typing import Any

import numpy as np

from sphericalpca.linalg import Array, Labels, unit_rows
from sphericalpca.parallel import parallel, spread, workers
from sphericalpca.rows.backend import on_host
from sphericalpca.rows.block import VANISHING, Block
from sphericalpca.rows.stats import RowStats, Totals

__all__ = ["Kernel", "Rows", "Watch", "total"]

Watch = Callable[[int], None]
Kernel = Callable[[Block], tuple[Any, ...]]


class Rows(ABC):
    """n weighted rows of m numbers, read block by block.

    To support another place for data, such as files or a cluster, write a subclass with `parts`,
    and with `sweep` if kernels run elsewhere.  No other package needs to know where rows are.

    Attributes
    ----------
    shape : (n, m)
    dtype : float32 or float64, the type of all products
    totals : sums of weights and lengths
    stored : how many numbers are stored, without the zeros of sparse rows
    room : how many bytes may be used in addition to the rows, for speed
    local : whether kernels run in this process, and so may write to arrays of n rows
    in_memory : whether half a pass takes half the time of a pass, because no file has to be read
    passes : reads that compute both products, X U and X' V; a read with one of them counts half
    flops : floating-point operations of the products with the rows
    watch : called from any thread after each block, with the number of rows read; or None
    """

    local = True
    in_memory = False
    _stats: RowStats

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: np.dtype[Any],
        totals: Totals,
        *,
        stored: int,
        room: int,
        watch: Watch | None = None,
    ) -> None:
        self.shape, self.dtype, self.totals = shape, dtype, totals
        self.stored, self.room, self.watch = stored, room, watch
        self.passes = self.flops = 0.0

    @property
    def stats(self) -> RowStats:
        """Weight, scale and length of each row."""
        return self._stats

    @abstractmethod
    def parts(self, count: int) -> list[Iterator[Block]]:
        """The rows in order, in at most `count` parts of blocks to be read at the same time."""

    def thinned(self, most: int) -> Rows:  # noqa: ARG002 - what is not in memory is read whole
        """Every k-th row with weight, at most this many, if in memory; otherwise all rows."""
        return self

    def on_used_columns(self) -> tuple[Rows, Labels] | None:
        """The rows without unused columns, and the other columns, where that saves much."""
        return None

    def blocks(self) -> Iterator[Block]:
        """The rows in order, in blocks."""
        for part in self.parts(1):
            yield from part

    @property
    def heaviest(self) -> float:
        """The largest weight; 1 where all are zero."""
        return self.totals.heaviest or 1.0

    def sweep(self, kernel: Kernel, *, columns: int = 0, passes: float = 1.0) -> tuple[Any, ...]:
        """Read every row once; sum the numbers and arrays that `kernel` returns over all blocks.

        Each part is read by one thread.  Sums over many blocks are in float64.  `columns` is the
        number of columns the rows are multiplied with, to count flops; `passes` is the number of
        passes that this read counts as.
        """
        self.count(columns, passes)
        stop = Event()
        with parallel():
            run = partial(self._sum_part, kernel, stop)
            return total(spread(run, self.parts(workers()), stop))

    def count(self, columns: int, passes: float) -> None:
        """Count what a read of all rows adds to passes and flops."""
        self.passes += passes
        self.flops += 2.0 * self.stored * columns

    def _sum_part(self, kernel: Kernel, stop: Event, blocks: Iterator[Block]) -> list[Any]:
        """Sum over the blocks of a part; end early if another part has failed."""
        sums: list[Any] = []
        try:
            for count, block in enumerate(blocks):
                found = [np.asarray(part) for part in kernel(block)]
                if count == 1:
                    # Results of kernels may belong to the caller, and may be float32.
                    sums = [np.array(part, dtype=np.float64) for part in sums]
                pairs = zip(sums, found, strict=True)
                sums = [np.add(a, b, out=a) for a, b in pairs] if count else found
                if stop.is_set():
                    break
                if self.watch is not None:
                    self.watch(block.span.stop - block.span.start)
        finally:
            # An error would keep them alive, with their threads and files, in its traceback.
            if isinstance(blocks, Generator):
                blocks.close()
        return sums

    def project(self, U: Array, out: Array | None = None) -> Array:
        """X U for all rows, shape (n, r), in the data type of X."""
        Y = np.empty((self.shape[0], U.shape[1]), dtype=self.dtype) if out is None else out
        U = U.astype(self.dtype, copy=False)

        def store(block: Block) -> tuple[()]:
            Y[block.span] = on_host(block.project(U))
            return ()

        self.sweep(store, columns=U.shape[1], passes=0.5)
        return Y

    def correlate(self, V: Array) -> Array:
        """X'V for an array with a row for each of these rows, shape (m, r)."""

        def part(block: Block) -> tuple[Array]:
            return (block.correlate(V[block.span], np.ones(len(block.weight))),)

        return np.asarray(self.sweep(part, columns=V.shape[1], passes=0.5)[0])

    def components(self, U: Array) -> Array:
        """Unit-norm components of all rows, shape (n, r); zero rows where no direction is left."""
        V, lengths = unit_rows(self.project(U), overwrite=True)
        norm = self.stats.norm
        V[~(lengths > VANISHING * np.finfo(V.dtype).eps * norm) | (norm == 0)] = 0
        return V


def total(parts: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    """The sum of the results of several parts of the rows, in the memory of the first."""
    sums = list(parts[0])
    for part in parts[1:]:
        sums = [np.add(a, b, out=a if a.ndim else None) for a, b in zip(sums, part, strict=True)]
    return tuple(found if found.ndim else float(found) for found in sums)
