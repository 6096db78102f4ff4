"""`partial_fit`: Spherical PCA of data that arrive in batches and are not stored."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np

from sphericalpca.estimators.fit import checked_problem
from sphericalpca.estimators.fitted import FittedAttributes, keep_last_fit
from sphericalpca.estimators.foreign import backend_of
from sphericalpca.estimators.validation import check_at_most, check_matrix, check_weights, generator
from sphericalpca.exceptions import DataError, Parameter, ParameterError
from sphericalpca.parallel import parallel
from sphericalpca.problem import Problem
from sphericalpca.rows import Rows, RowSource, as_rows, on_host
from sphericalpca.solvers.start import start_of_U, starts
from sphericalpca.solvers.streaming import Stream

__all__ = ["NotStreamableError", "learn_batch", "where_streamable"]

# The weight of a model of an earlier version whose number of training rows is unknown.
ROWS_PER_FEATURE = 10


class NotStreamableError(ParameterError, AttributeError):
    """The model needs all rows at once, so ``hasattr`` finds no `partial_fit`."""


class where_streamable:
    """A method of models that need no pass over all rows first, as for a mean."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method

    def __get__(self, model: Any, owner: Any = None) -> Any:
        if model is None:
            return self._method
        if model.center or getattr(model, "mean_", None) is not None:
            rule = "needs the mean of all rows, which partial_fit cannot know"
            remedy = "subtract a mean that you know from every batch, or call fit"
            raise NotStreamableError(Parameter("center", value=True), rule, remedy)
        r = model.n_components
        if isinstance(r, (float, np.floating)):
            rule = "is a mean cosine, and finding the number of components needs all rows"
            remedy = "pass an integer, or call fit"
            raise NotStreamableError(Parameter("n_components", r), rule, remedy)
        return MethodType(self._method, model)


def learn_batch(model: Any, X: Any, sample_weight: Any) -> Rows:
    """Update a model with the rows of a batch, which are returned."""
    backend = backend_of(X)
    with keep_last_fit(model), parallel():
        if isinstance(X, RowSource):
            raise DataError(f"X is {X.name}", "partial_fit takes batches in memory", "call fit")
        fitted, r = hasattr(model, "components_"), int(model.n_components)
        X = check_matrix(model, X, reset=not fitted, on_host=True)
        if fitted and r != model.n_components_:
            rule = f"the model has learned {model.n_components_} components already"
            remedy = "restore the old value, truncate the model, or call fit"
            raise ParameterError((Parameter("n_components", r), " was set"), rule, remedy)
        check_at_most("n_components", r, X.shape[1], "number of columns")
        weight = check_weights(sample_weight, X.shape[0])
        rows = as_rows(X, weight=weight, normalize=model.normalize)
        if (past := _past(model, rows)) is not None:
            streaming = getattr(model, "stop_reason_", "") == "stream"
            stream, counts = past.after(rows), ("n_samples_", "n_samples_seen_")
            known = {name: getattr(model, name, 0) + rows.shape[0] for name in counts}
            known |= {"total_weight_": stream.weight, "stop_reason_": "stream", "solver_": stream}
            known["n_iter_"] = 1 + (model.n_iter_ if streaming else 0)
            form = stream.canonical()
            FittedAttributes.at(model, form, **known).moved(backend.put).store(model)
    return rows


def _past(model: Any, rows: Rows) -> Stream | None:
    """The stream of the model before these rows; None if they do not change it."""
    r, stream = int(model.n_components), getattr(model, "solver_", None)
    teaches = rows.totals.weight > 0
    problem = checked_problem(rows) if teaches else Problem(rows)
    if not hasattr(model, "components_"):
        empty = Stream.at(np.eye(rows.shape[1], r, dtype=rows.dtype), r)
        return _begun(model, problem) if teaches else empty
    if not isinstance(stream, Stream) or stream.U.shape[1] != r:
        return _past_of_solution(model, problem) if teaches else None
    if stream.weight == 0 and teaches:
        return _begun(model, problem)._replace(n_rows=stream.n_rows)
    return stream


def _begun(model: Any, problem: Problem) -> Stream:
    """A stream at the start given by `init`, before its first row."""
    r, rng = int(model.n_components), generator(model.random_state)
    if isinstance(model.init, str) and model.init != "random":
        return Stream.at_svd(problem, r, rng)
    start = next(starts(problem, r, model.init, 1, rng))
    return Stream.at(start_of_U(start, "partial_fit").astype(problem.rows.dtype), r)


def _past_of_solution(model: Any, problem: Problem) -> Stream:
    """A stream that continues from a model that was fitted, loaded or truncated."""
    U, rows = np.ascontiguousarray(on_host(model.components_).T), problem.rows
    cosine = model.mean_cosine_
    return Stream.at_solution(
        U,
        on_host(model.component_weights_),
        cosine if math.isfinite(cosine) else problem.canonical(U).mean_cosine,
        length=float(rows.stats.weight @ rows.stats.norm) / rows.totals.weight,
        weight=_fitted_weight(model)
        or ROWS_PER_FEATURE * len(U) * rows.totals.weight / rows.shape[0],
    )


def _fitted_weight(model: Any) -> float:
    """The weight of all rows that a model was fitted to; 0 if unknown."""
    known, missing = getattr(model, "total_weight_", math.nan), 1.0 - model.mean_cosine_
    if math.isfinite(known):
        return float(known)
    # Files of earlier versions lack it, but for unit rows the loss is 2 sum(w) (1 - mean cosine).
    known_loss = model.normalize and math.isfinite(model.loss_) and missing > 1e-3
    return float(model.loss_ / (2.0 * missing)) if known_loss else 0.0
