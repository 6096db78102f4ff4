"""Rows that stay in their files: read in blocks, one ahead of the computation."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing

import numpy as np

from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array
from sphericalpca.parallel import allowed_threads
from sphericalpca.rows.base import Rows, Watch
from sphericalpca.rows.block import Block
from sphericalpca.rows.memory import in_memory
from sphericalpca.rows.reading import (
    RowSource,
    best_block_rows,
    part_ends,
    read_blocks,
    refuse_non_finite,
)
from sphericalpca.rows.stats import RowStats, Totals

__all__ = ["RawRows", "StreamedRows"]


class RawRows(Rows):
    """The rows of a source as they are in the files, before their lengths are known.

    The rows per block are chosen from the source's memory budget when left out.
    """

    def __init__(
        self, source: RowSource, *, block_rows: int | None = None, watch: Watch | None = None
    ) -> None:
        n = source.shape[0]
        self.source = source
        self._height = block_rows or best_block_rows(source, allowed_threads())
        self._mean: Array | None = None
        # Without allocating memory: a damaged file may announce any number of rows.
        one, zero = np.broadcast_to(1.0, n), np.broadcast_to(0.0, n)
        self._stats = RowStats(one, one, zero)
        totals = Totals(float(n), 0.0, 1.0, 0.0, n)
        stored, room = source.stored, source.memory_budget
        super().__init__(source.shape, source.dtype, totals, stored=stored, room=room, watch=watch)

    def parts(self, count: int) -> list[Iterator[Block]]:
        """Runs of consecutive rows of about equal length, each with a thread that reads ahead."""
        self.source.check_unchanged()
        ends = part_ends(self.source, count)
        return [self._blocks(slice(*span)) for span in itertools.pairwise(ends)]

    def _blocks(self, span: slice) -> Iterator[Block]:
        with closing(read_blocks(self.source, span, self._height)) as blocks:
            for rows, matrix in blocks:
                block = in_memory(matrix, mean=self._mean, stats=self.stats[rows])
                yield block.as_block(rows, self.heaviest)


class StreamedRows(RawRows):
    """The rows of a source, weighted and scaled.

    One read checks them and measures their lengths when they are wrapped.  Parameters are those
    of `MemoryRows`.
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
        super().__init__(source, block_rows=block_rows, watch=watch)
        try:
            # Zeros take memory only when they are written to: damage is found before that.
            length = np.zeros(source.shape[0])
        except (MemoryError, ValueError):
            raise DataError(
                f"{source.name} declares {source.shape[0]} rows",
                "there is not enough memory for their lengths alone",
                "the file is damaged, or too large for this machine",
            ) from None

        def measure(block: Block) -> tuple[()]:
            refuse_non_finite(source, block.span.start, block.matrix)
            # As one block: several threads run already.
            height, first = block.matrix.shape[0], block.span.start
            options = {"normalize": False, "mean": mean, "block_rows": height, "first": first}
            length[block.span] = in_memory(block.matrix, **options).stats.norm
            return ()

        self.sweep(measure, passes=0.0)
        self._mean = None if mean is None else np.asarray(mean, dtype=self.dtype)
        self._stats = RowStats.of(length, weight, self.dtype, normalize=normalize)
        self.totals = self.stats.totals()
