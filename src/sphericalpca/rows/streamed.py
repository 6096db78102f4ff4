"""Rows that stay in their files: read in blocks, one ahead of what is computed."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import numpy as np

from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array
from sphericalpca.parallel import allowed_threads, equal_ends
from sphericalpca.rows.base import Rows, Watch
from sphericalpca.rows.block import Block
from sphericalpca.rows.facts import Facts
from sphericalpca.rows.finite import first_non_finite
from sphericalpca.rows.inmemory import in_memory
from sphericalpca.rows.source import RowSource

__all__ = ["StreamedRows"]

# As in memory: blocks of a few megabytes serve both products of a pass from cache.
BLOCK_ENTRIES = 3_000_000
# Blocks alive in a reader: one in use, one read ahead, one on the way between the two.
BLOCKS_ALIVE = 3

Item = TypeVar("Item")


class StreamedRows(Rows):
    """The rows of a source.

    Parameters
    ----------
    source : RowSource
    weight, normalize, mean
        As in `MemoryRows`.
    block_rows : int, optional
        Rows per block; chosen from the source's memory budget when left out.
    """

    def __init__(
        self,
        source: RowSource,
        *,
        weight: Array | None = None,
        normalize: bool = True,
        mean: Array | None = None,
        block_rows: int | None = None,
        watch: Watch | None = None,
    ) -> None:
        n, m = source.shape
        self.source = source
        self._mean: Array | None = None
        self._height = block_rows or _block_rows(source, allowed_threads())
        length = np.zeros(n)
        # The lengths are found by a sweep like any other, over rows as they are.
        self._facts = Facts(np.ones(n), np.ones(n), length)
        super().__init__(
            (n, m),
            source.dtype,
            self._facts.totals(),
            stored=source.stored,
            room=source.memory_budget,
            watch=watch,
        )
        self._run(partial(self._measure, mean=mean, length=length))
        self._mean = None if mean is None else np.asarray(mean, dtype=source.dtype)
        self._facts = Facts.of(length, weight, source.dtype, normalize=normalize)
        self.totals = self._facts.totals()

    @property
    def facts(self) -> Facts:
        """Weight, scale and length of each row."""
        return self._facts

    def parts(self, count: int) -> list[Iterator[Block]]:
        """Runs of consecutive rows of about equal length, each read by one thread ahead."""
        self.source.check_unchanged()
        ends = _part_ends(self.source, count)
        return [self._blocks(slice(*span)) for span in itertools.pairwise(ends)]

    def _blocks(self, span: slice) -> Iterator[Block]:
        first = span.start
        for matrix in _ahead(self.source.read(span, self._height)):
            rows = slice(first, first + matrix.shape[0])
            block = in_memory(matrix, mean=self._mean, facts=self._facts[rows])
            yield block.as_block(rows, self.heaviest)
            first = rows.stop
        self.source.check_unchanged()
        if first != span.stop:
            raise DataError(
                f"{self.source.name} ended before {self.source.place(first)}, but had "
                f"{self.shape[0]} rows when it was opened: do not change files during a fit."
            )

    def _measure(self, block: Block, mean: Array | None, length: Array) -> tuple[()]:
        place = first_non_finite(block.matrix)
        if place is not None:
            row, column, value = place
            raise DataError(
                f"{self.source.place(block.span.start + row)} holds {value} in column {column}, "
                "but every entry must be finite: repair or drop that row."
            )
        length[block.span] = in_memory(block.matrix, normalize=False, mean=mean).facts.norm
        return ()


def _block_rows(source: RowSource, readers: int) -> int:
    """Rows of a block: of the best size, or of less if the budget is small."""
    n, m = source.shape
    per_row = max(source.stored / max(n, 1), 1.0)
    bytes_per_number = source.dtype.itemsize + (0 if source.stored == n * m else 8)
    budget = source.memory_budget / (BLOCKS_ALIVE * readers * bytes_per_number)
    rows = int(min(BLOCK_ENTRIES, budget) / per_row)
    if rows < 1:
        raise DataError(
            f"memory_budget={source.memory_budget} bytes is less than {BLOCKS_ALIVE * readers} "
            f"rows of {source.name} take, as many as are read at the same time: raise it."
        )
    return rows


def _part_ends(source: RowSource, count: int) -> list[int]:
    n = source.shape[0]
    ends = equal_ends(n, min(count, max(n, 1)))
    if not source.any_row:
        cuts = list(source.cuts)
        ends = sorted({_nearest(cuts, end) for end in ends})
    return ends


def _nearest(cuts: list[int], row: int) -> int:
    k = bisect_left(cuts, row)
    return min(cuts[max(k - 1, 0) : k + 1], key=lambda cut: abs(cut - row))


def _ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The items, of which the next is fetched by another thread while one is in use."""
    nothing: Any = object()
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, items, nothing)
        while (item := coming.result()) is not nothing:
            coming = reader.submit(next, items, nothing)
            yield item
