"""Rows of any type, multiplied in float64."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.rows.base import Kernel, Rows
from sphericalpca.rows.block import Block
from sphericalpca.rows.memory import SparseRows

__all__ = ["DoubleRows"]


class DoubleRows(Rows):
    """The same rows with products in float64: blocks are converted as they are read."""

    def __init__(self, rows: Rows) -> None:
        self._given = rows
        self._rows = rows.in_double() if isinstance(rows, SparseRows) else rows
        self.in_memory, self.local = rows.in_memory, rows.local
        dtype, size = np.dtype(np.float64), {"stored": rows.stored, "room": rows.room}
        super().__init__(rows.shape, dtype, rows.totals, watch=None, **size)
        self._stats = rows.stats

    def parts(self, count: int) -> list[Iterator[Block]]:
        """The parts of the given rows, in float64."""
        return [map(Block.in_double, part) for part in self._rows.parts(count)]

    def sweep(self, kernel: Kernel, *, columns: int = 0, passes: float = 1.0) -> tuple[Any, ...]:
        """Like `Rows.sweep`, wherever the given rows are; these count passes and flops."""
        self._given.count(columns, passes)
        return self._rows.sweep(partial(_in_double, kernel=kernel), passes=0.0)

    def project(self, U: Array, out: Array | None = None) -> Array:
        """X U; in the given type where kernels run elsewhere and cannot write to `out`."""
        return super().project(U, out) if self.local else self._given.project(U, out)


def _in_double(block: Block, kernel: Kernel) -> tuple[Any, ...]:
    return kernel(block.in_double())
