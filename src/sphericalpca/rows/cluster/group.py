"""What one worker of a cluster keeps of the rows, and does with it."""

from __future__ import annotations

import importlib
import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from sphericalpca.linalg import Array
from sphericalpca.parallel import parallel
from sphericalpca.rows.base import Kernel, Rows
from sphericalpca.rows.block import Block, Matrix, stored_numbers
from sphericalpca.rows.mean import weighted_mean
from sphericalpca.rows.memory import in_memory
from sphericalpca.rows.stats import RowStats, Totals

__all__ = [
    "ChunkGroup",
    "GroupRows",
    "GroupStats",
    "add_sums",
    "broadcast",
    "combine_means",
    "group_mean",
    "heights_of",
    "measure_group",
    "project_group",
    "sweep_group",
    "totals_of",
]

Sums = tuple[Array, ...]


class ChunkGroup:
    """Chunks of the rows that are kept, read, moved and spilled together.

    To Dask it is one piece of data, however many chunks there are: a pass costs the scheduler
    one task for each group.  The chunks themselves are not copied.
    """

    def __init__(self, *matrices: Matrix) -> None:
        self.matrices = matrices

    @property
    def heights(self) -> list[int]:
        """Rows of each chunk."""
        return [matrix.shape[0] for matrix in self.matrices]

    @property
    def stored(self) -> int:
        """How many numbers the chunks hold."""
        return sum(map(stored_numbers, self.matrices))

    def __sizeof__(self) -> int:
        # Dask asks this to learn how much memory is in use.
        return object.__sizeof__(self) + sum(map(_bytes, self.matrices))


@dataclass(frozen=True)
class GroupStats:
    """What is known of the rows of a group."""

    stats: RowStats  # of all its rows, chunk after chunk
    firsts: Sequence[int]  # which row of the whole the first one of each chunk is
    mean: Array | None  # what is subtracted from every row

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + 3 * self.stats.weight.nbytes


class GroupRows(Rows):
    """The rows of a group, in blocks of the whole that they belong to."""

    def __init__(self, group: ChunkGroup, known: GroupStats, heaviest: float) -> None:
        self._heaviest = heaviest
        self._stats = known.stats
        spans = _spans(group.heights)
        self._chunks = [
            (first, in_memory(matrix, mean=known.mean, stats=known.stats[span]))
            for matrix, span, first in zip(group.matrices, spans, known.firsts, strict=True)
            if matrix.shape[0] > 0
        ]
        n, matrix = sum(group.heights), group.matrices[0]
        totals = self.stats.totals()
        super().__init__((n, matrix.shape[1]), matrix.dtype, totals, stored=group.stored, room=0)

    def parts(self, count: int) -> list[Iterator[Block]]:
        """Every chunk is divided; each begins with another part, as small ones have but one."""
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
        """X U for the rows of the group, in its own order."""
        Y = np.empty((self.shape[0], U.shape[1]), dtype=self.dtype) if out is None else out
        spans = _spans([chunk.shape[0] for _, chunk in self._chunks])
        for (_, chunk), span in zip(self._chunks, spans, strict=True):
            chunk.project(U, out=Y[span])
        return Y


# What follows are the tasks.


def heights_of(group: ChunkGroup) -> tuple[list[int], int]:
    """Rows of each chunk, and how many numbers they hold together."""
    return group.heights, group.stored


def group_mean(group: ChunkGroup, weight: Array | None) -> tuple[float, Array]:
    """Total weight and weighted mean of the rows of a group."""
    means = []
    for matrix, span in zip(group.matrices, _spans(group.heights), strict=True):
        part = np.ones(matrix.shape[0]) if weight is None else weight[span]
        if part.any():
            means.append((float(part.sum()), weighted_mean(matrix, part)))
    return combine_means([*means, (0.0, np.zeros(group.matrices[0].shape[1]))])


def combine_means(means: Sequence[tuple[float, Array]]) -> tuple[float, Array]:
    """Total weight and mean of several parts, of which each has a weight and a mean."""
    total = sum(weight for weight, _ in means)
    shares = [(weight / total if total > 0 else 0.0, mean) for weight, mean in means]
    return total, np.asarray(sum(share * mean for share, mean in shares))


def measure_group(
    group: ChunkGroup,
    firsts: Sequence[int],
    weight: Array | None,
    mean: Array | None,
    normalize: bool,
) -> GroupStats:
    """Lengths, weights and scales of the rows of a group."""
    with parallel(_threads()):
        lengths = [
            in_memory(X, normalize=False, mean=mean, first=first).stats.norm
            for X, first in zip(group.matrices, firsts, strict=True)
            if X.shape[0] > 0
        ]
    length, dtype = np.concatenate([*lengths, np.zeros(0)]), group.matrices[0].dtype
    return GroupStats(RowStats.of(length, weight, dtype, normalize=normalize), firsts, mean)


def totals_of(known: GroupStats) -> Totals:
    """Sums over the rows of a group."""
    return known.stats.totals()


def sweep_group(
    kernel: Kernel, group: ChunkGroup, known: GroupStats, heaviest: float, before: Sums | None
) -> Sums:
    """What the kernel's returns sum up to over a group, and over those `before` it."""
    with parallel(_threads()):
        sums = GroupRows(group, known, heaviest).sweep(kernel)
    found = tuple(np.asarray(part, dtype=np.float64) for part in sums)
    return found if before is None else add_sums(before, found)


def add_sums(*parts: Sums) -> Sums:
    """The sum of what several groups gave; none of it is changed."""
    return tuple(np.asarray(sum(terms[1:], start=terms[0])) for terms in zip(*parts, strict=True))


def broadcast(value: Any) -> Any:
    """The value itself, once on the cluster instead of once in every task."""
    return value


def project_group(group: ChunkGroup, known: GroupStats, U: Array) -> Array:
    """X U for the rows of a group, in its own order."""
    with parallel(_threads()):
        return GroupRows(group, known, heaviest=1.0).project(U)


def _threads() -> int:
    """As many as this worker has; Dask keeps BLAS to one, for tasks side by side."""
    return int(importlib.import_module("distributed").get_worker().state.nthreads)


def _spans(lengths: Sequence[int]) -> list[slice]:
    ends = [0, *itertools.accumulate(lengths)]
    return list(itertools.starmap(slice, itertools.pairwise(ends)))


def _bytes(X: Matrix) -> int:
    if sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)
