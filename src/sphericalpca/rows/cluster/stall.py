"""When to give up on a cluster: it has no workers, or makes no progress."""

from __future__ import annotations

import importlib
import time
from typing import Any, NamedTuple

from sphericalpca.exceptions import ClusterError, Parameter

__all__ = ["REMEDY", "Activity", "StallDetector", "activity"]

# Seconds without workers after which a fit is abandoned; a nanny restarts a worker within a few
# seconds.  Dask's setting, if made in the client's process, takes precedence.
NO_WORKERS = 30.0
NO_WORKERS_SETTING = "distributed.scheduler.no-workers-timeout"
# Seconds without progress: no worker computes, sends or spills anything.
STANDSTILL = 300.0
# Seconds between two checks of the activity; each writes a line to the scheduler's log.
ACTIVITY_INTERVAL = 15.0

RESUME = ("a fit with ", Parameter("checkpoint", ...), " resumes where the last one was saved")
REMEDY = ("start workers and fit again; ", *RESUME)


class Activity(NamedTuple):
    """Signs of life of a cluster."""

    changes: tuple[int, int]  # changes of the state of tasks, and bytes spilled to disk
    busy: int  # tasks being executed, and transfers in progress
    paused: int  # workers that start no task, because their memory is full


def activity(dask_scheduler: Any) -> Activity:
    """Run by the scheduler: its signs of activity."""
    workers = dask_scheduler.workers.values()
    spilled = [worker.metrics.get("spilled_bytes", {}).get("disk", 0) for worker in workers]
    coming = [worker.metrics.get("transfer", {}).get("incoming_count", 0) for worker in workers]
    return Activity(
        (dask_scheduler.transition_counter, sum(spilled)),
        sum(len(worker.executing) for worker in workers) + sum(coming),
        sum(worker.status.name == "paused" for worker in workers),
    )


class StallDetector:
    """Raises an error once a cluster has had no workers, or no activity, for some time."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster
        self._last_seen = self._last_moved = self._last_beat = time.monotonic()
        self._changes = (-1, -1)

    def look(self) -> None:
        """Raise a `ClusterError` if no more progress can be expected."""
        workers, now = len(self._cluster.workers()), time.monotonic()
        if workers == 0:
            setting = importlib.import_module("dask").config.get(NO_WORKERS_SETTING, None)
            parse = importlib.import_module("dask.utils").parse_timedelta
            allowed = NO_WORKERS if setting is None else float(parse(setting))
            if now - self._last_seen > allowed:
                raise ClusterError(
                    f"The cluster has had no workers for {allowed:g} seconds",
                    remedy=(
                        *REMEDY,
                        f". If workers take longer to start, set {NO_WORKERS_SETTING}",
                    ),
                )
            return
        self._last_seen = now
        if now - self._last_beat >= ACTIVITY_INTERVAL:
            self._last_beat = now
            self._refuse_standstill(workers, now)

    def _refuse_standstill(self, workers: int, now: float) -> None:
        found = self._cluster.activity()
        if found.busy or found.changes != self._changes:
            self._changes, self._last_moved = found.changes, now
        elif now - self._last_moved > STANDSTILL:
            more = "add workers or memory, and make sure that some workers may run all tasks; "
            raise ClusterError(
                f"The cluster has made no progress for {STANDSTILL:g} seconds; {found.paused} of "
                f"its {workers} workers are paused, as Dask does when their memory is full",
                remedy=(more, *RESUME),
            )
