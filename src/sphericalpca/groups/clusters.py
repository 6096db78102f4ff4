"""Groups of texts as a scikit-learn clusterer."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.cluster.hierarchy import cut_tree
from sklearn.base import ClusterMixin, clone
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted

from sphericalpca.baselines.lloyd import unit_copy
from sphericalpca.estimators import validation
from sphericalpca.estimators.fitted import keep_last_fit
from sphericalpca.estimators.monitoring import warn_of_zero_rows
from sphericalpca.exceptions import Parameter, ParameterError
from sphericalpca.groups import partition
from sphericalpca.groups.storing import load_clusters, save_clusters
from sphericalpca.groups.texts import WordVectorizer, checked_texts, distinctive
from sphericalpca.linalg import Array, Labels
from sphericalpca.parallel import parallel
from sphericalpca.rows import as_rows

__all__ = ["TextClusters"]

COUNT = [validation.Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})]
VECTORIZERS = [HasMethods(["fit_transform", "transform"]), HasMethods(["encode"])]


class TextClusters(ClusterMixin, validation.MatrixTransformer):
    """Cluster texts by angle, with the same groups in every run and a group for every text.

    Many runs of spherical k-means (k-means of dense vectors) in `SphericalPCA` components of tf-idf
    rows vote on which texts belong together; the outcome is refined in the space of the rows.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of groups; "auto" chooses the number that is most stable under resampling.
    n_components : int or "auto", default="auto"
        Components of the runs that vote, at most; "auto" means five for each group.
    vectorizer : {"tfidf", "passthrough"} or object, default="tfidf"
        How texts become rows: by tf-idf without English stop words; not at all, if X holds vectors;
        or by any object with `fit_transform` and `transform`, or with `encode`.
    refine : bool, default=True
        Whether centres are in the space of the rows, rather than in that of the components.
    random_state : int, RandomState or None, default=0
        Random seed.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n_samples,)
        The group of each text, -1 if it has no known word.  Groups are numbered as they appear.
    cosines_, margins_ : ndarray of shape (n_samples,)
        Cosine with the centre, and by how much that is above the cosine with the next group's.
    cluster_centers_ : ndarray of shape (n_clusters, n_features) or (n_clusters, n_components)
        Unit vectors; the latter if `refine` is False.
    sizes_, merged_ : ndarray of int of shape (n_clusters,)
        How many texts are nearest to each centre; its group, which several share after `merge`.
    embedding_ : ndarray of shape (n_samples, n_components)
        Components of the texts, as `transform` returns them.
    components_, svd_ratio_, vectorizer_ : ndarray, float, object or None
        As of `SphericalPCA`; the fitted vectorizer.
    curve_ : list of (k, score, low, high) or None
        If `n_clusters` is "auto", how stable k groups are, with a 95 % interval.

    Examples
    --------
    >>> from sphericalpca import TextClusters
    >>> from sphericalpca.datasets import load_docstrings
    >>> clusters = TextClusters(8).fit(load_docstrings().texts)
    >>> new = clusters.predict(["Draw samples from a normal distribution."])
    >>> len(new), len(clusters.words(0, 5)), len(clusters.examples(0, 3))
    (1, 5, 3)
    """

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's name and form
        "n_clusters": COUNT,
        "n_components": COUNT,
        "vectorizer": [StrOptions({"tfidf", "passthrough"}), *VECTORIZERS],
        "refine": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: Any = 8,
        *,
        n_components: Any = "auto",
        vectorizer: Any = "tfidf",
        refine: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.n_clusters, self.n_components, self.vectorizer = n_clusters, n_components, vectorizer
        self.refine, self.random_state = refine, random_state

    def fit(self, X: Any, y: Any = None, *, progress: Callable[[str], None] | None = None) -> Self:  # noqa: ARG002
        """Find the groups.

        Parameters
        ----------
        X : iterable of str, or {array-like, sparse matrix} of shape (n_samples, n_features)
            Texts, which are read once; vectors if `vectorizer` is "passthrough".
        y : ignored
        progress : callable, optional
            Called with the name of each stage.

        Returns
        -------
        self : TextClusters
        """
        self._validate_params()
        tell = progress or (lambda _: None)
        with keep_last_fit(self), parallel(parts=partition.PARTS):
            tell("counting words")
            X = self._rows_of(X, reset=True)
            rows = as_rows(X)
            validation.check_lengths(1.0 * (rows.stats.weight > 0), "zero or without a known word")
            # In float64 the rounding errors of different processors do not change labels.
            Z = unit_copy(X.astype(np.float64, copy=False), rows)[0]
            partition.search(self, Z, X.dtype, tell)
            tell("assigning texts")
            self.embedding_ = rows.components(self.components_.T)
            partition.number(self, self._nearest(X))
        warn_of_zero_rows(rows.totals.without_direction, rows.shape[0], "got the label -1")
        return self

    def _rows_of(self, X: Any, *, reset: bool = False) -> Any:
        """Rows, checked; the vectorizer learns from texts if a fit is about to `reset` it."""
        given = self.vectorizer
        if given == "passthrough":
            self.vectorizer_ = None
        elif not isinstance(given, str) and hasattr(given, "encode"):
            self.vectorizer_, X = given, given.encode(list(checked_texts(X)))
        elif reset:
            if isinstance(given, str) and given != "tfidf":  # strings have `encode`, too
                raise ParameterError(Parameter("vectorizer", given), "must be tfidf or an object")
            self.vectorizer_ = WordVectorizer() if given == "tfidf" else clone(given, safe=False)
            X = self.vectorizer_.fit_transform(checked_texts(X))
        else:
            X = vars(self)["vectorizer_"].transform(checked_texts(X))
        X = validation.check_matrix(self, X, reset=reset, in_memory=True)
        # Sorted, so that sums over a row are always the same.
        return X if getattr(X, "has_sorted_indices", True) else X.sorted_indices()

    labels_ = property(lambda self: self.nearest_.labels)
    cosines_ = property(lambda self: self.nearest_.cosines)
    margins_ = property(lambda self: self.nearest_.margins)

    def _nearest(self, X: Any) -> partition.Nearest:
        U = None if self.refine else self.components_.T
        return partition.nearest(X, self.cluster_centers_, self.merged_, U)

    def assign(self, X: Any) -> partition.Nearest:
        """Like `predict`, with cosines and margins.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        nearest : named tuple of labels, cosines, margins and second, the next group
        """
        check_is_fitted(self)
        with parallel(parts=partition.PARTS):
            return self._nearest(self._rows_of(X))

    def predict(self, X: Any) -> Labels:
        """Return the group of each text, -1 if it has no known word.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        labels : ndarray of int of shape (n_samples,)
        """
        return self.assign(X).labels

    def transform(self, X: Any) -> Array:
        """Reduce texts to unit vectors; a text without a known word becomes zero.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        V : ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        with parallel(parts=partition.PARTS):
            return as_rows(self._rows_of(X)).components(self.components_.T)

    def words(self, cluster: int, n: int = 10) -> list[tuple[str, float]]:
        """Return the words that distinguish a group from the others.

        Parameters
        ----------
        cluster, n : int
            The group, and how many words at most.

        Returns
        -------
        words : list of (word, weight)
            The weight is that in the group minus the mean over the others; empty for vectors.
        """
        self._check("cluster", cluster)
        known = getattr(self.vectorizer_, "get_feature_names_out", None)
        return [] if known is None else distinctive(partition.profiles(self), cluster, n, known())

    def examples(self, cluster: int, n: int = 5, *, borderline: bool = False) -> Labels:
        """Return the indices of fitted texts that are typical of a group.

        Parameters
        ----------
        cluster, n : int
            The group, and how many texts at most.
        borderline : bool, default=False
            Return texts with the smallest margins, rather than those with the largest cosines.

        Returns
        -------
        indices : ndarray of int
        """
        check_is_fitted(self, "labels_", msg="This model has no texts: fit it, or `merge` with X.")
        self._check("cluster", cluster)
        inside = np.flatnonzero(self.labels_ == cluster)
        key = self.margins_[inside] if borderline else -self.cosines_[inside]
        return inside[np.argsort(key, kind="stable")[:n]]

    def merge(self, n_clusters: int, X: Any = None) -> Self:
        """Join the groups whose centres are nearest in angle, without a new fit.

        Parameters
        ----------
        n_clusters : int
            How many groups are left.
        X : as in `fit`, optional
            Texts that `labels_`, `cosines_` and `margins_` of the result are about.

        Returns
        -------
        clusters : TextClusters
        """
        self._check("merge", n_clusters, 1)
        joined = copy(self)
        joined.__dict__.pop("nearest_", None)
        if n_clusters <= self.merged_.max():
            cut = cut_tree(partition.centre_tree(self), n_clusters)
            joined.merged_ = cut[self.merged_, 0].astype(np.int32)
        if X is not None:
            joined.nearest_ = joined.assign(X)
        return joined

    def _check(self, name: str, value: int, least: int = 0) -> None:
        check_is_fitted(self)
        last = int(self.merged_.max()) + least
        if value not in range(least, last + 1):
            raise ParameterError(Parameter(name, value), f"must be from {least} to {last}")

    def save(self, path: str | Path) -> None:
        """Write the model, without texts and custom vectorizers, to a safetensors file.

        Parameters
        ----------
        path : str or Path
        """
        check_is_fitted(self)
        save_clusters(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, *, vectorizer: Any = None) -> Self:
        """Read a model that `save` wrote.

        Parameters
        ----------
        path : str or Path
        vectorizer : object, optional
            The fitted vectorizer, if it was a custom one.

        Returns
        -------
        clusters : TextClusters
        """
        load_clusters(model := cls(), Path(path), vectorizer)
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = self.vectorizer == "passthrough"
        tags.input_tags.string = not tags.input_tags.two_d_array
        return tags
