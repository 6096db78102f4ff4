"""How far the tasks have come that read rows."""

from __future__ import annotations

from typing import Any

from sphericalpca.rows.base import Watch

__all__ = ["Reads"]


class Reads:
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
