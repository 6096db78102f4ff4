"""A matrix whose chunks are kept in the memory of a cluster."""

from __future__ import annotations

import importlib
import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.rows.base import Watch
from sphericalpca.rows.cluster.chunks import checked_chunk, no_rows
from sphericalpca.rows.cluster.client import ClusterClient, ClusterState, Worker, released_on_error
from sphericalpca.rows.cluster.group import ChunkGroup, combine_means, height_of

__all__ = ["ClusterMatrix", "PlacedGroup", "assign_workers", "runs_that_fit"]

# Data are moved only from workers that hold at least this many times their share.
TOLERANCE = 1.1
# A spilled group is loaded as a whole, beside other data.
PART_OF_MEMORY = 0.25


class PlacedGroup(NamedTuple):
    """A group of chunks on the cluster."""

    group: Any  # future of ChunkGroup
    spans: list[slice]  # the rows of the whole matrix that its chunks hold

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(span.stop - span.start for span in self.spans)

    def of(self, values: Array) -> Array:
        """The part of `values`, which has one for each row, that belongs to this group."""
        return np.concatenate([values[span] for span in self.spans])

    def put(self, values: Array, out: Array) -> None:
        """Write values of this group to the rows of the whole matrix that they belong to."""
        for span in self.spans:
            height = span.stop - span.start
            out[span], values = values[:height], values[height:]


class ClusterMatrix:
    """Checked chunks, kept by the workers as long as `groups` exist; see `DaskSource`."""

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
        self.dtype, self.cluster = dtype, ClusterClient(client)
        load = importlib.import_module("dask").delayed(checked_chunk, pure=False)
        placed = enumerate(zip(chunks, _firsts(heights), strict=True))
        lazy = [load(list(parts), columns, dtype, k, first) for k, (parts, first) in placed]
        loaded = self.cluster.compute(lazy)
        with released_on_error(loaded):
            counts = [self.cluster.submit(height_of, chunk) for chunk in loaded]
            ends = [0, *itertools.accumulate(self.cluster.gather(counts, watch, heights))]
            self.shape = (ends[-1], columns)
            spans = itertools.starmap(slice, itertools.pairwise(ends))
            filled = [(c, s) for c, s in zip(loaded, spans, strict=True) if s.start < s.stop]
            if not filled:
                raise no_rows()
            state = self.cluster.state([chunk for chunk, _ in filled])
            self.groups = []
            for address, run in _runs(state):
                group = self.cluster.submit(
                    ChunkGroup, *(filled[k][0] for k in run), address=address
                )
                self.groups.append(PlacedGroup(group, [filled[k][1] for k in run]))

    def weighted_mean(self, weight: Array | None, watch: Watch | None = None) -> Array:
        """Weighted mean of all rows, zero rows included, in float64."""
        share = None if weight is None else weight / weight.max()
        tasks = [
            self.cluster.submit(
                ChunkGroup.mean, placed.group, None if share is None else placed.of(share)
            )
            for placed in self.groups
        ]
        rows = [placed.rows for placed in self.groups]
        return combine_means(self.cluster.gather(tasks, watch, rows))[1]


def _firsts(heights: Sequence[int | None]) -> list[int | None]:
    """The first row of each chunk, None after a chunk of unknown height."""
    firsts: list[int | None] = [0]
    for rows in heights[:-1]:
        last = firsts[-1]
        firsts.append(None if last is None or rows is None else last + rows)
    return firsts


def _runs(state: ClusterState) -> list[tuple[str, list[int]]]:
    """The chunks of each group, and the address of the worker that keeps it."""
    kept = defaultdict(list)
    for k, address in enumerate(assign_workers(state.sizes, state.holders, state.workers)):
        kept[address].append(k)
    return [
        (address, run)
        for address, chunks in sorted(kept.items())
        for run in runs_that_fit(chunks, state.sizes, state.workers[address].memory)
    ]


def assign_workers(
    sizes: Sequence[int], holders: Sequence[Sequence[str]], workers: Mapping[str, Worker]
) -> list[str]:
    """The worker that should keep each piece of data, by its bytes and the workers that hold it."""
    per_thread = sum(sizes) / sum(worker.threads for worker in workers.values())
    loads = dict.fromkeys(sorted(workers), 0.0)

    def filled(address: str, k: int) -> float:
        """How many times its share a worker would have with this piece."""
        due = per_thread * workers[address].threads
        return (loads[address] + sizes[k]) / due if due > 0 else 0.0

    def best(addresses: Iterable[str], k: int) -> str:
        # Of equally good workers prefer one that holds the data.
        return min(addresses, key=lambda address: (filled(address, k), address not in holders[k]))

    chosen: dict[int, str] = {}
    for k, size in enumerate(sizes):
        near = [address for address in holders[k] if address in workers]
        if near and filled(best(near, k), k) <= TOLERANCE:
            chosen[k] = best(near, k)
            loads[chosen[k]] += size
    unplaced = set(range(len(sizes))) - set(chosen)
    for k in sorted(unplaced, key=lambda k: (-sizes[k], k)):
        chosen[k] = best(loads, k)
        loads[chosen[k]] += sizes[k]
    return [chosen[k] for k in range(len(sizes))]


def runs_that_fit(pieces: Sequence[int], sizes: Sequence[int], memory: int) -> list[list[int]]:
    """The pieces in order, in as few runs as possible, none much above a part of the memory."""
    total = sum(sizes[k] for k in pieces)
    count = max(math.ceil(total / (PART_OF_MEMORY * memory)), 1) if memory else 1
    runs: dict[int, list[int]] = {}
    for k, end in zip(pieces, itertools.accumulate(sizes[k] for k in pieces), strict=True):
        # A piece belongs to the run that contains its middle.
        place = count * (end - sizes[k] / 2) / total if total else 0.0
        runs.setdefault(min(int(place), count - 1), []).append(k)
    return list(runs.values())
