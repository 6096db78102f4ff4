"""A fit to rows that are all there, from the door to the fitted attributes.

What `SphericalPCA` does behind its public methods; `streaming` is its counterpart for batches.
"""

from __future__ import annotations

from copy import copy
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sphericalpca.estimators.callbacks import monitored
from sphericalpca.estimators.door import (
    check_matrix,
    check_weights,
    generator,
    keeping_the_last_fit,
)
from sphericalpca.estimators.fitting import about_fit, checked_problem, closed
from sphericalpca.estimators.lazy import is_dask
from sphericalpca.estimators.namespaces import backend_of, check_same_backend, settle
from sphericalpca.estimators.path import check_share_options, solve_share
from sphericalpca.estimators.progress import ProgressMonitor
from sphericalpca.exceptions import DataError
from sphericalpca.iterate import Monitor
from sphericalpca.linalg import Array
from sphericalpca.parallel import parallel
from sphericalpca.problem import CanonicalForm, Problem
from sphericalpca.rows import Backend, Matrix, Rows, RowSource, as_rows, mean_of_rows, on_host
from sphericalpca.solvers import Checkpoint, Outcome, check_place, choose_solver, solve

__all__ = ["BatchFitMixin", "fitted_to"]


def fitted_to(problem: Problem, door: BatchFitMixin, **parameters: Any) -> Any:
    """A model of rows that went through the door already, and need not be looked at again.

    Parameters
    ----------
    problem : Problem
        Its rows are unit rows, and their mean is their own.
    door : SphericalPCA
        Not fitted; it saw the data's features.
    **parameters
        Of the model, other than the door's.
    """
    model: Any = copy(door).set_params(**parameters)  # type: ignore[attr-defined]
    problem.rows.passes = problem.rows.flops = 0
    model.mean_ = None
    with parallel():
        model._fit_problem(problem, Monitor(), None)
    return model


class BatchFitMixin:
    """Fits, and problems of other rows at the fitted subspace."""

    # Parameters of the estimator.
    n_components: float
    solver: Any
    init: Any
    n_init: int
    normalize: bool
    center: bool
    tol: float
    max_iter: int
    random_state: Any

    def _fit(self, X: Any, y: Any, sample_weight: Any, checkpoint: Any, progress: Any) -> Rows:
        backend = backend_of(X)
        if checkpoint is not None:
            check_place(checkpoint)
        with keeping_the_last_fit(self), parallel():
            watcher = None if progress is None else ProgressMonitor(progress, self.tol)
            watch = None if watcher is None else watcher.watch
            X = check_matrix(self, X, reset=True, watch=watch)
            weight = check_weights(sample_weight, X.shape[0])
            self._check_size(X.shape)
            self.mean_ = mean_of_rows(X, weight, watch).astype(X.dtype) if self.center else None
            problem = self._problem(X, weight, watcher)
            given = {"X": X, "y": y, "metadata": {"sample_weight": weight}}
            monitor: Monitor = monitored(self, problem, given)
            monitor = monitor if watcher is None else watcher.around(monitor, problem.rows)
            self._fit_problem(problem, monitor, checkpoint)
            settle(self, backend)
            monitor.close()
        return problem.rows

    def _fit_problem(self, problem: Problem, monitor: Monitor, checkpoint: Any) -> None:
        outcome = self._solve(problem, monitor, checkpoint)
        self._store(outcome, closed(problem, outcome.solution), problem)

    def _check_size(self, shape: tuple[int, int]) -> None:
        if self.n_components > min(shape):
            raise DataError(
                f"n_components={self.n_components} must be at most "
                f"min(n_samples, n_features)={min(shape)} (n_samples = {shape[0]}, "
                f"n_features = {shape[1]}): lower it."
            )

    def _solve(self, problem: Problem, monitor: Monitor, checkpoint: Any) -> Outcome:
        rng = generator(self.random_state)

        def fit(r: int, init: Any) -> Outcome:
            self.solver_ = choose_solver(self.solver, problem.rows, r, self.tol)
            about = None if checkpoint is None else about_fit(self, problem.rows)
            return solve(
                problem,
                r,
                solver=self.solver_,
                init=init,
                n_init=self.n_init,
                tol=self.tol,
                max_iter=self.max_iter,
                rng=rng,
                monitor=monitor,
                checkpoint=None if about is None else Checkpoint(checkpoint, about),
            )

        if isinstance(self.n_components, Integral):
            return fit(int(self.n_components), self.init)
        check_share_options(self.init, checkpoint)
        share = float(self.n_components)
        found = solve_share(problem, share, lambda start: fit(start.U.shape[1], start), rng)
        r = found.solution.U.shape[1]
        self.solver_ = choose_solver(self.solver, problem.rows, r, self.tol)
        return found

    def _store(self, outcome: Outcome, form: CanonicalForm, problem: Problem) -> None:
        found = outcome.solution
        self.components_ = np.ascontiguousarray(form.U.T)
        self.component_weights_ = form.shares
        self.mean_cosine_ = form.mean_cosine
        self.loss_ = max(problem.loss(form.value), 0.0)  # rounding aside it is positive
        self.svd_ratio_ = outcome.svd_ratio
        self.residual_ = found.residual
        self.n_iter_ = found.n_iter
        self.n_passes_ = problem.rows.passes
        self.n_samples_ = problem.rows.shape[0]
        self.total_weight_ = problem.rows.totals.weight
        self.stop_reason_ = str(found.stop_reason)
        self.history_ = found.history
        self.constants_ = found.constants

    def _rows(
        self, X: Matrix, weight: Array | None = None, watcher: ProgressMonitor | None = None
    ) -> Rows:
        watch = None if watcher is None else watcher.watch
        mean = on_host(self.mean_)
        return as_rows(X, weight=weight, normalize=self.normalize, mean=mean, watch=watch)

    def _problem(
        self, X: Matrix, weight: Array | None, watcher: ProgressMonitor | None = None
    ) -> Problem:
        rows = self._rows(X, weight, watcher)
        return checked_problem(rows, centred=self.center, weighted=weight is not None)

    @property
    def _U(self) -> Array:
        return np.asarray(on_host(self.components_)).T

    def _backend(self, method: str, X: Any) -> Backend:
        """Where results for X go."""
        return (
            Backend()
            if isinstance(X, RowSource) or is_dask(X)
            else check_same_backend(self, X, method)
        )

    def _checked_problem(self, method: str, X: Any, sample_weight: Any) -> Problem:
        check_is_fitted(self)
        self._backend(method, X)
        X = check_matrix(self, X, reset=False)
        return self._problem(X, check_weights(sample_weight, X.shape[0]))
