"""`partial_fit`: Spherical PCA of data that come in batches and are not kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from types import MethodType
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context

from sphericalpca.estimators.door import (
    check_count,
    check_matrix,
    check_weights,
    generator,
    keeping_the_last_fit,
)
from sphericalpca.estimators.fitting import checked_problem
from sphericalpca.estimators.namespaces import backend_of, settle
from sphericalpca.estimators.reporting import warn_of_zero_rows
from sphericalpca.exceptions import DataError
from sphericalpca.parallel import parallel
from sphericalpca.problem import Problem
from sphericalpca.rows import Matrix, Rows, RowSource, on_host
from sphericalpca.solvers.start import start_of_U, starts
from sphericalpca.solvers.streaming import Stream

__all__ = ["NotStreamableError", "PartialFitMixin"]

# What a model of an earlier version counts for, if nobody knows how many rows it was fitted to.
ROWS_PER_FEATURE = 10


class NotStreamableError(AttributeError, ValueError):
    """The model has to see all rows before it learns.

    An AttributeError too, so that ``hasattr(model, "partial_fit")`` tells whether it streams.
    """


class _WhereStreamable:
    """A method of models that need not see all rows first: for a mean, or for their number."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method

    def __get__(self, model: Any, owner: Any = None) -> Any:
        if model is None:
            return self._method
        if model.center or getattr(model, "mean_", None) is not None:
            raise NotStreamableError(
                "With center=True partial_fit would have to subtract a mean of rows that are yet "
                "to come: use center=False, or subtract a mean that you know from every batch, or "
                "call fit."
            )
        if isinstance(model.n_components, Real) and not isinstance(model.n_components, Integral):
            raise NotStreamableError(
                f"n_components={model.n_components} is a mean cosine to be reached, and how many "
                "components that takes only all rows can tell: pass an integer, or call fit."
            )
        return MethodType(self._method, model)


class PartialFitMixin:
    """Models that learn batch by batch."""

    @_WhereStreamable
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Learn from one more batch of rows, which need not be kept.

        Each batch is read once, and the model keeps three matrices of the size of
        `components_`, however long the stream is.  Batches may have any number of rows, in
        random order at best; some hundred are a good number.  Further passes over the
        same data bring the model nearer to that of `fit`.

        Later rows count more: the say of a row is its weight times its place in the stream.
        So the latter half has three quarters of the say, and the model follows data that
        change.

        After `fit` or `load` the stream goes on from the fitted subspace.  That counts for
        `total_weight_`, as much as the rows that it was fitted to.  `fit` starts anew.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            At least one row; the first batch may have fewer rows than `n_components`.
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            Non-negative.

        Returns
        -------
        self : SphericalPCA
            Fitted.  `mean_cosine_` is the mean over the stream, each row measured before
            the model has learned from its batch; `n_samples_seen_` counts rows,
            `n_iter_` batches.  `solver_` is the state of the stream.  `loss_`, `residual_`,
            `svd_ratio_` and `n_passes_` are NaN, and there is no history.

        Notes
        -----
        `solver`, `n_init`, `tol` and `max_iter` do not matter.  `init` is where the first
        batch starts, by default at its own SVD.
        """
        rows = _learn(self, X, sample_weight)
        totals = rows.totals
        warn_of_zero_rows(totals.without_direction, rows.shape[0], "took no part in the fit")
        return self

    @property
    def n_samples_seen_(self) -> int:
        """Rows that `partial_fit` has seen since the last `fit`."""
        stream = getattr(self, "solver_", None)
        if not isinstance(stream, Stream):
            raise AttributeError("n_samples_seen_ is there after partial_fit only.")
        return stream.n_rows


def _learn(model: Any, X: Any, sample_weight: Any) -> Rows:
    backend = backend_of(X)
    with keeping_the_last_fit(model), parallel():
        X = _checked_batch(model, X)
        model.mean_ = None
        rows: Rows = model._rows(X, check_weights(sample_weight, X.shape[0]))
        past = _past(model, rows)
        if past is not None:
            streaming = isinstance(getattr(model, "solver_", None), Stream)
            model.n_samples_ = getattr(model, "n_samples_", 0) + rows.shape[0]
            _store(model, past.after(rows), n_iter=1 + (model.n_iter_ if streaming else 0))
            settle(model, backend)
    return rows


def _checked_batch(model: Any, X: Any) -> Matrix:
    if isinstance(X, RowSource):
        raise DataError(f"X is {X.name}, but partial_fit takes batches in memory: call fit.")
    fitted = hasattr(model, "components_")
    X = check_matrix(model, X, reset=not fitted, on_host=True)
    r = int(model.n_components)
    if fitted and r != model.n_components_:
        raise ValueError(
            f"n_components={r}, but the model has learned {model.n_components_} components "
            "already: set it back, truncate the model, or call fit."
        )
    check_count("n_components", r, "n_features", X.shape[1], X.shape)
    return X


def _past(model: Any, rows: Rows) -> Stream | None:
    """What the model knows before it learns these rows; None if it is to stay as it is."""
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
    """A stream at the start that `init` says, before its first row."""
    r, rng = int(model.n_components), generator(model.random_state)
    if isinstance(model.init, str) and model.init != "random":
        return Stream.at_svd(problem, r, rng)
    start = next(starts(problem, r, model.init, 1, rng))
    return Stream.at(start_of_U(start, "partial_fit").astype(problem.rows.dtype), r)


def _past_of_solution(model: Any, problem: Problem) -> Stream:
    """The stream of a model that was fitted, loaded or truncated."""
    U, rows = np.ascontiguousarray(model._U), problem.rows
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
    """The weight of all rows that a model has learned from; 0 where it does not tell.

    Files of earlier versions do not hold it.  But for unit rows the loss is
    2 sum(w) (1 - mean cosine), which can be solved for sum(w), unless the fit is perfect.
    """
    known = getattr(model, "total_weight_", math.nan)
    if math.isfinite(known):
        return float(known)
    missing = 1.0 - model.mean_cosine_
    if model.normalize and math.isfinite(model.loss_) and missing > 1e-3:
        return float(model.loss_ / (2.0 * missing))
    return 0.0


def _store(model: Any, stream: Stream, n_iter: int) -> None:
    form = stream.canonical()
    model.solver_ = stream
    model.components_ = np.ascontiguousarray(form.U.T)
    model.component_weights_ = form.shares
    model.mean_cosine_ = form.mean_cosine
    model.n_iter_ = n_iter
    model.total_weight_ = stream.weight
    model.loss_ = model.svd_ratio_ = model.residual_ = model.n_passes_ = math.nan
    model.stop_reason_ = "stream"
    model.history_, model.constants_ = {}, {}
