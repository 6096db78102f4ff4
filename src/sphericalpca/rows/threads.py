"""The threads that read the rows.

BLAS libraries divide one product among threads of their own, which wait for one another
at its end, and scipy's sparse products run on one thread.  Here every thread reads a part
of the rows from its first block to its last, with BLAS kept to one thread meanwhile: all
that is done with a block (products, lengths, divisions) runs on all cores, and threads
meet once per pass.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, TypeVar

# Comes with scikit-learn, which uses it for the same purpose.
from threadpoolctl import ThreadpoolController

__all__ = ["Threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class Threads:
    """As many threads as BLAS may use when they are asked for; they end with this object.

    So the settings that users know (``OPENBLAS_NUM_THREADS``, `threadpoolctl`, the inner
    limit of joblib) hold for the rows too.
    """

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._size = 0

    def count(self) -> int:
        """How many threads there would be now."""
        return _blas(os.getpid()).allowed()

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """The function of every item, each item on a thread of its own."""
        if len(items) == 1:
            return [function(items[0])]
        if self._size < len(items):
            self._size = len(items)
            self._pool = ThreadPoolExecutor(self._size, thread_name_prefix="sphericalpca")
        assert self._pool is not None
        with _blas(os.getpid()).one_thread():
            return list(self._pool.map(function, items))


class _Blas:
    """The BLAS libraries of this process, kept to one thread while anyone asks for that.

    Their setting belongs to the whole process: the first who comes changes it, the last
    who goes puts it back, so that fits side by side do not restore each other's limit.
    """

    def __init__(self) -> None:
        libraries = ThreadpoolController().select(user_api="blas")
        self._libraries: list[Any] = list(libraries.lib_controllers)
        self._lock = Lock()
        self._users = 0
        self._found: list[int] = []

    def allowed(self) -> int:
        with self._lock:
            numbers = self._found if self._users else self._numbers()
        return max(numbers, default=os.cpu_count() or 1)

    @contextmanager
    def one_thread(self) -> Iterator[None]:
        with self._lock:
            if self._users == 0:
                self._found = self._numbers()
                self._set([1] * len(self._found))
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._set(self._found)

    def _numbers(self) -> list[int]:
        return [library.get_num_threads() or 1 for library in self._libraries]

    def _set(self, numbers: list[int]) -> None:
        for library, number in zip(self._libraries, numbers, strict=True):
            library.set_num_threads(number)


@cache
def _blas(process: int) -> _Blas:  # noqa: ARG001 - one for each process
    # The libraries are looked up once: that takes longer than a small fit.
    return _Blas()
