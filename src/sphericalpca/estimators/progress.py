"""How far a fit has come, told several times a second."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

import numpy as np

from sphericalpca.iterate import Monitor, State
from sphericalpca.rows import Rows

__all__ = ["FitProgress", "ProgressMonitor"]

# Seconds between two reports.
INTERVAL = 0.2
# The time left is told from this many of the latest iterations.
RECENT = 8


@dataclass(frozen=True)
class FitProgress:
    """How far a fit has come.

    Attributes
    ----------
    seconds : float
        Since the fit began.
    rows_read : int
        Rows read so far, over all reads of the data: also those of the first look, when they are
        loaded, checked and measured, which count as no pass.
    rows_per_second : float
        Of late.
    n_samples : int or None
        Rows of the data, once they are known.
    iteration : int
        Iterations made, of all starts; with those that a checkpoint's run had made.
    passes : float
        Passes over the data.
    residual : float
        After the last iteration; NaN before the first.
    seconds_left : float
        An estimate from how fast the residual falls; NaN where there is none.
    """

    seconds: float
    rows_read: int
    rows_per_second: float
    n_samples: int | None
    iteration: int
    passes: float
    residual: float
    seconds_left: float


class ProgressMonitor(Monitor):
    """Tells a callable of the fit, and passes all on to another monitor.

    Parameters
    ----------
    tell : callable
        Given a `FitProgress`, from any thread, never from two at the same time.
    tol : float
        At which residual the fit will end.
    """

    def __init__(self, tell: Callable[[FitProgress], object], tol: float) -> None:
        self._tell = tell
        self._tol = tol
        self._inner = Monitor()
        self._rows: Rows | None = None
        self._lock = Lock()
        self._began = self._last = time.perf_counter()
        self._read = self._read_then = 0
        self._speed = math.nan
        self._residuals: list[tuple[float, float]] = []  # log residual, seconds
        self._made_before = 0

    def around(self, inner: Monitor, rows: Rows) -> ProgressMonitor:
        """Itself, once rows and inner monitor are known."""
        self._inner, self._rows = inner, rows
        return self

    def watch(self, rows: int) -> None:
        """So many rows were read."""
        with self._lock:
            self._read += rows
            self._report(time.perf_counter())

    def resume(self, iterations: int) -> None:
        """A run goes on after so many iterations."""
        self._made_before = iterations
        self._inner.resume(iterations)

    def begin(self) -> None:
        """An iteration begins."""
        self._inner.begin()

    def end(self, state: State) -> bool:
        """An iteration ended."""
        now = time.perf_counter()
        with self._lock:
            logarithm = math.log(state.residual) if state.residual > 0 else -math.inf
            self._residuals.append((logarithm, now - self._began))
            self._report(now)
        return self._inner.end(state)

    def close(self) -> None:
        """The fit is over."""
        with self._lock:
            self._report(math.inf)
        self._inner.close()

    def _report(self, now: float) -> None:
        if now - self._last < INTERVAL:
            return
        now = min(now, time.perf_counter())
        elapsed = now - self._last
        if elapsed > 0 and self._read > self._read_then:
            self._speed = (self._read - self._read_then) / elapsed
        self._last, self._read_then = now, self._read
        rows = self._rows
        self._tell(
            FitProgress(
                seconds=now - self._began,
                rows_read=self._read,
                rows_per_second=self._speed,
                n_samples=None if rows is None else rows.shape[0],
                iteration=self._made_before + len(self._residuals),
                passes=math.nan if rows is None else rows.passes,
                residual=math.exp(self._residuals[-1][0]) if self._residuals else math.nan,
                seconds_left=self._seconds_left(now - self._began),
            )
        )

    def _seconds_left(self, now: float) -> float:
        """From a line through the logarithms of the latest residuals."""
        recent = np.array(self._residuals[-RECENT:])
        if (
            len(recent) < 3
            or np.ptp(recent[:, 1]) == 0
            or self._tol <= 0
            or not np.isfinite(recent).all()
        ):
            return math.nan
        logarithm, seconds = recent.T
        middle, level = float(seconds.mean()), float(logarithm.mean())
        slope = float((seconds - middle) @ (logarithm - level) / np.var(seconds)) / len(seconds)
        if not slope < 0:
            return math.nan
        return max(middle + (math.log(self._tol) - level) / slope - now, 0.0)
