"""The client of a cluster: tasks for its workers, and waits that end if the cluster is lost."""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib
import itertools
import operator
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeVar

from sphericalpca.exceptions import ClusterError
from sphericalpca.rows.base import Watch
from sphericalpca.rows.cluster.stall import REMEDY, Activity, StallDetector, activity

__all__ = ["ClusterClient", "ClusterState", "Worker", "active_client", "released_on_error"]

# Seconds to wait for an answer of a busy scheduler.
ANSWER_TIMEOUT = 60.0
# Seconds between two checks of the cluster while nothing arrives.
POLL_INTERVAL = 0.5

Future = Any  # of distributed
Answer = TypeVar("Answer")


def active_client() -> Any | None:
    """The client that Dask would use here; None where it would compute in this process."""
    if "distributed" not in sys.modules:  # then there is no client
        return None
    scheduler = importlib.import_module("dask").config.get("scheduler", None)
    if scheduler not in (None, "dask.distributed", "distributed"):
        return None
    with suppress(ValueError):
        _distributed().get_worker()
        return None  # a task that waits for others of the same worker could wait forever
    try:
        client = _distributed().Client.current()
    except ValueError:
        return None
    if client.asynchronous:
        raise ClusterError(
            "The active Dask client is asynchronous",
            "a fit needs a synchronous one",
            "start one with Client(...), without asynchronous=True",
        )
    return client


def _distributed() -> Any:
    return importlib.import_module("distributed")


class Worker(NamedTuple):
    """A worker of a cluster: its threads, and its memory limit in bytes, 0 if there is none."""

    threads: int
    memory: int


class ClusterState(NamedTuple):
    """The workers of a cluster, and the places of data."""

    workers: dict[str, Worker]  # by their addresses
    holders: list[list[str]]  # addresses of the workers that hold each of the data
    sizes: list[int]  # bytes of each of them


class ClusterClient:
    """The workers of a cluster; waits end in a `ClusterError` when they are lost."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def compute(self, lazy: list[Any]) -> list[Future]:
        """Futures of lazy values, on workers of Dask's choice."""
        self._check_connected()
        return list(self._client.compute(lazy))

    def submit(
        self, task: Callable[..., Any], *arguments: Any, address: str | None = None
    ) -> Future:
        """The future of a task, for the worker at `address` if it is still there."""
        self._check_connected()
        place = {} if address is None else {"workers": [address], "allow_other_workers": True}
        # Large arguments are intended: every worker needs them.
        silent = {"distributed.admin.large-graph-warning-threshold": sys.maxsize}
        with importlib.import_module("dask").config.set(silent):
            return self._client.submit(task, *arguments, pure=False, **place)

    def gather(
        self,
        futures: Sequence[Future],
        watch: Watch | None = None,
        rows: Sequence[int | None] = (),
        tasks: Sequence[Future] | None = None,
    ) -> list[Any]:
        """The results of the futures, in order.

        As the `tasks` end, by default the futures themselves, the watch is called with the `rows`
        that they have read; None for tasks that return this number.
        """
        tasks = futures if tasks is None else tasks
        stall, pending = StallDetector(self), list(zip(tasks, rows, strict=False))
        call = self._start(lambda: self._client.gather(list(futures)))
        with released_on_error([*futures, *tasks]):
            while not concurrent.futures.wait([call], POLL_INTERVAL).done:
                stall.look()
                ended = [task.status == "finished" for task, _ in pending]
                self._tell(watch, list(itertools.compress(pending, ended)))
                pending = list(itertools.compress(pending, map(operator.not_, ended)))
            found = list(call.result())
            self._tell(watch, pending)
            return found

    def _tell(self, watch: Watch | None, reads: list[tuple[Future, int | None]]) -> None:
        if watch is not None:
            asked = [task for task, rows in reads if rows is None]
            # Zero rows are reported, too: time has passed.
            answers = self.gather(asked) if asked else []
            watch(sum(answers) + sum(rows or 0 for _, rows in reads))

    def state(self, futures: Sequence[Future]) -> ClusterState:
        """The workers, at least one, and where these data are."""
        stall = StallDetector(self)
        keys = [future.key for future in futures]
        while True:
            found = self._ask(lambda: self._client.run_on_scheduler(_look_around, keys))
            if found.workers:
                return ClusterState(*found)
            stall.look()
            time.sleep(POLL_INTERVAL)

    def holders(self, futures: Sequence[Future]) -> list[Sequence[str]]:
        """Addresses of the workers that hold each future; a cheap query."""
        found = self._ask(lambda: self._client.who_has(list(futures)))
        return [found.get(future.key, ()) for future in futures]

    def workers(self) -> set[str]:
        """Addresses of all workers."""
        return set(self._ask(self._client.nthreads))

    def activity(self) -> Activity:
        """Progress of the cluster, to detect a stall."""
        return Activity(*self._ask(lambda: self._client.run_on_scheduler(activity)))

    def _ask(self, question: Callable[[], Awaitable[Any]]) -> Any:
        """The scheduler's answer to a query, if it comes in time."""
        call = self._start(question)
        with released_on_error():
            try:
                return call.result(ANSWER_TIMEOUT)
            except OSError as error:  # also if no answer came in time, or nothing is listening
                call.cancel()
                found = f"The scheduler does not answer ({error!r})"
                raise ClusterError(found, remedy=REMEDY) from None

    def _start(self, call: Callable[[], Awaitable[Answer]]) -> concurrent.futures.Future[Answer]:
        """Start a call in the client's own thread, where its methods can be awaited."""
        self._check_connected()

        async def awaited() -> Answer:
            return await call()

        return asyncio.run_coroutine_threadsafe(awaited(), self._client.loop.asyncio_loop)

    def _check_connected(self) -> None:
        if self._client.status != "running":
            raise ClusterError(
                f"The Dask client is {self._client.status}",
                "must be running for the data to be reached",
                ("connect a new one to a running scheduler, ", *REMEDY),
            )


@contextmanager
def released_on_error(futures: Sequence[Future] = ()) -> Iterator[None]:
    """Cancel the tasks in progress on any error, including Ctrl-C."""
    try:
        yield
    except BaseException as error:
        # Dask drops tasks that are no longer needed, and calls that wait for them end.
        for future in futures:
            future.release()
        explained = _explained(error)
        if explained is None:
            raise
        raise explained from error


def _explained(error: BaseException) -> ClusterError | None:
    """Translate an error that the cluster caused; None for other errors."""
    distributed = _distributed()
    lost = (concurrent.futures.CancelledError, distributed.comm.CommClosedError)
    if isinstance(error, lost):
        recompute = "make arrays from files or functions, so that Dask can recompute lost chunks; "
        return ClusterError(
            f"The cluster lost data, tasks or its scheduler ({error})",
            "data that were scattered to a worker are lost with it",
            (recompute, *REMEDY),
        )
    if isinstance(error, distributed.KilledWorker):
        return ClusterError(
            f"{error} Often the cause is a lack of memory",
            remedy="use smaller chunks, more workers, or workers with more memory",
        )
    if isinstance(error, ImportError) and error.name == "sphericalpca":
        return ClusterError(
            "The workers cannot import sphericalpca",
            remedy="install the version used here on them and on the scheduler",
        )
    return None


def _look_around(keys: Sequence[Any], dask_scheduler: Any) -> ClusterState:
    """Run by the scheduler."""
    running = dask_scheduler.running or dask_scheduler.workers.values()
    workers = {state.address: Worker(state.nthreads, state.memory_limit or 0) for state in running}
    tasks = [dask_scheduler.tasks.get(key) for key in keys]
    holders = [sorted(w.address for w in task.who_has or ()) if task else [] for task in tasks]
    sizes = [0 if task is None else max(task.nbytes, 0) for task in tasks]
    return ClusterState(workers, holders, sizes)
