"""How far the tasks have come that read rows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Self

from sphericalpca.rows.base import Watch
from sphericalpca.rows.block import Matrix
from sphericalpca.rows.cluster.client import ClusterClient

__all__ = ["LoadProgress", "ReadProgress"]


class ReadProgress:
    """Tasks that read rows: tells how many rows as they end, and drops them at the end.

    Attributes
    ----------
    tasks : list of futures
    """

    def __init__(self, watch: Watch | None) -> None:
        self._watch = watch
        self.tasks: list[Any] = []
        self._untold: list[tuple[Any, int]] = []

    def expect(self, task: Any, rows: int) -> None:
        """A task reads so many rows."""
        self.tasks.append(task)
        self._untold.append((task, rows))

    def look(self) -> None:
        """Tell of the tasks that have ended."""
        self._tell([read for read in self._untold if read[0].status == "finished"])

    def __enter__(self) -> None:
        pass

    def __exit__(self, error: object, *rest: object) -> None:
        for task in self.tasks:  # after an error there may be some that have not begun
            task.release()
        if error is None:
            self._tell(self._untold)

    def _tell(self, reads: list[tuple[Any, int]]) -> None:
        self._untold = [read for read in self._untold if read not in reads]
        for _, rows in reads:
            if self._watch is not None:
                self._watch(rows)


class LoadProgress:
    """Chunks on their way to the workers: tells how many rows as they arrive.

    Parameters
    ----------
    cluster : ClusterClient
    chunks : sequence of futures
        They are left alone, however this ends.
    heights : sequence of int or None
        Rows of each chunk; those that nobody knows yet are asked for.
    watch : callable, optional
        Without one nothing is done.
    """

    def __init__(
        self,
        cluster: ClusterClient,
        chunks: Sequence[Any],
        heights: Sequence[int | None],
        watch: Watch | None,
    ) -> None:
        self._cluster, self._watch = cluster, watch
        # Whose arrival is a sign of how many rows; the number, or the sign will tell it.
        self._untold: list[tuple[Any, int | None]] = []
        for chunk, rows in zip(chunks, heights, strict=True) if watch is not None else ():
            self._untold.append(
                (cluster.submit(height_of, chunk), None) if rows is None else (chunk, rows)
            )

    def look(self) -> None:
        """Tell of the chunks that have arrived."""
        there = [sign.status == "finished" for sign, _ in self._untold]
        self._tell(list(itertools.compress(self._untold, there)))
        self._untold = [load for load, known in zip(self._untold, there, strict=True) if not known]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *rest: object) -> None:
        if error is None:
            self._tell(self._untold)
        for sign, rows in self._untold:
            if rows is None:  # it would keep a chunk alive that nobody wants any more
                sign.release()

    def _tell(self, loads: list[tuple[Any, int | None]]) -> None:
        if self._watch is None:
            return
        asked = [sign for sign, rows in loads if rows is None]
        answers = self._cluster.gather(asked) if asked else []
        # No rows are news, too: time goes by.
        self._watch(sum(answers) + sum(rows for _, rows in loads if rows is not None))


def height_of(matrix: Matrix) -> int:
    """How many rows a chunk has."""
    return int(matrix.shape[0])
