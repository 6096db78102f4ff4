"""The rows that one worker of a cluster keeps, and the tasks on them."""

from __future__ import annotations

import importlib
import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.parallel import parallel
from sphericalpca.rows.base import Kernel, Rows
from sphericalpca.rows.block import Block, Matrix, stored_bytes, stored_numbers
from sphericalpca.rows.mean import weighted_mean
from sphericalpca.rows.memory import in_memory
from sphericalpca.rows.stats import RowStats, Totals

__all__ = ["ChunkGroup", "GroupRows", "add_sums", "broadcast", "combine_means", "height_of"]

Sums = tuple[Array, ...]


class ChunkGroup:
    """Chunks kept, moved and spilled as one object; its methods are the tasks of workers."""

    def __init__(self, *matrices: Matrix) -> None:
        self.matrices = matrices

    @property
    def spans(self) -> list[slice]:
        """The rows of the group that each chunk holds."""
        ends = [0, *itertools.accumulate(matrix.shape[0] for matrix in self.matrices)]
        return list(itertools.starmap(slice, itertools.pairwise(ends)))

    def mean(self, weight: Array | None) -> tuple[float, Array]:
        """Total weight and weighted mean of its rows."""
        means = [(0.0, np.zeros(self.matrices[0].shape[1]))]
        for matrix, span in zip(self.matrices, self.spans, strict=True):
            part = np.ones(matrix.shape[0]) if weight is None else weight[span]
            if part.any():
                means.append((float(part.sum()), weighted_mean(matrix, part)))
        return combine_means(means)

    def measure(
        self, firsts: Sequence[int], weight: Array | None, mean: Array | None, normalize: bool
    ) -> GroupStats:
        """Lengths, weights and scales of its rows."""
        with parallel(_threads()):
            lengths = [
                in_memory(X, normalize=False, mean=mean, first=first).stats.norm
                for X, first in zip(self.matrices, firsts, strict=True)
            ]
        length, dtype = np.concatenate(lengths), self.matrices[0].dtype
        return GroupStats(RowStats.of(length, weight, dtype, normalize=normalize), firsts, mean)

    def totals(self, known: GroupStats) -> tuple[Totals, int]:
        """Sums over its rows, and how many numbers they hold."""
        return known.stats.totals(), sum(map(stored_numbers, self.matrices))

    def sweep(
        self, known: GroupStats, heaviest: float, kernel: Kernel, before: Sums | None
    ) -> Sums:
        """The sum of the kernel's results over its rows, and over the groups `before`."""
        with parallel(_threads()):
            sums = GroupRows(self, known, heaviest).sweep(kernel)
        found = tuple(np.asarray(part, dtype=np.float64) for part in sums)
        return found if before is None else add_sums(before, found)

    def project(self, known: GroupStats, U: Array) -> Array:
        """X U for its rows, in the order of the group."""
        with parallel(_threads()):
            return GroupRows(self, known, heaviest=1.0).project(U)

    def __sizeof__(self) -> int:
        # Dask calls this to learn how much memory is in use.
        return object.__sizeof__(self) + sum(map(stored_bytes, self.matrices))


@dataclass(frozen=True)
class GroupStats:
    """Properties of the rows of a group."""

    stats: RowStats  # of all its rows, chunk after chunk
    firsts: Sequence[int]  # the number, in the whole matrix, of the first row of each chunk
    mean: Array | None  # subtracted from every row

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + 3 * self.stats.weight.nbytes


class GroupRows(Rows):
    """The rows of a group, as blocks of the whole matrix."""

    def __init__(self, group: ChunkGroup, known: GroupStats, heaviest: float) -> None:
        self._heaviest = heaviest
        self._stats = known.stats
        self._spans, matrix = group.spans, group.matrices[0]
        self._chunks = [
            (first, in_memory(matrix, mean=known.mean, stats=known.stats[span]))
            for matrix, span, first in zip(group.matrices, self._spans, known.firsts, strict=True)
        ]
        shape, totals = (self._spans[-1].stop, matrix.shape[1]), self.stats.totals()
        super().__init__(shape, matrix.dtype, totals, stored=0, room=0)

    def parts(self, count: int) -> list[Iterator[Block]]:
        """Divide every chunk; each begins with another part, because small ones have only one."""
        parts = defaultdict(list)
        for number, (first, chunk) in enumerate(self._chunks):
            for k, blocks in enumerate(chunk.parts(count), start=number):
                parts[k % count].append(self._placed(blocks, first))
        return [itertools.chain.from_iterable(parts[k]) for k in sorted(parts)]

    def _placed(self, blocks: Iterator[Block], first: int) -> Iterator[Block]:
        for block in blocks:
            span = slice(first + block.span.start, first + block.span.stop)
            yield replace(block, span=span, heaviest=self._heaviest)

    def project(self, U: Array, out: Array | None = None) -> Array:
        """X U for the rows of the group, in the order of the group."""
        Y = np.empty((self.shape[0], U.shape[1]), dtype=self.dtype) if out is None else out
        for (_, chunk), span in zip(self._chunks, self._spans, strict=True):
            chunk.project(U, out=Y[span])
        return Y


def height_of(matrix: Matrix) -> int:
    """Number of rows of a chunk."""
    return int(matrix.shape[0])


def combine_means(means: Sequence[tuple[float, Array]]) -> tuple[float, Array]:
    """Total weight and mean of several parts, given the weight and mean of each."""
    total = sum(weight for weight, _ in means)
    shares = [(weight / total if total > 0 else 0.0, mean) for weight, mean in means]
    return total, np.asarray(sum(share * mean for share, mean in shares))


def add_sums(*parts: Sums) -> Sums:
    """The sum of the results of several groups, which are not modified."""
    return tuple(np.asarray(sum(terms[1:], start=terms[0])) for terms in zip(*parts, strict=True))


def broadcast(value: Any) -> Any:
    """Return the value: as a task, it is on the cluster once, not once in every task."""
    return value


def _threads() -> int:
    """The number of this worker; Dask limits BLAS to one, for concurrent tasks."""
    return int(importlib.import_module("distributed").get_worker().state.nthreads)
