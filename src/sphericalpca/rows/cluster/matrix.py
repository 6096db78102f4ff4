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

from sphericalpca.linalg import Array
from sphericalpca.rows.base import Watch
from sphericalpca.rows.cluster.chunks import checked_chunk, no_rows
from sphericalpca.rows.cluster.client import ClusterClient, ClusterState
from sphericalpca.rows.cluster.group import ChunkGroup, combine_means, group_mean, heights_of
from sphericalpca.rows.cluster.placement import assign_workers, runs_that_fit
from sphericalpca.rows.cluster.progress import Progress

__all__ = ["ClusterMatrix", "PlacedGroup"]


@dataclass(frozen=True)
class PlacedGroup:
    """A group of chunks on the cluster."""

    group: Any  # future of ChunkGroup
    heights: list[int]  # rows of each of its chunks
    firsts: list[int]  # which row of the whole the first one of each chunk is

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(self.heights)

    @property
    def spans(self) -> list[slice]:
        """Which rows of the whole are in its chunks, in the order of the group."""
        return [slice(a, a + h) for a, h in zip(self.firsts, self.heights, strict=True)]

    def of(self, values: Array) -> Array:
        """Of values for all rows those of this group."""
        return np.concatenate([values[span] for span in self.spans])


class ClusterMatrix:
    """Chunks of a Dask collection, checked, and kept where the workers are.

    Chunks are given as to `DaskSource`; the watch is told of rows as they arrive.  `stored` counts
    the numbers that the rows hold.  As long as its `groups` are kept, so are the data.
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
        self.cluster = ClusterClient(client)
        members, groups = self._loaded(chunks, columns, heights, watch)
        asked = [self.cluster.submit(heights_of, group) for group in groups]
        # Rows may be on their way from worker to worker: no new ones, but time goes by.
        answers = self.cluster.gather(asked, None if watch is None else partial(watch, 0))
        self.stored = sum(stored for _, stored in answers)
        self.groups, n = _placed(members, groups, [found for found, _ in answers])
        self.shape = (n, columns)
        if n == 0:
            raise no_rows()

    def weighted_mean(self, weight: Array | None, watch: Watch | None = None) -> Array:
        """Weighted mean of all rows, zero rows included, in float64."""
        share = None if weight is None else weight / weight.max()
        with Progress(self.cluster, watch) as reads:
            for placed in self.groups:
                part = None if share is None else placed.of(share)
                reads.expect(self.cluster.submit(group_mean, placed.group, part), placed.rows)
            return combine_means(self.cluster.gather(reads.tasks, reads.look))[1]

    def _loaded(
        self,
        chunks: Sequence[Sequence[Any]],
        columns: int,
        heights: Sequence[int | None],
        watch: Watch | None,
    ) -> tuple[list[list[int]], list[Any]]:
        """Which chunks make up each group, and the groups."""
        delayed = importlib.import_module("dask").delayed(checked_chunk, pure=False)
        lazy = [
            delayed(list(parts), columns, self.dtype, k, first)
            for k, (parts, first) in enumerate(zip(chunks, _firsts(heights), strict=True))
        ]
        loaded = self.cluster.compute(lazy)
        with Progress(self.cluster, watch) as loads:
            for chunk, rows in zip(loaded, heights, strict=True):
                loads.expect_chunk(chunk, rows)
            self.cluster.settle(loaded, loads.look)
        members, groups = [], []
        for address, run in _runs(self.cluster.state(loaded)):
            members.append(run)
            matrices = [loaded[k] for k in run]
            groups.append(self.cluster.submit(ChunkGroup, *matrices, address=address))
        return members, groups


def _firsts(heights: Sequence[int | None]) -> list[int | None]:
    """The first row of each chunk, None after a chunk of unknown height."""
    firsts: list[int | None] = [0]
    for rows in heights[:-1]:
        last = firsts[-1]
        firsts.append(None if last is None or rows is None else last + rows)
    return firsts


def _runs(state: ClusterState) -> list[tuple[str, list[int]]]:
    """Which chunks become one group, and the address of the worker that keeps it."""
    kept = defaultdict(list)
    for k, address in enumerate(assign_workers(state.sizes, state.holders, state.workers)):
        kept[address].append(k)
    return [
        (address, run)
        for address, chunks in sorted(kept.items())
        for run in runs_that_fit(chunks, state.sizes, state.workers[address].memory)
    ]


def _placed(
    members: Sequence[Sequence[int]], groups: Sequence[Any], found: Sequence[Sequence[int]]
) -> tuple[list[PlacedGroup], int]:
    """Where the rows of each group are in the whole, and how many there are in all."""
    height = dict(zip(itertools.chain(*members), itertools.chain(*found), strict=True))
    *firsts, n = [0, *itertools.accumulate(height[k] for k in sorted(height))]
    placed = [
        PlacedGroup(group, list(rows), [firsts[k] for k in run])
        for group, rows, run in zip(groups, found, members, strict=True)
    ]
    return [group for group in placed if group.rows > 0], n
