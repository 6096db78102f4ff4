"""Rows on a device, in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.rows.backend import on_host
from sphericalpca.rows.base import Rows, Watch
from sphericalpca.rows.block import Block
from sphericalpca.rows.facts import Facts
from sphericalpca.rows.namespace.block import NamespaceBlock
from sphericalpca.rows.namespace.lengths import row_norms
from sphericalpca.rows.namespace.matrix import NamespaceMatrix

__all__ = ["NamespaceRows"]


class NamespaceRows(Rows):
    """The rows of a `NamespaceMatrix`.

    Parameters
    ----------
    matrix : NamespaceMatrix
    weight, normalize, mean, block_rows, watch
        As in `MemoryRows`.
    """

    local = False

    def __init__(
        self,
        matrix: NamespaceMatrix,
        *,
        weight: Array | None = None,
        normalize: bool = True,
        mean: Array | None = None,
        block_rows: int | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._matrix, backend = matrix, matrix.backend
        self._mean = None if mean is None else backend.put(np.asarray(mean), matrix.array.dtype)
        self._spans = matrix.spans(block_rows)
        length = np.concatenate([self._lengths(span, watch) for span in self._spans])
        self._facts = Facts.of(length, weight, matrix.dtype, normalize=normalize)
        super().__init__(
            matrix.shape,
            matrix.dtype,
            self._facts.totals(),
            stored=int(np.prod(matrix.shape)),
            room=0,
            watch=watch,
        )
        # A block holds views and vectors; of centred rows it would hold a copy.
        self._blocks = [] if mean is not None else [self._block(span) for span in self._spans]

    @property
    def facts(self) -> Facts:
        """Weight, scale and length of each row."""
        return self._facts

    def parts(self, count: int) -> list[Iterator[Block]]:  # noqa: ARG002 - the device has its own
        """All rows in one part."""
        return [iter(self._blocks or map(self._block, self._spans))]

    def project(self, U: Array, out: Array | None = None) -> Array:
        """X U for all rows, shape (n, r), fetched from the device."""
        Y = np.empty((self.shape[0], U.shape[1]), dtype=self.dtype) if out is None else out

        def fetch(block: Block) -> tuple[()]:
            Y[block.span] = on_host(block.project(U))
            return ()

        self.sweep(fetch, columns=U.shape[1], passes=0.5)
        return Y

    def components(self, U: Array) -> Any:
        """Unit-norm components of all rows, on the device."""
        parts: list[Any] = []

        def keep(block: Block) -> tuple[()]:
            assert isinstance(block, NamespaceBlock)
            parts.append(block.components(U))
            return ()

        self.sweep(keep, columns=U.shape[1], passes=0.5)
        return parts[0] if len(parts) == 1 else self._matrix.backend.xp.concat(parts, axis=0)

    def _part(self, span: slice) -> Any:
        X = self._matrix.array[span, :]
        return X if self._mean is None else X - self._mean

    def _block(self, span: slice) -> Block:
        facts = self._facts[span]
        return NamespaceBlock(
            self._part(span), span, facts, self.heaviest, backend=self._matrix.backend
        )

    def _lengths(self, span: slice, watch: Watch | None) -> Array:
        norm = np.asarray(on_host(row_norms(self._part(span), self._matrix.backend)), np.float64)
        if self._mean is not None:
            xp = self._matrix.backend.xp
            peak = on_host(xp.max(xp.abs(self._matrix.array[span, :]), axis=1))
            norm = np.where(norm <= 4 * np.finfo(self._matrix.dtype).eps * peak, 0.0, norm)
        if watch is not None:
            watch(len(norm))
        return norm
