"""The client of a cluster: tasks for its workers, and waits that end when the cluster is gone."""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from sphericalpca.exceptions import ClusterError
from sphericalpca.rows.cluster.placement import Worker
from sphericalpca.rows.cluster.stall import REMEDY, Activity, StallDetector, activity

__all__ = ["ClusterClient", "ClusterState", "active_client"]

# How many seconds a scheduler may be too busy to answer.
ANSWER_TIMEOUT = 60.0
# Seconds between two looks at the cluster while nothing arrives.
POLL_INTERVAL = 0.5

Future = Any  # of distributed
Task = Callable[..., Any]
Answer = TypeVar("Answer")


def active_client() -> Any | None:
    """The client that Dask would use here; None where it would compute in this process."""
    if "distributed" not in sys.modules:  # whoever has a client has imported it
        return None
    scheduler = importlib.import_module("dask").config.get("scheduler", None)
    if scheduler not in (None, "dask.distributed", "distributed") or _in_a_task():
        return None
    try:
        client = _distributed().Client.current()
    except ValueError:
        return None
    if client.asynchronous:
        raise ClusterError(
            "The active Dask client is asynchronous",
            "a fit waits for its answers",
            "start one with Client(...), without asynchronous=True",
        )
    return client


def _in_a_task() -> bool:
    # A task that waits for others of its own worker could wait forever.
    try:
        _distributed().get_worker()
    except ValueError:
        return False
    return True


def _distributed() -> Any:
    return importlib.import_module("distributed")


@dataclass(frozen=True)
class ClusterState:
    """Who is there, and where data are."""

    workers: dict[str, Worker]  # by their addresses
    holders: list[list[str]]  # addresses of the workers that hold each of the data asked for
    sizes: list[int]  # bytes of each of them


class ClusterClient:
    """The workers of a cluster, by way of a client.

    No call waits forever: a `ClusterError` tells when the cluster is gone.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def compute(self, lazy: list[Any]) -> list[Future]:
        """Futures of lazy values, which Dask places as it likes."""
        self._check_connected()
        return list(self._client.compute(lazy))

    def submit(self, task: Task, *arguments: Any, address: str | None = None) -> Future:
        """The future of a task, to be done by the worker at `address` if it is there."""
        self._check_connected()
        place = {} if address is None else {"workers": [address], "allow_other_workers": True}
        # Arguments may be large, and are meant to be: every worker needs them.
        silent = {"distributed.admin.large-graph-warning-threshold": sys.maxsize}
        with importlib.import_module("dask").config.set(silent):
            return self._client.submit(task, *arguments, pure=False, **place)

    def gather(self, futures: Sequence[Future], meanwhile: Task | None = None) -> list[Any]:
        """What the futures hold, in their order; `meanwhile` is called now and then."""
        stall = StallDetector(self)
        call = self._start(lambda: self._client.gather(list(futures)))
        with _given_up_on_error(futures):
            while not concurrent.futures.wait([call], POLL_INTERVAL).done:
                stall.look()
                if meanwhile is not None:
                    meanwhile()
            return list(call.result())

    def settle(self, futures: Sequence[Future], meanwhile: Task | None = None) -> None:
        """Wait as `gather` until all futures are there, and leave what they hold where it is."""
        stall, pause = StallDetector(self), POLL_INTERVAL / 64
        with _given_up_on_error(futures):
            while any(future.status in ("pending", "lost") for future in futures):
                # The first error need not wait for the last future.
                self._raise_error_of([f for f in futures if f.status == "error"])
                stall.look()
                if meanwhile is not None:
                    meanwhile()
                time.sleep(pause)
                pause = min(2 * pause, POLL_INTERVAL)
            self._raise_error_of([f for f in futures if f.status != "finished"])

    def _raise_error_of(self, failed: Sequence[Future]) -> None:
        if failed:
            self.gather(failed[:1])

    def state(self, futures: Sequence[Future]) -> ClusterState:
        """Who is there, at least one worker, and where these data are."""
        stall = StallDetector(self)
        keys = [future.key for future in futures]
        while True:
            found = self._ask(lambda: self._client.run_on_scheduler(_look_around, keys))
            workers, holders, sizes = found
            if workers:
                known = {address: Worker(*stats) for address, stats in workers.items()}
                return ClusterState(known, holders, sizes)
            stall.look()
            time.sleep(POLL_INTERVAL)

    def holders(self, futures: Sequence[Future]) -> list[Sequence[str]]:
        """Addresses of the workers that hold each future: a question that is quickly answered."""
        found = self._ask(lambda: self._client.who_has(list(futures)))
        return [found.get(future.key, ()) for future in futures]

    def workers(self) -> set[str]:
        """Addresses of all workers."""
        return set(self._ask(self._client.nthreads))

    def activity(self) -> Activity:
        """Whether anything moves."""
        return Activity(*self._ask(lambda: self._client.run_on_scheduler(activity)))

    def _ask(self, question: Callable[[], Awaitable[Any]]) -> Any:
        """What the scheduler answers to a question, if it does so in time."""
        call = self._start(question)
        with _given_up_on_error():
            try:
                return call.result(ANSWER_TIMEOUT)
            except OSError as error:  # also if nothing came in time, or nobody is there
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
def _given_up_on_error(futures: Sequence[Future] = ()) -> Iterator[None]:
    """Whatever goes wrong, Ctrl-C included, ends the tasks that are waited for."""
    try:
        yield
    except BaseException as error:
        # Dask drops tasks that nobody wants any more, and calls that wait for them end.
        for future in futures:
            future.release()
        explained = _explained(error)
        if explained is None:
            raise
        raise explained from error


def _explained(error: BaseException) -> ClusterError | None:
    """What it means, where it was the cluster that failed."""
    distributed = _distributed()
    lost = (concurrent.futures.CancelledError, distributed.comm.CommClosedError)
    if isinstance(error, lost):
        recompute = "make arrays from files or functions, so that Dask can recompute lost chunks; "
        return ClusterError(
            f"The cluster lost data, tasks or its scheduler ({error})",
            "data that were scattered to a worker die with it",
            (recompute, *REMEDY),
        )
    if isinstance(error, distributed.KilledWorker):
        return ClusterError(
            f"{error} Often memory is the reason",
            remedy="use smaller chunks, more workers, or workers with more memory",
        )
    if isinstance(error, ImportError) and error.name == "sphericalpca":
        return ClusterError(
            "The workers cannot import sphericalpca",
            remedy="install it on them and on the scheduler, in the version used here",
        )
    return None


def _look_around(keys: Sequence[Any], dask_scheduler: Any) -> tuple[Any, Any, Any]:
    """Run by the scheduler: all that `ClusterState` wants to know."""
    running = dask_scheduler.running or dask_scheduler.workers.values()
    workers = {state.address: (state.nthreads, state.memory_limit or 0) for state in running}
    tasks = [dask_scheduler.tasks.get(key) for key in keys]
    holders = [[] if task is None else [w.address for w in task.who_has or ()] for task in tasks]
    sizes = [0 if task is None else max(task.nbytes, 0) for task in tasks]
    return workers, [sorted(addresses) for addresses in holders], sizes
