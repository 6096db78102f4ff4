"""Use all cores by the package's own threads, with BLAS limited to one thread each.

Every thread processes one part of the rows completely, so threads synchronise once per pass.
Threads of BLAS would synchronise after every product.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Event, Lock
from typing import Any, NamedTuple, TypeVar

# scikit-learn uses it for the same purpose.
from threadpoolctl import ThreadpoolController

__all__ = ["allowed_threads", "equal_ends", "parallel", "runs", "spread", "spread_runs", "workers"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def allowed_threads() -> int:
    """The number given to `parallel`; outside it, the number of threads BLAS may use."""
    pool = _current()
    return _blas(os.getpid()).allowed() if pool is None else pool.size


@contextmanager
def parallel(threads: int | None = None, *, parts: int | None = None) -> Iterator[None]:
    """A context in which `spread` runs on all allowed threads, and BLAS on one; may be nested.

    By default `threads` is the number BLAS may use; Dask's workers pass their own.  With a fixed
    number of `parts` results are the same on any number of threads.
    """
    if _current() is not None:
        yield
        return
    blas = _blas(os.getpid())
    with blas.one_thread() as allowed:
        count = threads or allowed
        # One thread fewer than items: the caller always processes one itself.
        with ThreadPoolExecutor(max(count - 1, 1), initializer=blas.keep_to_one) as executor:
            token = _pool.set(_Pool(executor, parts or count, count, os.getpid()))
            try:
                yield
            finally:
                _pool.reset(token)


def spread(
    function: Callable[[Item], Result], items: Sequence[Item], stop: Event | None = None
) -> list[Result]:
    """Map the function over the items, in order, on threads; errors and Ctrl-C set `stop`."""
    pool, stop = _current(), stop or Event()
    if pool is None or pool.size < 2 or len(items) < 2:
        return list(map(function, items))

    def ended(other: Future[Result]) -> None:
        if not other.cancelled() and other.exception() is not None:
            stop.set()

    token = _pool.set(None)
    rest = items[1:] if pool.threads > 1 else ()
    others = [pool.executor.submit(function, item) for item in rest]
    try:
        for other in others:
            other.add_done_callback(ended)
        if not others:
            return list(map(function, items))
        # The caller does the first: waking and awaiting a thread takes a tenth of a millisecond.
        found = {0: function(items[0])}
        # It also does those that no thread has started, if there are more items than threads.
        for k in range(len(others), 0, -1):
            if others[k - 1].cancel():
                found[k] = function(items[k])
        return [found[k] if k in found else others[k - 1].result() for k in range(len(items))]
    except BaseException:
        stop.set()
        raise
    finally:
        _pool.reset(token)
        for other in others:
            other.cancel()


def spread_runs(
    function: Callable[[Item], Result], runs: Sequence[Sequence[Item]]
) -> list[list[Result]]:
    """Map the function over the items, one thread each; an error or Ctrl-C ends all of them."""
    stop = Event()

    def results(run: Sequence[Item]) -> list[Result]:
        return [function(item) for item in run if not stop.is_set()]

    return spread(results, runs, stop)


def workers() -> int:
    """Number of threads of `spread`."""
    pool = _current()
    return 1 if pool is None else pool.size


def equal_ends(n: int, parts: int) -> list[int]:
    """0, ..., n: the ends of this many parts of about equal length."""
    return [n * k // parts for k in range(parts + 1)]


def runs(items: Sequence[Item], count: int) -> list[Sequence[Item]]:
    """At most this many runs of consecutive items, of about equal length, none empty."""
    ends = equal_ends(len(items), min(count, len(items)) or 1)
    return [items[a:b] for a, b in itertools.pairwise(ends)]


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
    """The BLAS libraries of this process, limited to one thread while any caller needs that.

    Most have one setting per process: the first caller changes it, the last one restores it.  With
    OpenMP the setting belongs to the calling thread: each caller restores its own.
    """

    def __init__(self) -> None:
        libraries: list[Any] = ThreadpoolController().select(user_api="blas").lib_controllers
        openmp = [getattr(found, "threading_layer", None) == "openmp" for found in libraries]
        self._own = list(itertools.compress(libraries, openmp))
        self._shared = [found for found in libraries if found not in self._own]
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
        """For the package's threads, which end soon."""
        _set(self._own, [1] * len(self._own))


def _numbers(libraries: Sequence[Any]) -> list[int]:
    return [library.get_num_threads() or 1 for library in libraries]


def _set(libraries: Sequence[Any], numbers: Sequence[int]) -> None:
    for library, number in zip(libraries, numbers, strict=True):
        # threadpoolctl lets only the first thread change OpenBLAS; earlier versions have nothing to
        # release.  Here the lock keeps callers from undoing each other's setting.
        release = getattr(library, "clear_controlling_thread", lambda **_: None)
        release(force=True)
        library.set_num_threads(number)
        release(force=True)


@cache
def _blas(process: int) -> _Blas:  # noqa: ARG001 - one for each process
    # The libraries are looked up once: that takes longer than a small fit.
    return _Blas()
