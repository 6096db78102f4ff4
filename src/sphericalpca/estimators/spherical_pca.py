"""Spherical PCA as a scikit-learn transformer."""

from __future__ import annotations

from copy import copy
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted

from sphericalpca.certificate import Certificate, certify
from sphericalpca.estimators.fit import checked_problem, fit_model
from sphericalpca.estimators.fitted import FittedAttributes, load_model, save_model
from sphericalpca.estimators.foreign import backend_of, check_same_backend, is_dask, lazy_components
from sphericalpca.estimators.monitoring import (
    CallbackSupportMixin,
    ProgressMonitor,
    warn_of_zero_rows,
)
from sphericalpca.estimators.stream import learn_batch, where_streamable
from sphericalpca.estimators.validation import (
    Interval,
    MatrixTransformer,
    check_components,
    check_matrix,
    check_weights,
)
from sphericalpca.exceptions import Parameter, ParameterError
from sphericalpca.iterate import Monitor
from sphericalpca.linalg import Array
from sphericalpca.problem import Problem
from sphericalpca.products import times
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.rows import NamespaceMatrix, Rows, as_rows, on_host
from sphericalpca.solvers import Start
from sphericalpca.solvers.base import is_count

__all__ = ["SphericalPCA"]


class SphericalPCA(CallbackSupportMixin, MatrixTransformer):
    """Reduce rows to unit vectors, so that Euclidean distance is angular distance.

    Minimises ``||X - V U'||^2`` over orthonormal U (m x r) and V (n x r) with unit rows, as
    proposed by Liu, Li, Wang and Tang.  Equivalently, it finds the r-dimensional subspace with the
    largest mean cosine between rows and their projections.

    Parameters
    ----------
    n_components : int or float, default=2
        Dimension r of the result, at most ``min(n_samples, n_features)``; or, as a float between 0
        and 1, a mean cosine: the smallest r whose fit reaches it on these rows is used.  That takes
        two to four fits, from the SVD downwards, each from the leading components of the last.
    solver : {"auto", "subspace", "anderson", "newton", "alternating", "linearized"} \
            or solver object, default="auto"
        "subspace" needs the fewest passes over the data, and memory for their projections;
        "anderson" needs little memory; "newton" is for tolerances down to 1e-10; "auto" chooses
        among these from the shape of X and `tol`.  "alternating" is exact alternation between U and
        V, "linearized" the paper's Algorithm 1.  Pass a `sphericalpca.solvers` object for options.
    init : {"auto", "svd", "random"}, array, pair of arrays or Start, default="auto"
        Where to start: the uncentred SVD ("auto"), a random subspace, a matrix U of shape
        (n_features, n_components), or for Algorithm 1 a pair (U, V) with V of shape
        (n_samples, n_components).  A `sphericalpca.solvers` Start can also hold the curvature.
    n_init : int, default=1
        Number of starts; those after the first are random.  The best result is kept.
    normalize : bool, default=True
        Scale rows to unit length first, as the paper does, without copying X.
    center : bool, default=False
        Subtract the weighted mean first.  Not part of the method: it changes all angles.
    tol : float, default=1e-4
        Stop when the residual, the relative Riemannian gradient, is at most this.  1e-3 is enough
        for most uses and saves up to half of the time; in float32 the residual ends near 1e-6.
        With 0 all `max_iter` iterations are made.
    max_iter : int, default=1000
        Maximum number of iterations of one start.
    random_state : int, RandomState or None, default=None
        Seed of random starts and of the randomized SVD.

    Attributes
    ----------
    n_components_ : int
        Number of components r.
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows, U'.  V'WV is diagonal and decreasing, the largest loading positive.
    component_weights_ : ndarray of shape (n_components,)
        Share of each component: eigenvalues of V'WV / sum(w), decreasing, sum 1.
    mean_cosine_ : float
        Weighted mean cosine between a row and its projection; it does not depend on the lengths
        of rows, even if `normalize` is False.
    loss_ : float
        The loss ``sum_j w_j ||x_j - U v_j||^2``, without zero rows.
    svd_ratio_ : float
        f of the SVD start over f reached, f = sum_j w_j ||U'x_j||.  Above 0.9999 a plain SVD
        would be enough.  NaN if the SVD was not among the starts.  Beyond 2,048 rows and features
        the start is an approximate SVD, more accurate than scikit-learn's TruncatedSVD by default.
        If the r-th and the next singular value are equal, the SVD subspace is not unique; f differs
        among the choices, and the ratio refers to the one that was computed.
    residual_ : float
        Relative Riemannian gradient at the end of the fit.
    n_iter_ : int
        Iterations of the best start.
    n_passes_ : float
        Passes over the data, from the first start to the closing V step.  A pass makes both
        products, ``X U`` and ``X' V``; a read that makes one of them counts half.
    solver_ : solver object
        The solver used, also if "auto" chose it.
    stop_reason_ : {"converged", "max_iter", "stagnant", "callback", "stream"}
        Why the best start ended; "stream" after `partial_fit`.
    history_ : dict of ndarray of shape (n_iter_,)
        "loss", "residual", "passes", "flops" (of products with X) and "seconds" after each
        iteration, the latter three from the first start on.  "subspace" adds "small_iterations"
        (of the problem within its subspace), "newton" adds "hessian_products" and "radius" (of
        the trust region), Algorithm 1 "delta_U", "delta_V", "decrease_ratio" and "subgradient".
    constants_ : dict of float
        For Algorithm 1 its "lipschitz" constant L_c, "lam", "mu" (NaN if updated in every
        iteration) and the "rounding" error of the loss; otherwise empty.
    mean_ : ndarray of shape (n_features,) or None
        The mean that was subtracted, if `center` is True.
    n_samples_ : int
        Number of training rows, including those of `partial_fit`.
    total_weight_ : float
        Sum of the weights of all rows that are not zero.
    n_samples_seen_ : int
        Number of rows passed to `partial_fit` since the last `fit`; only after `partial_fit`.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Names only if X had column names (a data frame, a Parquet or Arrow file with columns of
        numbers).  Other rows must then have the same columns in the same order.

    Notes
    -----
    Zero rows have no direction.  The fit ignores them, `transform` returns zero rows for them, and
    a `NoDirectionWarning` reports their number.

    The same objective on centred rows of unequal lengths is known as L2,1-norm maximisation PCA,
    a robust PCA; on unit rows it is not robust.  Nor is this the "spherical PCA" of Locantore et
    al. (1999).

    References
    ----------
    K. Liu, Q. Li, H. Wang and G. Tang: Spherical principal component analysis.  SIAM
    International Conference on Data Mining (SDM), 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sphericalpca import SphericalPCA
    >>> X = load_digits().data
    >>> model = SphericalPCA(n_components=10).fit(X)
    >>> model.transform(X).shape
    (1797, 10)
    >>> bool(model.certify(X).gap < 1e-4)
    True
    """

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's name and form
        **MatrixTransformer._parameter_constraints,
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
        ],
        "solver": [StrOptions({"auto", *SOLVERS}), HasMethods(["init", "step"])],
        "init": [StrOptions({"auto", "svd", "random"}), "array-like", tuple, Start],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "normalize": ["boolean"],
        "center": ["boolean"],
    }

    def __init__(
        self,
        n_components: float = 2,
        *,
        solver: Any = "auto",
        init: Any = "auto",
        n_init: int = 1,
        normalize: bool = True,
        center: bool = False,
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.normalize = normalize
        self.center = center
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        checkpoint: Any = None,
        progress: Any = None,
    ) -> Self:
        """Fit the model to X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), rows, or Dask
            Arrays in memory or mapped; files by `sphericalpca.open_rows`; a Dask array or data
            frame.  With scikit-learn's ``array_api_dispatch`` arrays of torch, CuPy and others:
            fitted arrays and results are then of their kind, on their device.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative; weight k equals repeating a row k times.
        checkpoint : str or Path, optional
            File that stores the state of the fit, written every few passes.  If it exists, the
            fit resumes from it and returns the result of an uninterrupted fit.  Files of other
            data or parameters raise an error, except for `tol` and `max_iter`; the random state
            of the file replaces `random_state`.  Remove the file once the result is saved.
        progress : callable, optional
            Called with a `FitProgress` several times a second.

        Returns
        -------
        self : SphericalPCA

        Raises
        ------
        DataError
            If X, weights, a given start or a checkpoint cannot be used.  It names the row.

        Warns
        -----
        ConvergenceWarning
            If `tol` was not reached; see `stop_reason_` and `residual_`.
        NoDirectionWarning
            If rows are zero.
        """
        fit_model(self, X, y, sample_weight, checkpoint=checkpoint, progress=progress)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        checkpoint: Any = None,
        progress: Any = None,
    ) -> Any:
        """Fit to X and return its components; equal to ``fit(X).transform(X)``.

        Parameters
        ----------
        X, y, sample_weight, checkpoint, progress
            As in `fit`.

        Returns
        -------
        V : ndarray of shape (n_samples, n_components)
        """
        rows = fit_model(self, X, y, sample_weight, checkpoint=checkpoint, progress=progress)
        if is_dask(X):
            return lazy_components(self, X)
        return backend_of(X).put(rows.components(self._U))

    @where_streamable
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Update the model with a batch of rows.

        Each batch is read once, and the model stores three matrices of the size of `components_`.
        Batches may have any number of rows; a few hundred rows in random order work best.  Further
        passes over the same data bring the model closer to that of `fit`.

        Later rows count more: the weight of a row is multiplied by its position in the stream.  So
        the second half counts for three quarters, and the model follows changing data.

        After `fit` or `load` the stream continues from the fitted subspace, which counts as much as
        the rows it was fitted to (`total_weight_`).  `fit` starts from scratch.

        `solver`, `n_init`, `tol` and `max_iter` are ignored.  `init` is the start of the first
        batch, by default its SVD.

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
            Fitted.  `mean_cosine_` estimates the mean over all rows of the stream at the current
            subspace, from a sample of up to 256 of them: exact up to this number of rows, then with
            a standard error of a sixteenth of the standard deviation of their cosines.  Files store
            no rows, so rows before a `fit` or `load` count with the mean that they had then.
            `n_samples_seen_` counts rows, `n_iter_` batches.  `solver_` is the stream.
            `loss_`, `residual_`, `svd_ratio_` and `n_passes_` are NaN, and there is no history.
        """
        rows = learn_batch(self, X, sample_weight)
        warn_of_zero_rows(rows.totals.without_direction, rows.shape[0], "took no part in the fit")
        return self

    def transform(self, X: Any) -> Any:
        """Reduce the rows of X to unit-norm components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), rows, or Dask
            As in `fit`.

        Returns
        -------
        V : ndarray of shape (n_samples, n_components)
            Rows without a direction in the subspace are zero, and a warning reports their number.
            For Dask input a lazy Dask array, unless ``set_output`` requests data frames, which
            scikit-learn computes.  With ``array_api_dispatch`` an array of the type of X.

        Raises
        ------
        DataError
            If X has other columns than in `fit`, or entries that are not finite.
        """
        check_is_fitted(self)
        if is_dask(X):
            return lazy_components(self, X)
        backend = check_same_backend(self, X, "transform")
        rows = self._rows(check_matrix(self, X, reset=False))
        V = rows.components(self._U)
        warn_of_zero_rows(backend.zero_rows(V), rows.shape[0], "came out as zero")
        return backend.put(V)

    def inverse_transform(self, X: Any) -> Any:
        """Map components back to the original space.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Components V, as `transform` returns them.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            ``V components_``, of unit length; plus ``mean_`` if `center`.

        Raises
        ------
        DataError
            If X does not have `n_components_` columns, or has entries that are not finite.
        """
        check_is_fitted(self)
        backend = check_same_backend(self, X, "inverse_transform")
        V = check_components(X, self.n_components_)
        A, mean = on_host(self.components_), on_host(self.mean_)
        if isinstance(V, NamespaceMatrix):
            return V.times(A, mean)
        image = times(V, A)
        return backend.put(image if mean is None else image + mean)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:  # noqa: ARG002
        """Return the mean cosine between rows and their projections.

        It increases with `n_components`, so it cannot be used alone to choose that number.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), rows, or Dask
            As in `fit`.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        mean_cosine : float
            Weighted, without zero rows; 1 is perfect.
        """
        return self._problem("score", X, sample_weight).canonical(self._U).mean_cosine

    def certify(self, X: Any, sample_weight: Any = None, *, progress: Any = None) -> Certificate:
        """Bound how far the fitted subspace is from the best one for X.

        A gap as small as rounding errors means that no subspace is better, as reliably as `kind`
        says.  Solves up to 30 eigenvalue problems: seconds for a few hundred features, or for text.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), rows, or Dask
            As in `fit`.
        sample_weight : array-like of shape (n_samples,), optional
        progress : callable, optional
            As in `fit`; there are no iterations and no residual.

        Returns
        -------
        certificate : Certificate
            With `value`, `bound`, `gap`, `kind` and `probability`.
        """
        problem = self._problem("certify", X, sample_weight)
        if progress is not None:
            monitor = ProgressMonitor(progress, self.tol).around(Monitor(), problem.rows)
            problem.rows.watch = monitor.watch
        return certify(problem, self._U)

    def truncate(self, n_components: int) -> Self:
        """Return a fitted model with only the first components.

        It is close, but not equal, to a fit with as few components.  Attributes that require data
        (`mean_cosine_`, `loss_`, `residual_`, `svd_ratio_`) are NaN: see `score`.  The history and
        `component_weights_` (rescaled to sum 1) are of the full fit.  A given start is dropped.

        Parameters
        ----------
        n_components : int
            Number of components to keep.

        Returns
        -------
        model : SphericalPCA
            A new estimator; this one is not modified.

        Raises
        ------
        ParameterError
            If it is not an integer from 1 to `n_components_`.
        """
        check_is_fitted(self)
        total = self.n_components_
        if not is_count(n_components) or n_components > total:
            found = Parameter("n_components", n_components)
            rule = f"must be an integer from 1 to {total}, the number of components fitted"
            raise ParameterError(found, rule, "fit again for more")
        short = copy(self)
        short.n_components = int(n_components)
        if not isinstance(self.init, str):
            short.init = "auto"  # a given start has as many columns as the full fit
        FittedAttributes.of(self).truncated(short.n_components).store(short)
        return short

    def save(self, path: str | Path, *, certificate: Certificate | None = None) -> None:
        """Write the fitted model to one file, atomically.

        The file is a safetensors file with a JSON header: it contains no code, and other languages
        can read it.  Requires ``pip install 'sphericalpca[files]'``.

        Parameters
        ----------
        path : str or Path
            An older model is replaced.  Suffixes of other formats (``.npy``, ...) raise an error.
        certificate : Certificate, optional
            From `certify`, to be saved with the model.

        Raises
        ------
        OSError
            If the file cannot be written; an existing file is not changed.
        """
        check_is_fitted(self)
        save_model(self, Path(path), certificate)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` wrote.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        model : SphericalPCA
            Fitted.  A given start, a random generator and custom solvers are not saved:
            `init` is then "auto", `random_state` None, and the solver's name is kept.

        Raises
        ------
        DataError
            If the file was not written by `save`, or is damaged.
        """
        model = cls()
        load_model(model, Path(path))
        return model

    @property
    def n_components_(self) -> int:
        """Number of components."""
        return int(self.components_.shape[0])

    @property
    def _U(self) -> Array:
        return np.asarray(on_host(self.components_)).T

    def _rows(self, X: Any, weight: Array | None = None) -> Rows:
        return as_rows(X, weight=weight, normalize=self.normalize, mean=on_host(self.mean_))

    def _problem(self, method: str, X: Any, sample_weight: Any) -> Problem:
        """The problem for other rows, to be evaluated at the fitted subspace."""
        check_is_fitted(self)
        check_same_backend(self, X, method)
        X = check_matrix(self, X, reset=False)
        weight = check_weights(sample_weight, X.shape[0])
        rows = self._rows(X, weight)
        return checked_problem(rows, centred=self.center, weighted=weight is not None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags
