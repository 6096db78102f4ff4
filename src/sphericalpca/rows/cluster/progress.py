"""How many rows the tasks of a cluster have read so far."""

from __future__ import annotations

import itertools
import operator
from typing import Any, Self

from sphericalpca.rows.base import Watch
from sphericalpca.rows.block import Matrix
from sphericalpca.rows.cluster.client import ClusterClient

__all__ = ["Progress"]


class Progress:
    """Calls the watch with how many rows were read, as tasks end; drops its tasks at the end."""

    def __init__(self, cluster: ClusterClient, watch: Watch | None) -> None:
        self._cluster, self._watch = cluster, watch
        self.tasks: list[Any] = []
        # What is waited for, and its rows; None if the task itself returns how many there are.
        self._pending: list[tuple[Any, int | None]] = []

    def expect(self, task: Any, rows: int | None) -> None:
        """Wait for a task that reads so many rows."""
        self.tasks.append(task)
        self._pending.append((task, rows))

    def expect_chunk(self, chunk: Any, rows: int | None) -> None:
        """Wait for a chunk, which is not dropped; if nobody knows its rows, they are asked for."""
        if rows is not None:
            self._pending.append((chunk, rows))
        elif self._watch is not None:
            self.expect(self._cluster.submit(height_of, chunk), None)

    def look(self) -> None:
        """Report the tasks that have ended."""
        finished = [task.status == "finished" for task, _ in self._pending]
        ended = list(itertools.compress(self._pending, finished))
        self._pending = list(itertools.compress(self._pending, map(operator.not_, finished)))
        self._report(ended)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *rest: object) -> None:
        if error is None:
            self._report(self._pending)
        for task in self.tasks:  # after an error there may be some that have not begun
            task.release()

    def _report(self, reads: list[tuple[Any, int | None]]) -> None:
        if self._watch is None:
            return
        asked = [task for task, rows in reads if rows is None]
        answers = self._cluster.gather(asked) if asked else []
        # No rows are news, too: time goes by.
        self._watch(sum(answers) + sum(rows or 0 for _, rows in reads))


def height_of(matrix: Matrix) -> int:
    """How many rows a chunk has."""
    return int(matrix.shape[0])
