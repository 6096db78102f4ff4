"""The workers of a cluster: what they are given to do, and waiting for it without end."""

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
from sphericalpca.rows.cluster.patience import REMEDY, Patience, Pulse, pulse
from sphericalpca.rows.cluster.placement import Worker

__all__ = ["Crew", "Survey", "active_client"]

# How many seconds a scheduler may be too busy to answer.
SILENCE = 60.0
# Seconds between two looks at the cluster while nothing arrives.
LOOK = 0.5

Future = Any  # of distributed
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
            "The active Dask client is asynchronous, but a fit waits for its answers: start one "
            "by Client(...), without asynchronous=True."
        )
    return client


def _in_a_task() -> bool:
    # A task that waits for others of its own worker could wait for ever.
    try:
        _distributed().get_worker()
    except ValueError:
        return False
    return True


def _distributed() -> Any:
    return importlib.import_module("distributed")


@dataclass(frozen=True)
class Survey:
    """Who is there, and where data are.

    Attributes
    ----------
    workers : dict of Worker
        By their addresses.
    holders : list of list of str
        Addresses of the workers that hold each piece of data asked for.
    sizes : list of int
        Its bytes.
    """

    workers: dict[str, Worker]
    holders: list[list[str]]
    sizes: list[int]


class Crew:
    """The workers of a cluster, by way of a client.

    No call waits for ever: a `ClusterError` tells when the cluster is gone.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def compute(self, lazy: list[Any]) -> list[Future]:
        """Futures of lazy values, which Dask places as it likes."""
        self._check_connected()
        return list(self._client.compute(lazy))

    def submit(self, task: Callable[..., Any], *arguments: Any, home: str | None = None) -> Future:
        """The future of a task, to be done by the worker at `home` if it is there."""
        self._check_connected()
        place = {} if home is None else {"workers": [home], "allow_other_workers": True}
        # Arguments may be large, and are meant to be: every worker needs them.
        with importlib.import_module("dask").config.set(
            {"distributed.admin.large-graph-warning-threshold": sys.maxsize}
        ):
            return self._client.submit(task, *arguments, pure=False, **place)

    def gather(
        self, futures: Sequence[Future], meanwhile: Callable[[], None] | None = None
    ) -> list[Any]:
        """What the futures hold, in their order; `meanwhile` is called now and then."""
        patience = Patience(self)
        call = self._start(lambda: self._client.gather(list(futures)))
        with _given_up_on_error(futures):
            while not concurrent.futures.wait([call], LOOK).done:
                patience.look()
                if meanwhile is not None:
                    meanwhile()
            return list(call.result())

    def settle(
        self, futures: Sequence[Future], meanwhile: Callable[[], None] | None = None
    ) -> None:
        """Wait until all futures are there, and leave what they hold where it is.

        `meanwhile` is called now and then.
        """
        patience, pause = Patience(self), LOOK / 64
        with _given_up_on_error(futures):
            while any(future.status in ("pending", "lost") for future in futures):
                # The first error need not wait for the last future.
                self._raise_error_of([f for f in futures if f.status == "error"])
                patience.look()
                if meanwhile is not None:
                    meanwhile()
                time.sleep(pause)
                pause = min(2 * pause, LOOK)
            self._raise_error_of([f for f in futures if f.status != "finished"])

    def _raise_error_of(self, failed: Sequence[Future]) -> None:
        if failed:
            self.gather(failed[:1])

    def survey(self, futures: Sequence[Future]) -> Survey:
        """Who is there, at least one worker, and where these data are."""
        patience = Patience(self)
        keys = [future.key for future in futures]
        while True:
            workers, holders, sizes = self._ask(
                lambda: self._client.run_on_scheduler(_look_around, keys)
            )
            if workers:
                return Survey({k: Worker(*facts) for k, facts in workers.items()}, holders, sizes)
            patience.look()
            time.sleep(LOOK)

    def holders(self, futures: Sequence[Future]) -> list[Sequence[str]]:
        """Addresses of the workers that hold each future: a question that is quickly answered."""
        found = self._ask(lambda: self._client.who_has(list(futures)))
        return [found.get(future.key, ()) for future in futures]

    def workers(self) -> set[str]:
        """Addresses of all workers."""
        return set(self._ask(self._client.nthreads))

    def pulse(self) -> Pulse:
        """Whether anything moves."""
        return Pulse(*self._ask(lambda: self._client.run_on_scheduler(pulse)))

    def _ask(self, question: Callable[[], Awaitable[Any]]) -> Any:
        """What the scheduler answers to a question, if it does so in time."""
        call = self._start(question)
        with _given_up_on_error():
            try:
                return call.result(SILENCE)
            except OSError as error:  # also if nothing came in time, or nobody is there
                call.cancel()
                raise ClusterError(f"The scheduler does not answer ({error!r}). {REMEDY}") from None

    def _start(self, call: Callable[[], Awaitable[Answer]]) -> concurrent.futures.Future[Answer]:
        """Start a call in the client's own thread, where its methods can be awaited."""
        self._check_connected()

        async def awaited() -> Answer:
            return await call()

        return asyncio.run_coroutine_threadsafe(awaited(), self._client.loop.asyncio_loop)

    def _check_connected(self) -> None:
        if self._client.status != "running":
            raise ClusterError(
                f"The Dask client is {self._client.status}, so the data cannot be reached: connect "
                "a new one to a running scheduler. " + REMEDY
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
        return ClusterError(
            f"The cluster lost data, tasks or its scheduler ({error}). Data that were scattered "
            "to a worker die with it: make arrays from files or functions, so that Dask can make "
            f"lost chunks again. {REMEDY}"
        )
    if isinstance(error, distributed.KilledWorker):
        return ClusterError(
            f"{error} Often memory is the reason: use smaller chunks, more workers, or workers "
            "with more memory."
        )
    if isinstance(error, ImportError) and error.name == "sphericalpca":
        return ClusterError(
            "The workers cannot import sphericalpca: install it on them and on the scheduler, in "
            "the version used here."
        )
    return None


def _look_around(keys: Sequence[Any], dask_scheduler: Any) -> tuple[Any, Any, Any]:
    """Run by the scheduler: all that `Survey` wants to know."""
    running = dask_scheduler.running or dask_scheduler.workers.values()
    workers = {state.address: (state.nthreads, state.memory_limit or 0) for state in running}
    tasks = [dask_scheduler.tasks.get(key) for key in keys]
    holders = [[] if task is None else [w.address for w in task.who_has or ()] for task in tasks]
    sizes = [0 if task is None else max(task.nbytes, 0) for task in tasks]
    return workers, [sorted(addresses) for addresses in holders], sizes
