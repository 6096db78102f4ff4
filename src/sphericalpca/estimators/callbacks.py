"""scikit-learn's callbacks (from version 1.9) told of our iterations."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from sphericalpca.iterate import Monitor, State
from sphericalpca.problem import Problem

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]  # only one of the two exists
        """Stands in where scikit-learn knows no callbacks."""


__all__ = ["CallbackMonitor", "CallbackSupportMixin", "monitored"]


def monitored(estimator: Any, problem: Problem, data: dict[str, Any]) -> CallbackMonitor | Monitor:
    """A monitor for this fit; a silent one where callbacks are not supported."""
    if not hasattr(estimator, "_init_callback_context"):
        return Monitor()
    # As a mean cosine it takes a number of fits that nobody knows beforehand.
    one_fit = isinstance(estimator.n_components, Integral)
    steps = estimator.n_init * estimator.max_iter if one_fit else None
    context = estimator._init_callback_context(max_subtasks=steps)
    return CallbackMonitor(estimator, context, problem, data)


class CallbackMonitor(Monitor):
    """One task for the fit, one subtask for each iteration of each start.

    A callback that returns True from ``on_fit_task_end`` ends the fit.
    """

    def __init__(
        self, estimator: Any, context: Any, problem: Problem, data: dict[str, Any]
    ) -> None:
        self._estimator = estimator
        self._context = context
        self._problem = problem
        self._data = data
        self._iteration: Any = None
        context.call_on_fit_task_begin(estimator=estimator, **data)

    def begin(self) -> None:
        """Open a subtask."""
        self._iteration = self._context.subcontext(task_name="iteration")
        self._iteration.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    def end(self, state: State) -> bool:
        """Close it; True if a callback wants to stop."""
        return bool(
            self._iteration.call_on_fit_task_end(
                estimator=self._estimator,
                # Called only for callbacks that ask for a fitted estimator.
                reconstruction_attributes=lambda: self._fitted(state),
                **self._data,
            )
        )

    def close(self) -> None:
        """Close the task of the whole fit."""
        # By now the estimator itself is fitted: nothing has to be put in its place.
        self._context.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes={}, **self._data
        )

    def _fitted(self, state: State) -> dict[str, Any]:
        rows = self._problem.rows
        counts = rows.passes, rows.flops
        form = self._problem.canonical(state.U)
        rows.passes, rows.flops = counts  # what a callback reads is not the solver's doing
        return {
            "components_": form.U.T,
            "component_weights_": form.shares,
            "mean_cosine_": form.mean_cosine,
            "loss_": self._problem.loss(form.value),
            "residual_": state.residual,
        }
