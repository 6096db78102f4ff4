"""Rows on a cluster: every worker reads those that it keeps, and sums travel."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.rows.base import Kernel, Rows, Watch
from sphericalpca.rows.block import Block
from sphericalpca.rows.cluster.matrix import ClusterMatrix, Piece
from sphericalpca.rows.cluster.placement import homes
from sphericalpca.rows.cluster.reads import Reads
from sphericalpca.rows.cluster.share import (
    Measured,
    ShareRows,
    added,
    measured,
    projected,
    shared_by_all,
    swept,
    totals_of,
)
from sphericalpca.rows.facts import Facts, Totals

__all__ = ["ClusterRows"]

# So many sums are added up by one task; those that are left, by the client.
FAN_IN = 8


class ClusterRows(Rows):
    """The rows of a `ClusterMatrix`.

    In a pass every worker gets one task, or one after the other for several shares, and one
    copy of the kernel, which it fetches from whichever worker has it already.  When workers
    come or go, shares are given new homes; Dask makes lost ones again.

    Parameters
    ----------
    matrix : ClusterMatrix
    weight, normalize, mean, watch
        As in `MemoryRows`.
    """

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
        self._matrix, self._crew = matrix, matrix.crew
        mean = None if mean is None else np.asarray(mean, dtype=matrix.dtype)
        self._workers: set[str] = set()
        self._homes: list[str] = []
        self._known = [
            self._crew.submit(
                measured,
                piece.share,
                piece.firsts,
                None if weight is None else piece.of(weight),
                mean,
                normalize,
            )
            for piece in matrix.pieces
        ]
        reads = Reads(watch)
        for piece, known in zip(matrix.pieces, self._known, strict=True):
            reads.expect(self._crew.submit(totals_of, known), piece.rows)
        with reads:
            totals = self._crew.gather(reads.tasks, reads.look)
        super().__init__(
            matrix.shape,
            matrix.dtype,
            Totals.sum(totals),
            stored=matrix.stored,
            room=0,
            watch=watch,
        )

    @cached_property
    def facts(self) -> Facts:
        """Weight, scale and length of each row, fetched from the workers."""
        n = self.shape[0]
        whole = Facts(np.zeros(n), np.zeros(n), np.zeros(n))
        for piece, known in zip(self._matrix.pieces, self._crew.gather(self._known), strict=True):
            _put(known.facts.weight, piece.spans, whole.weight)
            _put(known.facts.scale, piece.spans, whole.scale)
            _put(known.facts.norm, piece.spans, whole.norm)
        return whole

    def parts(self, count: int) -> list[Iterator[Block]]:  # noqa: ARG002 - one is enough
        """All rows, fetched from the workers in one part: only for few rows."""
        shares = self._crew.gather([piece.share for piece in self._matrix.pieces])
        known: Sequence[Measured] = self._crew.gather(self._known)
        blocks = [
            block
            for pair in zip(shares, known, strict=True)
            for block in ShareRows(*pair, heaviest=self.heaviest).blocks()
        ]
        return [iter(sorted(blocks, key=lambda block: block.span.start))]

    def project(self, U: Array, out: Array | None = None) -> Array:
        """X U for all rows, shape (n, r), fetched from the workers."""
        self.passes += 0.5
        self.flops += 2.0 * self.stored * U.shape[1]
        Y = np.empty((self.shape[0], U.shape[1]), dtype=self.dtype) if out is None else out
        spread = self._crew.submit(shared_by_all, U.astype(self.dtype, copy=False))
        self._find_homes()
        found = [
            self._crew.submit(projected, piece.share, known, spread, home=home)
            for piece, known, home in self._places()
        ]
        for piece, part in zip(self._matrix.pieces, self._crew.gather(found), strict=True):
            _put(part, piece.spans, Y)
        return Y

    def _run(self, kernel: Kernel) -> list[list[Any]]:
        # As a task of its own the kernel reaches the cluster once, and goes from worker to
        # worker there; one that was scattered would die with the worker that has it.
        shared = self._crew.submit(shared_by_all, kernel)
        self._find_homes()
        last: dict[str, Any] = {}
        reads = Reads(self.watch)
        for piece, known, home in self._places():
            # One after the other at each home, as each may use all threads and much memory.
            before = last.get(home)
            last[home] = self._crew.submit(
                swept, shared, piece.share, known, self.heaviest, before, home=home
            )
            reads.expect(last[home], piece.rows)
        sums = self._few([last[home] for home in sorted(last)])
        with reads:
            answers = self._crew.gather(sums, reads.look)
        return [[np.array(part) for part in answer] for answer in answers]

    def _few(self, sums: list[Any]) -> list[Any]:
        """Sums of sums, so few that the client can add them up."""
        while len(sums) > FAN_IN:
            batches = [sums[k : k + FAN_IN] for k in range(0, len(sums), FAN_IN)]
            sums = [self._crew.submit(added, *batch) for batch in batches]
        return sums

    def _places(self) -> Iterator[tuple[Piece, Any, str]]:
        return zip(self._matrix.pieces, self._known, self._homes, strict=True)

    def _find_homes(self) -> None:
        """Every share stays where it is, unless workers came or went."""
        shares = [piece.share for piece in self._matrix.pieces]
        holders = self._crew.holders(shares)
        at_home = all(map(operator.contains, holders, self._homes))
        if not at_home or self._workers != self._crew.workers():
            survey = self._crew.survey(shares)
            self._workers = set(survey.workers)
            self._homes = homes(survey.sizes, survey.holders, survey.workers)


def _put(values: Array, spans: Sequence[slice], out: Array) -> None:
    """Write values of a share to the rows of the whole that they belong to."""
    first = 0
    for span in spans:
        last = first + span.stop - span.start
        out[span] = values[first:last]
        first = last
