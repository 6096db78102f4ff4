"""Spherical k-means as a scikit-learn clusterer."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin, _fit_context
from sklearn.utils._param_validation import Interval

from sphericalpca.baselines.lloyd import Clustering, Labels, assign, lloyd, starts, unit_copy
from sphericalpca.estimators.fitted import keep_last_fit
from sphericalpca.estimators.monitoring import (
    UnfinishedFitWarning,
    warn_of_zero_rows,
    warn_unfinished,
)
from sphericalpca.estimators.validation import (
    MatrixTransformer,
    check_at_most,
    check_lengths,
    check_weights,
    generator,
)
from sphericalpca.exceptions import Parameter, warn_caller
from sphericalpca.linalg import Array
from sphericalpca.rows import Rows, as_rows

__all__ = ["SphericalKMeans"]


class SphericalKMeans(ClusterMixin, MatrixTransformer):
    """K-means by angle: unit rows and centres, with the largest sum of cosines.

    Dhillon and Modha (2001).  Rows are scaled to unit length; a cluster's centre is the
    direction of the sum of its rows; each row goes to the centre with the largest cosine.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most the number of rows that are not zero.
    n_init : int, default=10
        Number of starts, each by k-means++ on the unit rows.  The best result is kept.
    max_iter : int, default=300
        Maximum number of iterations of one start.
    tol : float, default=1e-4
        Stop when the relative decrease of the inertia is at most this, or no label changes.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Of unit length.
    labels_ : ndarray of int of shape (n_samples,)
        The cluster of each row, -1 for zero rows.
    inertia_ : float
        ``sum_j w_j (1 - cosine_j)``, without zero rows.
    n_iter_ : int
        Iterations of the best start.
    history_ : dict of ndarray of shape (n_iter_,)
        "inertia" after each iteration of the best start.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Names only if X had column names.

    Notes
    -----
    Zero rows have no direction.  The fit ignores them, their label is -1, and a
    `NoDirectionWarning` reports their number.  Empty clusters restart at the row farthest from its
    centre.

    References
    ----------
    I. S. Dhillon and D. S. Modha: Concept decompositions for large sparse text data using
    clustering.  Machine Learning 42 (2001) 143-175.

    Examples
    --------
    >>> from sphericalpca import SphericalKMeans
    >>> X = [[1, 0], [5, 1], [0, 2], [0.1, 1]]
    >>> labels = SphericalKMeans(2, random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's name and form
        **MatrixTransformer._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Find the centres.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative; weight k equals repeating a row k times.

        Returns
        -------
        self : SphericalKMeans

        Raises
        ------
        DataError
            If X cannot be used.  The message names the row.
        """
        with keep_last_fit(self):
            X = self._loaded(X, reset=True)
            rows = as_rows(X, weight=check_weights(sample_weight, X.shape[0]))
            useful = rows.stats.weight > 0
            check_lengths(useful.astype(np.float64), "zero or have weight zero")
            meaning = "number of rows with a direction"
            check_at_most("n_clusters", self.n_clusters, int(useful.sum()), meaning)
            Z, weight = unit_copy(X, rows)
            rng = generator(self.random_state)
            centers = starts(Z, weight, self.n_clusters, self.n_init, rng)
            runs = (lloyd(Z, weight, c, tol=self.tol, max_iter=self.max_iter) for c in centers)
            best = min(runs, key=lambda run: run.last.inertia)
            self.cluster_centers_, self.inertia_ = best.last.centers, best.last.inertia
            self.labels_ = self._nearest(rows)
            self.n_iter_, self.history_ = len(best.inertias), {"inertia": best.inertias}
        self._report(best, rows)
        return self

    def predict(self, X: Any) -> Labels:
        """Return the index of the nearest centre for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of int of shape (n_samples,)
            -1 for zero rows, with a warning that reports their number.
        """
        rows = as_rows(self._loaded(X))
        warn_of_zero_rows(rows.totals.without_direction, rows.shape[0], "got the label -1")
        return self._nearest(rows)

    def transform(self, X: Any) -> Array:
        """Compute cosine distances ``1 - cosine`` from the rows of X to the centres.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
            From 0 to 2; 1 for a zero row.
        """
        rows = as_rows(self._loaded(X))
        return np.maximum(1 - rows.project(self.cluster_centers_.T), 0)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:  # noqa: ARG002
        """Return minus the inertia of X, so that larger is better, as in scikit-learn.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        score : float
        """
        X = self._loaded(X)
        rows = as_rows(X, weight=check_weights(sample_weight, X.shape[0]))
        return -assign(rows, self.cluster_centers_).inertia

    _n_features_out = property(lambda self: len(self.cluster_centers_))

    def _nearest(self, rows: Rows) -> Labels:
        labels = assign(rows, self.cluster_centers_).labels
        return np.where(rows.stats.norm > 0, labels, -1).astype(np.int32)

    def _report(self, best: Clustering, rows: Rows) -> None:
        warn_of_zero_rows(rows.totals.without_direction, rows.shape[0], "took no part in the fit")
        filled = len(np.unique(best.last.labels))
        if filled < self.n_clusters:
            clusters = Parameter("n_clusters", int(self.n_clusters))
            few = " clusters have rows, because X has too few distinct directions"
            remedy = ("lower ", Parameter("n_clusters"))
            warn_caller(UnfinishedFitWarning((f"Only {filled} of ", clusters, few), "", remedy))
        if not best.converged:
            warn_unfinished(self, "relative decrease of the inertia", best.decrease)
