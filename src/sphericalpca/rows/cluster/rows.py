"""Rows on a cluster: workers read the rows they keep, and only sums are transferred."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import cached_property, reduce
from typing import Any

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.rows.base import Kernel, Rows, Watch, total
from sphericalpca.rows.block import Block
from sphericalpca.rows.cluster.group import ChunkGroup, GroupRows, add_sums, broadcast
from sphericalpca.rows.cluster.matrix import ClusterMatrix, PlacedGroup, assign_workers
from sphericalpca.rows.stats import RowStats, Totals

__all__ = ["ClusterRows"]

# This many sums are added up by one task; the remaining ones by the client.
FAN_IN = 8


class ClusterRows(Rows):
    """The rows of a `ClusterMatrix`; workers run one task at a time; see `MemoryRows`."""

    local = False

    def __init__(
        self,
        matrix: ClusterMatrix,
        *,
        weight: Array | None = None,
        normalize: bool = True,
        mean: Array | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._matrix, self._cluster = matrix, matrix.cluster
        mean = None if mean is None else np.asarray(mean, dtype=matrix.dtype)
        self._workers: set[str] = set()
        self._addresses: list[str] = []
        self._known: list[Any] = []
        submit, tasks = self._cluster.submit, []
        for placed in matrix.groups:
            part = None if weight is None else placed.of(weight)
            firsts = [span.start for span in placed.spans]
            self._known.append(
                submit(ChunkGroup.measure, placed.group, firsts, part, mean, normalize)
            )
            tasks.append(submit(ChunkGroup.totals, placed.group, self._known[-1]))
        self._heights = [placed.rows for placed in matrix.groups]
        found = self._cluster.gather(tasks, watch, self._heights)
        totals: Totals = reduce(operator.add, (totals for totals, _ in found))
        stored = sum(stored for _, stored in found)
        super().__init__(matrix.shape, matrix.dtype, totals, stored=stored, room=0, watch=watch)

    @cached_property
    def stats(self) -> RowStats:
        """Weight, scale and length of each row, fetched from the workers."""
        n = self.shape[0]
        whole = RowStats(np.zeros(n), np.zeros(n), np.zeros(n))
        for placed, known in self._fetched(self._known):
            for name in ("weight", "scale", "norm"):
                placed.put(getattr(known.stats, name), getattr(whole, name))
        return whole

    def parts(self, count: int) -> list[Iterator[Block]]:  # noqa: ARG002 - one is enough
        """All rows, fetched from the workers in one part: only for few rows."""
        groups = self._cluster.gather([placed.group for placed in self._matrix.groups])
        pairs = zip(groups, self._cluster.gather(self._known), strict=True)
        blocks = [b for pair in pairs for b in GroupRows(*pair, heaviest=self.heaviest).blocks()]
        return [iter(sorted(blocks, key=lambda block: block.span.start))]

    def project(self, U: Array, out: Array | None = None) -> Array:
        """X U for all rows, shape (n, r), fetched from the workers."""
        self.count(U.shape[1], 0.5)
        Y = np.empty((self.shape[0], U.shape[1]), dtype=self.dtype) if out is None else out
        shared = self._cluster.submit(broadcast, U.astype(self.dtype, copy=False))
        tasks = [
            self._cluster.submit(ChunkGroup.project, placed.group, known, shared, address=address)
            for placed, known, address in self._assigned()
        ]
        for placed, part in self._fetched(tasks):
            placed.put(part, Y)
        return Y

    def sweep(self, kernel: Kernel, *, columns: int = 0, passes: float = 1.0) -> tuple[Any, ...]:
        """Like `Rows.sweep`; the workers run the kernel."""
        self.count(columns, passes)
        return total(self._run_on_workers(kernel))

    def _run_on_workers(self, kernel: Kernel) -> list[list[Any]]:
        """Sums of the kernel's results over each of several parts of the rows."""
        # As a separate task the kernel is sent to the cluster once, and can be recomputed.
        shared = self._cluster.submit(broadcast, kernel)
        last: dict[str, Any] = {}
        tasks = []
        for placed, known, address in self._assigned():
            # One after another on each worker, as each may use all threads and much memory.
            rows = (placed.group, known, self.heaviest, shared, last.get(address))
            last[address] = self._cluster.submit(ChunkGroup.sweep, *rows, address=address)
            tasks.append(last[address])
        sums = self._few([last[address] for address in sorted(last)])
        answers = self._cluster.gather(sums, self.watch, self._heights, tasks)
        return [[np.array(part) for part in answer] for answer in answers]

    def _few(self, sums: list[Any]) -> list[Any]:
        """Add up sums on the workers until they are few enough for the client."""
        while len(sums) > FAN_IN:
            batches = [sums[k : k + FAN_IN] for k in range(0, len(sums), FAN_IN)]
            sums = [self._cluster.submit(add_sums, *batch) for batch in batches]
        return sums

    def _fetched(self, tasks: Sequence[Any]) -> Iterator[tuple[PlacedGroup, Any]]:
        return zip(self._matrix.groups, self._cluster.gather(tasks), strict=True)

    def _assigned(self) -> Iterator[tuple[PlacedGroup, Any, str]]:
        """Each group with its stats and the worker that holds it, unless workers have changed."""
        groups = [placed.group for placed in self._matrix.groups]
        holders = self._cluster.holders(groups)
        in_place = all(map(operator.contains, holders, self._addresses))
        if not in_place or self._workers != self._cluster.workers():
            state = self._cluster.state(groups)
            self._workers = set(state.workers)
            self._addresses = assign_workers(state.sizes, state.holders, state.workers)
        return zip(self._matrix.groups, self._known, self._addresses, strict=True)
