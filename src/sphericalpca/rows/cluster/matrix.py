"""A matrix whose chunks are kept in the memory of a cluster."""

from __future__ import annotations

import importlib
import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array
from sphericalpca.rows.base import Watch
from sphericalpca.rows.cluster.chunks import checked_chunk
from sphericalpca.rows.cluster.crew import Crew, Survey
from sphericalpca.rows.cluster.placement import homes, runs_that_fit
from sphericalpca.rows.cluster.reads import Loads, Reads
from sphericalpca.rows.cluster.share import heights_of, kept_together, mean_of, mixed_mean

__all__ = ["ClusterMatrix", "Piece"]


@dataclass(frozen=True)
class Piece:
    """A share of the rows on the cluster.

    Attributes
    ----------
    share : future of Share
    heights : list of int
        Rows of each of its chunks.
    firsts : list of int
        Which row of the whole the first one of each chunk is.
    """

    share: Any
    heights: list[int]
    firsts: list[int]

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(self.heights)

    @property
    def spans(self) -> list[slice]:
        """Which rows of the whole are in its chunks, in the order of the share."""
        return [slice(a, a + h) for a, h in zip(self.firsts, self.heights, strict=True)]

    def of(self, values: Array) -> Array:
        """Of values for all rows those of this share."""
        return np.concatenate([values[span] for span in self.spans])


class ClusterMatrix:
    """Chunks of a Dask collection, checked, and kept where the workers are.

    Parameters
    ----------
    chunks : sequence of sequences of Delayed
        For each chunk of rows its parts, one after the other all of the columns.
    columns : int
        How many columns there are.
    dtype : float32 or float64
    heights : sequence of int or None
        Rows of each chunk, where they are known.
    client : distributed.Client
    watch : callable, optional
        Told of rows as they arrive.

    Attributes
    ----------
    shape : (n, m)
    dtype : float32 or float64
    stored : int
        How many numbers the rows hold; zeros of sparse rows are not held.
    pieces : list of Piece
        The shares that have rows; as long as they are kept, so are the data.
    crew : Crew
    """

    def __init__(
        self,
        chunks: Sequence[Sequence[Any]],
        columns: int,
        dtype: np.dtype[Any],
        heights: Sequence[int | None],
        client: Any,
        *,
        watch: Watch | None = None,
    ) -> None:
        self.dtype = dtype
        self.crew = Crew(client)
        groups, shares = self._loaded(chunks, columns, heights, watch)
        asked = [self.crew.submit(heights_of, share) for share in shares]
        # Rows may be on their way from worker to worker: no new ones, but time goes by.
        answers = self.crew.gather(asked, None if watch is None else partial(watch, 0))
        self.stored = sum(stored for _, stored in answers)
        self.pieces, n = _pieces(groups, shares, [found for found, _ in answers])
        self.shape = (n, columns)
        if n == 0:
            raise DataError("X has 0 rows in all of its chunks. Pass at least one row.")

    def weighted_mean(self, weight: Array | None, watch: Watch | None = None) -> Array:
        """Weighted mean of all rows, zero rows included, in float64."""
        share, reads = None if weight is None else weight / weight.max(), Reads(watch)
        for piece in self.pieces:
            part = None if share is None else piece.of(share)
            reads.expect(self.crew.submit(mean_of, piece.share, part), piece.rows)
        with reads:
            return mixed_mean(self.crew.gather(reads.tasks, reads.look))[1]

    def _loaded(
        self,
        chunks: Sequence[Sequence[Any]],
        columns: int,
        heights: Sequence[int | None],
        watch: Watch | None,
    ) -> tuple[list[list[int]], list[Any]]:
        """Which chunks make up each share, and the shares."""
        delayed = importlib.import_module("dask").delayed(checked_chunk, pure=False)
        lazy = [
            delayed(list(parts), columns, self.dtype, k, first)
            for k, (parts, first) in enumerate(zip(chunks, _firsts(heights), strict=True))
        ]
        loaded = self.crew.compute(lazy)
        with Loads(self.crew, loaded, heights, watch) as loads:
            self.crew.settle(loaded, loads.look)
        survey = self.crew.survey(loaded)
        groups, shares = [], []
        for home, group in _groups(survey):
            groups.append(group)
            matrices = [loaded[k] for k in group]
            shares.append(self.crew.submit(kept_together, *matrices, home=home))
        return groups, shares


def _firsts(heights: Sequence[int | None]) -> list[int | None]:
    """The first row of each chunk, None after a chunk of unknown height."""
    firsts: list[int | None] = [0]
    for rows in heights[:-1]:
        last = firsts[-1]
        firsts.append(None if last is None or rows is None else last + rows)
    return firsts


def _groups(survey: Survey) -> list[tuple[str, list[int]]]:
    """Which chunks become one share, and who keeps it."""
    places = homes(survey.sizes, survey.holders, survey.workers)
    of_home = defaultdict(list)
    for k, home in enumerate(places):
        of_home[home].append(k)
    return [
        (home, run)
        for home, chunks in sorted(of_home.items())
        for run in runs_that_fit(chunks, survey.sizes, survey.workers[home].memory)
    ]


def _pieces(
    groups: Sequence[Sequence[int]], shares: Sequence[Any], found: Sequence[Sequence[int]]
) -> tuple[list[Piece], int]:
    """Where the rows of each share are in the whole, and how many there are in all."""
    height = {
        k: rows
        for group, several in zip(groups, found, strict=True)
        for k, rows in zip(group, several, strict=True)
    }
    *firsts, n = [0, *itertools.accumulate(height[k] for k in sorted(height))]
    pieces = [
        Piece(share, list(rows), [firsts[k] for k in group])
        for share, rows, group in zip(shares, found, groups, strict=True)
    ]
    return [piece for piece in pieces if piece.rows > 0], n
