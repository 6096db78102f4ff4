"""Reports of a fit: progress, callbacks, a log line and warnings."""

from __future__ import annotations

import logging
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from threading import Lock
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sphericalpca.estimators.fitted import FittedAttributes
from sphericalpca.exceptions import Explained, NoDirectionWarning, Parameter, Phrase, warn_caller
from sphericalpca.iterate import Monitor, State, StopReason
from sphericalpca.linalg import Array
from sphericalpca.problem import Problem
from sphericalpca.rows import Rows

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]  # only one of the two exists
        """A substitute for versions of scikit-learn without callbacks."""


__all__ = [
    "CallbackSupportMixin",
    "FitProgress",
    "ProgressMonitor",
    "UnfinishedFitWarning",
    "report_fit",
    "warn_of_zero_rows",
    "warn_short_of_tol",
    "warn_unfinished",
    "watch_fit",
]

# Seconds between two reports of progress.
INTERVAL = 0.2
# The time left is estimated from this many of the latest iterations.
RECENT = 8
# The usual remedy for an unfinished fit.
RAISE = ("raise ", Parameter("max_iter"), " or ", Parameter("tol"))

logger = logging.getLogger("sphericalpca")


class UnfinishedFitWarning(Explained, ConvergenceWarning):
    """A fit ended before it had converged."""


@dataclass(frozen=True)
class FitProgress:
    """Progress of a fit.

    Attributes
    ----------
    seconds : float
        Time since the fit began.
    rows_read : int
        Rows read so far, including loading and checking, which do not count as passes.
    rows_per_second : float
        Current rate.
    n_samples : int or None
        Number of rows, once it is known.
    iteration : int
        Iterations of all starts, including those before a checkpoint.
    passes : float
        Passes over the data.
    residual : float
        Residual after the last iteration; NaN before the first.
    seconds_left : float
        An estimate from the decrease of the residual; NaN if there is none.
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
    """Calls a function several times a second, from any thread, and wraps another monitor."""

    def __init__(self, tell: Callable[[FitProgress], object], tol: float) -> None:
        self._tell, self._tol = tell, tol
        self._wrapped = Monitor()
        self._rows: Rows | None = None
        self._lock = Lock()
        self._began = self._last = time.perf_counter()
        self._read = self._read_then = 0
        self._speed = math.nan
        self._residuals: list[tuple[float, float]] = []  # log residual, seconds
        self._made_before = 0

    def around(self, wrapped: Monitor, rows: Rows) -> ProgressMonitor:
        """Itself, once the rows and the wrapped monitor are known."""
        self._wrapped, self._rows = wrapped, rows
        return self

    def watch(self, rows: int) -> None:
        """Count rows that were read."""
        with self._lock:
            self._read += rows
            self._report(time.perf_counter())

    def resume(self, iterations: int) -> None:
        """Note that a run resumes after the iterations of its checkpoint."""
        self._made_before = iterations
        self._wrapped.resume(iterations)

    def begin(self) -> None:
        """Note the beginning of an iteration."""
        self._wrapped.begin()

    def end(self, state: State) -> bool:
        """Note the end of an iteration."""
        now = time.perf_counter()
        with self._lock:
            logarithm = math.log(state.residual) if state.residual > 0 else -math.inf
            self._residuals.append((logarithm, now - self._began))
            self._report(now)
        return self._wrapped.end(state)

    def close(self) -> None:
        """Report for the last time: the fit is over."""
        with self._lock:
            self._report(math.inf)
        self._wrapped.close()

    def _report(self, now: float) -> None:
        if now - self._last < INTERVAL:
            return
        now = min(now, time.perf_counter())
        elapsed = now - self._last
        if elapsed > 0 and self._read > self._read_then:
            self._speed = (self._read - self._read_then) / elapsed
        self._last, self._read_then = now, self._read
        rows, residuals, seconds = self._rows, self._residuals, now - self._began
        self._tell(
            FitProgress(
                *(seconds, self._read, self._speed, None if rows is None else rows.shape[0]),
                iteration=self._made_before + len(residuals),
                passes=math.nan if rows is None else rows.passes,
                residual=math.exp(residuals[-1][0]) if residuals else math.nan,
                seconds_left=self._seconds_left(seconds),
            )
        )

    def _seconds_left(self, now: float) -> float:
        """Extrapolated from the logarithms of the latest residuals."""
        recent = np.array(self._residuals[-RECENT:])
        known = len(recent) >= 3 and self._tol > 0 and np.isfinite(recent).all()
        if not known or np.ptp(recent[:, 1]) == 0:
            return math.nan
        logarithm, seconds = recent.T.tolist()
        slope, level = statistics.linear_regression(seconds, logarithm)
        return max((math.log(self._tol) - level) / slope - now, 0.0) if slope < 0 else math.nan


def watch_fit(
    model: Any, problem: Problem, mean: Array | None, data: dict[str, Any], outer: Any
) -> Monitor:
    """The monitor of a fit: reports progress, and calls scikit-learn's callbacks, if any."""
    inner = Monitor()
    if hasattr(model, "_init_callback_context"):
        # With a mean cosine as target, the number of fits is not known in advance.
        one_fit = isinstance(model.n_components, Integral)
        steps = model.n_init * model.max_iter if one_fit else None
        context = model._init_callback_context(max_subtasks=steps)
        inner = CallbackMonitor(context, problem, mean, {"estimator": model, **data})
    return inner if outer is None else outer.around(inner, problem.rows)


class CallbackMonitor(Monitor):
    """One task of scikit-learn for the fit, one subtask for each iteration of each start."""

    def __init__(self, context: Any, problem: Problem, mean: Any, data: dict[str, Any]) -> None:
        self._context, self._problem, self._mean, self._data = context, problem, mean, data
        self._iteration: Any = None
        context.call_on_fit_task_begin(**self._data)

    def begin(self) -> None:
        """Open a subtask."""
        self._iteration = self._context.subcontext(task_name="iteration")
        self._iteration.call_on_fit_task_begin(**self._data)

    def end(self, state: State) -> bool:
        """Close it; True if a callback wants to stop."""
        # Called only for callbacks that request a fitted estimator.
        fitted, end = partial(self._fitted, state), self._iteration.call_on_fit_task_end
        return bool(end(reconstruction_attributes=fitted, **self._data))

    def close(self) -> None:
        """Close the task of the whole fit."""
        # The estimator itself is fitted now, so callbacks need no substitute.
        self._context.call_on_fit_task_end(reconstruction_attributes={}, **self._data)

    def _fitted(self, state: State) -> dict[str, Any]:
        problem, rows, model = self._problem, self._problem.rows, self._data["estimator"]
        counts = rows.passes, rows.flops
        form = problem.canonical(state.U)
        rows.passes, rows.flops = counts  # reads of callbacks do not count
        known = {"mean_": self._mean, "residual_": state.residual}
        return FittedAttributes.of_problem(model, problem, form, **known).as_dict()


def report_fit(model: Any, rows: Rows, *, only_tol: bool = False) -> None:
    """Log how a fit ended, and warn if necessary; `only_tol` as in `warn_short_of_tol`."""
    n, m = rows.shape
    logger.info(
        "SphericalPCA fit of %d x %d to r=%d by %s: %s after %d iterations and %g passes, "
        "residual %.2g, mean cosine %.6f",
        *(n, m, model.n_components_, type(model.solver_).__name__),
        *(model.stop_reason_, model.n_iter_, model.n_passes_, model.residual_),
        model.mean_cosine_,
    )
    warn_of_zero_rows(rows.totals.without_direction, n, "took no part in the fit")
    warn_short_of_tol(model, rows.dtype, only_tol=only_tol)


def warn_short_of_tol(model: Any, dtype: np.dtype[Any], *, only_tol: bool) -> None:
    """Warn if a fit did not reach `tol`; `only_tol` if the caller can choose only that."""
    if model.stop_reason_ not in (StopReason.MAX_ITER, StopReason.STAGNANT):
        return
    tol, most = Parameter("tol"), Parameter("max_iter")
    remedy: Phrase = ("raise ", most, ", raise ", tol, " or try another ", Parameter("solver"))
    if model.tol == 0:
        end = " every fit ends here, so set "
        remedy = ("with ", Parameter("tol", 0), end, tol, " > 0 to stop at convergence")
    elif model.stop_reason_ == StopReason.STAGNANT:
        finer = " or pass X in float64" if dtype == np.float32 else ""
        remedy = (f"rounding errors of {dtype} allow no smaller residual, so raise ", tol, finer)
    elif only_tol:
        remedy = ("raise ", tol)
    warn_unfinished(model, "residual", model.residual_, remedy)


def warn_unfinished(model: Any, measure: str, value: float, remedy: Phrase = RAISE) -> None:
    """Warn that a fit ended before it converged, with its last measure."""
    stuck = getattr(model, "stop_reason_", "") == StopReason.STAGNANT
    count = model.n_iter_ if stuck else model.max_iter
    what = "made no more progress after" if stuck else "did not converge in"
    iterations = "iteration" if count == 1 else "iterations"
    found = f"{what} {count} {iterations} ({measure} {value:.3g}, tol {float(model.tol):g})"
    warn_caller(UnfinishedFitWarning(f"{type(model).__name__} {found}", "", remedy))


def warn_of_zero_rows(count: int, total: int, what: str) -> None:
    """Warn of rows without a direction, if there are any; `what` fits singular and plural."""
    if count:
        have = "has" if count == 1 else "have"
        warn_caller(NoDirectionWarning(f"{count} of {total} rows {have} no direction and {what}"))
