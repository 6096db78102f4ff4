"""Rows held in memory, or mapped into it."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Iterator

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.parallel import allowed_threads, equal_ends, parallel, spread_runs, workers
from sphericalpca.rows.base import Rows, Watch
from sphericalpca.rows.block import Block, Matrix
from sphericalpca.rows.facts import Facts

__all__ = ["ROOM", "MemoryRows"]

# This many bytes may always be kept beside the data.
ROOM = 256 * 2**20


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
    facts : Facts, optional
        Where they are known already; `weight` and `normalize` then say nothing.
    watch : callable, optional
        As in `Rows`.
    first : int, default=0
        For messages: which row of a larger whole the first one is.
    """

    def __init__(
        self,
        X: Matrix,
        *,
        weight: Array | None = None,
        normalize: bool = True,
        mean: Array | None = None,
        block_rows: int | None = None,
        facts: Facts | None = None,
        watch: Watch | None = None,
        first: int = 0,
    ) -> None:
        n = X.shape[0]
        self._X = X
        self._mean = None if mean is None else np.asarray(mean, dtype=X.dtype)
        ends = [*range(0, n, block_rows), n] if block_rows else self._block_ends(allowed_threads())
        self._blocks: dict[int, Block] = {}
        self._spans = list(itertools.starmap(slice, itertools.pairwise(ends)))
        self._facts = facts or Facts.of(
            self._all_lengths(watch), weight, X.dtype, normalize=normalize, first=first
        )
        stored = self._stored_numbers()
        # As much again as the data take, unless they are in a file.
        room = max(ROOM, 0 if _is_mapped(X) else stored * X.dtype.itemsize)
        totals = self._facts.totals()
        super().__init__(X.shape, X.dtype, totals, stored=stored, room=room, watch=watch)

    @property
    def facts(self) -> Facts:
        """Weight, scale and length of each row."""
        return self._facts

    def parts(self, count: int) -> list[Iterator[Block]]:
        """Consecutive spans, as many for each part; one block for each span."""
        return [map(self._block_of, share) for share in _shares(self._spans, count)]

    def as_block(self, span: slice, heaviest: float) -> Block:
        """All rows as one block, that is `span` of a larger whole."""
        matrix, shift = self._part(slice(0, self.shape[0]))
        return Block(matrix, span, self._facts, heaviest, shift)

    def _block_of(self, span: slice) -> Block:
        # Blocks that are views are made once, with what they work out about themselves.
        if not self._blocks_are_views():
            return self._make_block(span)
        if span.start not in self._blocks:
            self._blocks[span.start] = self._make_block(span)
        return self._blocks[span.start]

    def _make_block(self, span: slice) -> Block:
        matrix, shift = self._part(span)
        return Block(matrix, span, self._facts[span], self.heaviest, shift)

    def _all_lengths(self, watch: Watch | None) -> Array:
        def measure(span: slice) -> Array:
            lengths = self._lengths(span)
            if watch is not None:
                watch(len(lengths))
            return lengths

        with parallel():
            runs = spread_runs(measure, _shares(self._spans, workers()))
        return np.concatenate(list(itertools.chain.from_iterable(runs)))

    @abstractmethod
    def _block_ends(self, threads: int) -> list[int]:
        """Where good blocks begin and end: 0, ..., n."""

    @abstractmethod
    def _blocks_are_views(self) -> bool:
        """Whether a block copies nothing of X."""

    @abstractmethod
    def _stored_numbers(self) -> int:
        """How many numbers X holds."""

    @abstractmethod
    def _part(self, span: slice) -> tuple[Matrix, Array | None]:
        """Rows of a span, and what is still to be subtracted from each."""

    @abstractmethod
    def _lengths(self, span: slice) -> Array:
        """Lengths, in float64, of rows before they are scaled.

        A row that equals the mean up to rounding has length 0.
        """


def _is_mapped(X: Matrix) -> bool:
    """Whether X is, or is a view of, a file mapped into memory."""
    while X is not None and not isinstance(X, np.memmap):
        X = getattr(X, "base", None)
    return X is not None


def _shares(spans: list[slice], count: int) -> list[list[slice]]:
    """At most `count` runs of consecutive spans, none empty, of about equal length."""
    count = min(count, len(spans))
    return [spans[a:b] for a, b in itertools.pairwise(equal_ends(len(spans), count))]
