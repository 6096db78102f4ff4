"""All cores, by threads of our own with BLAS kept to one thread each.

BLAS libraries divide one product among threads of theirs, which wait for one another at
its end and then spin for a while in case more comes; scipy's sparse products run on one
thread.  Here every thread gets a part of the rows and does with it all there is to do
(products, lengths, divisions), and threads meet once per pass.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Event, Lock
from typing import Any, NamedTuple, TypeVar

# scikit-learn uses it for the same purpose.
from threadpoolctl import ThreadpoolController

__all__ = ["allowed_threads", "equal_ends", "parallel", "spread", "spread_runs", "workers"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def allowed_threads() -> int:
    """As many as `parallel` was told; elsewhere as many as BLAS may use.

    So the settings that users know (``OPENBLAS_NUM_THREADS``, `threadpoolctl`, the inner
    limit of joblib) hold here too.
    """
    pool = _current()
    return _blas(os.getpid()).allowed() if pool is None else pool.size


@contextmanager
def parallel(threads: int | None = None, *, parts: int | None = None) -> Iterator[None]:
    """Within this context `spread` runs on all allowed threads, and BLAS on one.

    The threads end with the context.  A context within another changes nothing.

    Parameters
    ----------
    threads : int, optional
        How many, where somebody else than BLAS knows: Dask allows BLAS one thread on its
        workers, and tells by other means how many a task may have.
    parts : int, optional
        Divide work as for so many threads, however many there are: sums are then taken in the same
        order, and results are the same bit by bit, on any number of threads.
    """
    if _current() is not None:
        yield
        return
    blas = _blas(os.getpid())
    with (
        blas.one_thread() as allowed,
        # One less than there are items: one of those is always done by the caller.
        ThreadPoolExecutor(
            max((threads or allowed) - 1, 1), initializer=blas.keep_to_one
        ) as executor,
    ):
        count = threads or allowed
        token = _pool.set(_Pool(executor, parts or count, count, os.getpid()))
        try:
            yield
        finally:
            _pool.reset(token)


def spread(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """The function of every item, in their order; each item on a thread if there are any."""
    pool = _current()
    if pool is None or pool.size < 2 or len(items) < 2:
        return list(map(function, items))
    token = _pool.set(None)
    others = (
        [pool.executor.submit(function, item) for item in items[1:]] if pool.threads > 1 else []
    )
    try:
        if not others:
            return list(map(function, items))
        # The first is done here: waking a thread, and being woken, takes a tenth of a millisecond.
        found = {0: function(items[0])}
        # So are those that no thread has begun, where there are more items than threads.
        for k in range(len(others), 0, -1):
            if others[k - 1].cancel():
                found[k] = function(items[k])
        return [found[k] if k in found else others[k - 1].result() for k in range(len(items))]
    finally:
        _pool.reset(token)
        for other in others:
            other.cancel()


def spread_runs(
    function: Callable[[Item], Result], runs: Sequence[Sequence[Item]]
) -> list[list[Result]]:
    """The function of every item of each run, one after the other; each run on a thread.

    Whatever ends one thread, or the caller's wait, ends all of them after the item at hand: an
    error, or Ctrl-C.
    """
    stop = Event()

    def results(run: Sequence[Item]) -> list[Result]:
        found = []
        try:
            for item in run:
                if stop.is_set():
                    break
                found.append(function(item))
        except BaseException:
            stop.set()
            raise
        return found

    try:
        return spread(results, runs)
    except BaseException:
        stop.set()
        raise


def workers() -> int:
    """How many threads `spread` has."""
    pool = _current()
    return 1 if pool is None else pool.size


def equal_ends(n: int, parts: int) -> list[int]:
    """0, ..., n: the ends of so many parts of about equal length."""
    return [n * k // parts for k in range(parts + 1)]


class _Pool(NamedTuple):
    executor: ThreadPoolExecutor
    size: int  # into how many parts work is divided
    threads: int
    process: int


_pool: ContextVar[_Pool | None] = ContextVar("pool", default=None)


def _current() -> _Pool | None:
    """The pool of this context; a forked child inherits the context, but not the threads."""
    pool = _pool.get()
    return pool if pool is not None and pool.process == os.getpid() else None


class _Blas:
    """The BLAS libraries of this process, kept to one thread while anyone asks for that.

    The setting of most belongs to the whole process: the first who comes changes it, the
    last who goes puts it back, so that fits side by side do not restore each other's limit.
    With OpenMP inside it belongs to the thread that asks: everyone puts back their own.
    """

    def __init__(self) -> None:
        libraries: list[Any] = ThreadpoolController().select(user_api="blas").lib_controllers
        self._own = [library for library in libraries if _is_set_per_thread(library)]
        self._shared = [library for library in libraries if not _is_set_per_thread(library)]
        self._lock = Lock()
        self._users = 0
        self._found: list[int] = []

    def allowed(self) -> int:
        with self._lock:
            shared = self._found if self._users else _numbers(self._shared)
        return max(shared or _numbers(self._own), default=os.cpu_count() or 1)

    @contextmanager
    def one_thread(self) -> Iterator[int]:
        own = _numbers(self._own)
        with self._lock:
            if self._users == 0:
                self._found = _numbers(self._shared)
                _set(self._shared, [1] * len(self._found))
            self._users += 1
        allowed = max(self._found or own, default=os.cpu_count() or 1)
        _set(self._own, [1] * len(own))
        try:
            yield allowed
        finally:
            _set(self._own, own)
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    _set(self._shared, self._found)

    def keep_to_one(self) -> None:
        """For threads of ours, which end soon."""
        _set(self._own, [1] * len(self._own))


def _is_set_per_thread(library: Any) -> bool:
    """Whether the number of threads is one for each thread that calls, as OpenMP keeps it."""
    return getattr(library, "threading_layer", None) == "openmp"


def _numbers(libraries: Sequence[Any]) -> list[int]:
    return [library.get_num_threads() or 1 for library in libraries]


def _set(libraries: Sequence[Any], numbers: Sequence[int]) -> None:
    for library, number in zip(libraries, numbers, strict=True):
        # threadpoolctl lets only the thread that came first change OpenBLAS, and ignores all
        # others.  Here the lock sees to it that nobody undoes another's setting.
        # Earlier versions have nobody to release.
        release = getattr(library, "clear_controlling_thread", lambda **_: None)
        release(force=True)
        library.set_num_threads(number)
        release(force=True)


@cache
def _blas(process: int) -> _Blas:  # noqa: ARG001 - one for each process
    # The libraries are looked up once: that takes longer than a small fit.
    return _Blas()
