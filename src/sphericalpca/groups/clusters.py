"""Groups of texts as a scikit-learn clusterer."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin, clone
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted

from sphericalpca.baselines.lloyd import unit_copy
from sphericalpca.estimators.fitted import keep_last_fit
from sphericalpca.estimators.monitoring import warn_of_zero_rows
from sphericalpca.estimators.spherical_pca import SphericalPCA
from sphericalpca.estimators.validation import (
    Interval,
    MatrixTransformer,
    check_at_most,
    check_lengths,
    check_matrix,
    check_rank,
    generator,
)
from sphericalpca.exceptions import Parameter, ParameterError
from sphericalpca.groups import partition
from sphericalpca.groups.count import choose_count
from sphericalpca.groups.storing import load_clusters, save_clusters
from sphericalpca.groups.words import WordVectorizer, checked_texts, distinctive
from sphericalpca.linalg import Array, Labels, unit_rows
from sphericalpca.parallel import parallel
from sphericalpca.rows import as_rows

__all__ = ["UNCERTAIN", "TextClusters"]

# Texts whose margin is below this could as well be in the next group.
UNCERTAIN = 0.01
# Components for each group, and when there are many groups.
COMPONENTS, MANY = 5, 120


class TextClusters(ClusterMixin, MatrixTransformer):
    """Groups of texts by angle: the same ones every time, and every text in one of them.

    Texts become tf-idf rows, and these `SphericalPCA` components.  Many runs of spherical k-means
    in these vote on which texts belong together; the outcome is refined in the space of the rows.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of groups; "auto" takes the one that is most stable under resampling.
    n_components : int or "auto", default="auto"
        Components of the runs that vote, at most; "auto" means five for each group.
    vectorizer : {"tfidf", "passthrough"} or object, default="tfidf"
        What makes rows of texts: tf-idf without English stop words; nothing, if X holds vectors;
        or any object with `fit_transform` and `transform`, or with `encode`.
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
    second_ : ndarray of int of shape (n_samples,)
        The next group.
    embedding_ : ndarray of shape (n_samples, n_components)
        Components of the texts, as `transform` returns them.
    cluster_centers_ : ndarray of shape (n_clusters, n_features) or (n_clusters, n_components)
        Unit vectors; the latter if `refine` is False.
    sizes_, merged_ : ndarray of int of shape (n_clusters,)
        How many texts were nearest to each centre; and its group, for several centres the same one
        after `merge`.
    components_ : ndarray of shape (n_components, n_features)
    svd_ratio_ : float
        As of `SphericalPCA`.
    vectorizer_ : object or None
        The fitted vectorizer.
    curve_ : list of (k, score, low, high) or None
        If `n_clusters` is "auto", how stable k groups are, with a 95 % interval.
    summary_ : dict of float
        Of the cosines, to compare other texts with.
    n_features_in_ : int

    Examples
    --------
    >>> from sphericalpca import TextClusters
    >>> from sphericalpca.datasets import load_docstrings
    >>> texts = load_docstrings().texts
    >>> clusters = TextClusters(8).fit(texts)
    >>> clusters.predict(["Draw samples from a normal distribution."]).shape
    (1,)
    >>> len(clusters.words(0, 5)), len(clusters.examples(0, 3))
    (5, 3)
    """

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's name and form
        "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "vectorizer": [
            StrOptions({"tfidf", "passthrough"}),
            HasMethods(["fit_transform", "transform"]),
            HasMethods(["encode"]),
        ],
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
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.vectorizer = vectorizer
        self.refine = refine
        self.random_state = random_state

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

        Raises
        ------
        DataError
            If no word is left, or there are fewer texts with words than groups.
        """
        self._validate_params()
        tell = progress or (lambda _: None)
        with keep_last_fit(self), parallel(parts=partition.PARTS):
            tell("counting words")
            X = self._rows_of(X, reset=True)
            rows = as_rows(X)
            useful = rows.stats.weight > 0
            check_lengths(useful.astype(np.float64), "zero or without a known word")
            least = 1 if self.n_clusters == "auto" else self.n_clusters
            check_at_most("n_clusters", least, int(useful.sum()), "number of rows with a direction")
            # In float64 the rounding errors of other processors move no text.
            V = self._find(unit_copy(X.astype(np.float64, copy=False), rows)[0], tell)
            self.embedding_ = np.zeros((len(useful), V.shape[1]), X.dtype)
            self.embedding_[useful] = V
            tell("assigning texts")
            self._number(self._nearest_rows(X))
        warn_of_zero_rows(int((~useful).sum()), len(useful), "got the label -1")
        return self

    def _find(self, Z: Any, tell: Callable[[str], None]) -> Any:
        """Components and centres of unit rows; returns the components of these."""
        rng = generator(self.random_state)
        k, r, self.curve_ = self.n_clusters, self.n_components, None
        if k == "auto":
            tell("counting groups")
            k, self.curve_ = choose_count(Z, rng)
        if r == "auto":
            r = min(COMPONENTS * k, max(2 * k, MANY), *Z.shape)
        check_rank(r, Z.shape)
        tell("reducing")
        model = SphericalPCA(r, tol=1e-3, random_state=int(rng.integers(2**31)))
        V = model.fit_transform(Z)
        self.components_, self.svd_ratio_ = model.components_, model.svd_ratio_
        tell("grouping")
        self.cluster_centers_ = partition.find_centres(Z if self.refine else V, V, k, rng)
        self.merged_ = np.arange(k, dtype=np.int32)
        return V

    def _rows_of(self, X: Any, *, reset: bool = False) -> Any:
        """Rows, checked; the vectorizer learns from texts if a fit is about to `reset` it."""
        given = self.vectorizer
        if given == "passthrough":
            self.vectorizer_ = None
        elif not isinstance(given, str) and hasattr(given, "encode"):
            self.vectorizer_, X = given, given.encode(list(checked_texts(X)))
        elif reset:
            vectorizer = WordVectorizer() if given == "tfidf" else clone(given, safe=False)
            X = vectorizer.fit_transform(checked_texts(X))
            self.vectorizer_ = vectorizer
        else:
            vectorizer = self.vectorizer_
            X = vectorizer.transform(checked_texts(X))
        X = check_matrix(self, X, reset=reset, in_memory=True)
        # In one order the sums over a row are the same whenever it is seen.
        return X.sorted_indices() if sparse.issparse(X) and not X.has_sorted_indices else X

    def _nearest_rows(self, X: Any) -> partition.Nearest:
        U = None if self.refine else self.components_.T
        return partition.nearest(X, self.cluster_centers_, self.merged_, U)

    def _number(self, found: partition.Nearest) -> None:
        """Number groups in the order in which a text is certainly in them."""
        k = len(self.cluster_centers_)
        certain = np.where(found.margins >= UNCERTAIN, found.labels, -1)
        seen = np.concatenate([certain, found.labels, np.arange(k)])
        order = np.argsort([int(np.argmax(seen == label)) for label in range(k)])
        place = np.append(np.argsort(order), -1).astype(np.int32)  # -1 stays -1
        self.cluster_centers_ = self.cluster_centers_[order]
        self._keep(found._replace(labels=place[found.labels], second=place[found.second]))
        self.sizes_ = np.bincount(self.labels_[self.labels_ >= 0], minlength=k)
        self.summary_ = partition.summary_of(found)

    def _keep(self, found: partition.Nearest) -> None:
        self.labels_, self.cosines_, self.margins_, self.second_ = found

    def nearest(self, X: Any) -> partition.Nearest:
        """As `predict`, with cosines and margins.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        nearest : named tuple of labels, cosines, margins and second
        """
        check_is_fitted(self)
        with parallel(parts=partition.PARTS):
            return self._nearest_rows(self._rows_of(X))

    def predict(self, X: Any) -> Labels:
        """The group of each text, -1 if it has no known word.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        labels : ndarray of int of shape (n_samples,)
        """
        return self.nearest(X).labels

    def transform(self, X: Any) -> Array:
        """Components of the texts: unit vectors, zero for a text without a known word.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        V : ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        with parallel(parts=partition.PARTS):
            X = self._rows_of(X)
            return as_rows(X).components(self.components_.T.astype(X.dtype))

    def words(self, cluster: int, n: int = 10) -> list[tuple[str, float]]:
        """Words that tell a group from the others.

        Parameters
        ----------
        cluster : int
        n : int, default=10
            At most so many.

        Returns
        -------
        words : list of (word, weight)
            By how much the word's weight is above the mean of the other groups.  Empty if the
            vectorizer knows no words.
        """
        self._check_cluster(cluster)
        known = getattr(self.vectorizer_, "get_feature_names_out", None)
        return [] if known is None else distinctive(self._directions(), cluster, known(), n)

    def examples(self, cluster: int, n: int = 5, *, borderline: bool = False) -> Labels:
        """Which of the fitted texts are typical of a group.

        Parameters
        ----------
        cluster : int
        n : int, default=5
            At most so many.
        borderline : bool, default=False
            Those with the smallest margins, rather than those with the largest cosines.

        Returns
        -------
        indices : ndarray of int
        """
        self._check_cluster(cluster, "labels_")
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
            This estimator is left as it is.

        Raises
        ------
        ParameterError
            If there are not so many groups.
        """
        check_is_fitted(self)
        k = int(self.merged_.max()) + 1
        if not 1 <= n_clusters <= k:
            raise ParameterError(Parameter("merge", n_clusters), f"must be from 1 to {k}")
        joined = copy(self)
        for name in ("labels_", "cosines_", "margins_", "second_"):
            joined.__dict__.pop(name, None)
        if n_clusters < k:
            joined.merged_ = partition.cut(self._tree(), n_clusters)[self.merged_]
        if X is not None:
            joined._keep(joined.nearest(X))
        return joined

    def _check_cluster(self, cluster: int, attribute: str = "merged_") -> None:
        check_is_fitted(self, attribute)
        k = int(self.merged_.max()) + 1
        if not 0 <= cluster < k:
            raise ParameterError(Parameter("cluster", cluster), f"must be from 0 to {k - 1}")

    def _directions(self) -> Any:
        """A unit vector for each group in the space of the rows."""
        C = self.cluster_centers_ if self.refine else self.cluster_centers_ @ self.components_
        groups = (self.sizes_.astype(C.dtype), (self.merged_, np.arange(len(C))))
        return unit_rows(sparse.csr_array(groups) @ C)[0] if self.merged_.max() + 1 < len(C) else C

    def _tree(self) -> Any:
        return partition.centre_tree(self._directions())

    def save(self, path: str | Path) -> None:
        """Write the model to a safetensors file, whole or not at all; it holds no code.

        Parameters
        ----------
        path : str or Path
            An older model is replaced.  What belongs to single texts is not saved, nor is a
            vectorizer of your own.
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
            The fitted vectorizer, if it was one of your own.

        Returns
        -------
        clusters : TextClusters
        """
        load_clusters(model := cls(), Path(path), vectorizer)
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.vectorizer != "passthrough":
            tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags
