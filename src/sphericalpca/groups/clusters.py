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
from sphericalpca.baselines.lloyd import unit_copy
from sphericalpca.exceptions import Parameter, ParameterError
from sphericalpca.groups.count import choose_count
from sphericalpca.groups.partition import (
    PARTS,
    Nearest,
    centre_tree,
    cut,
    find_centres,
    nearest,
    summary_of,
)
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

    Texts become tf-idf rows, these `SphericalPCA` components.  Spherical k-means starts many times
    in few of the components; the start with the largest sum of cosines is refined.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of groups; "auto" chooses the number that is most stable under resampling.
    n_components : int or "auto", default="auto"
        Components in which the search starts; "auto" tries two to five for each group.
    vectorizer : {"tfidf", "passthrough"} or object, default="tfidf"
        What makes rows of texts: tf-idf of words without English stop words; nothing, if X holds
        vectors; or an object with `fit_transform` and `transform`, or with `encode`.
    refine : bool, default=True
        Whether centres are in the space of the rows, not in that of the components.
    random_state : int, RandomState or None, default=0
        Random seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n_samples,)
        The group of each text, -1 if it has no known word.  Groups are numbered as they appear.
    cosines_, margins_ : ndarray of shape (n_samples,)
        Cosine with the centre, and by how much it is above that of the next group.
    second_ : ndarray of int of shape (n_samples,)
        The next group.
    cluster_centers_ : ndarray of shape (n_clusters, n_features) or (n_clusters, n_components)
        Unit vectors; the latter if `refine` is False.
    components_ : ndarray of shape (n_components, n_features)
        Of the `SphericalPCA`.
    embedding_ : ndarray of shape (n_samples, n_components)
        Components of the texts, as `transform` returns them.
    svd_ratio_ : float
        See `SphericalPCA`.
    vectorizer_ : object or None
        The fitted vectorizer.
    sizes_ : ndarray of int of shape (n_clusters,)
        How many texts were nearest to each centre.
    merged_ : ndarray of int of shape (n_clusters,)
        The group of each centre; several centres have the same one after `merge`.
    first_run_ : dict of float
        Mean cosine, its 5 % quantile and the share of texts without a known word at the fit.
    curve_ : list of (k, score, low, high) or None
        Stability for each number of groups, with an interval, if `n_clusters` is "auto".
    n_features_in_ : int

    See Also
    --------
    sphericalpca.SphericalKMeans : Many starts among the rows themselves.

    Examples
    --------
    >>> from sphericalpca import TextClusters
    >>> from sphericalpca.datasets import load_docstrings
    >>> texts = load_docstrings().texts
    >>> clusters = TextClusters(8).fit(texts)
    >>> clusters.labels_.shape == (len(texts),)
    True
    >>> all(len(clusters.words(k, 5)) == 5 for k in range(8))
    True
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

        Warns
        -----
        NoDirectionWarning
            If texts have no known word.
        """
        self._validate_params()
        tell = progress or (lambda _: None)
        with keep_last_fit(self), parallel(parts=PARTS):
            tell("counting words")
            X = self._rows_of(X, reset=True)
            rows = as_rows(X)
            useful = rows.stats.weight > 0
            check_lengths(useful.astype(np.float64), "without a known word")
            meaning = "number of texts with a known word"
            least = 2 if self.n_clusters == "auto" else self.n_clusters
            check_at_most("n_clusters", least, int(useful.sum()), meaning)
            # In float64 rounding errors, which other processors make elsewhere, move no text.
            V = self._find(unit_copy(X.astype(np.float64, copy=False), rows)[0], tell)
            self.embedding_ = np.zeros((len(useful), V.shape[1]), X.dtype)
            self.embedding_[useful] = V
            tell("assigning texts")
            self._number(self._nearest(X))
        missing = int((~useful).sum())
        warn_of_zero_rows(missing, len(useful), "have no known word and got the label -1")
        return self

    def _find(self, Z: Any, tell: Callable[[str], None]) -> Array:
        """Components and centres of unit rows; the components of these."""
        rng = generator(self.random_state)
        k, r, self.curve_ = self.n_clusters, self.n_components, None
        if k == "auto":
            k, self.curve_ = choose_count(Z, rng, tell)
        if r == "auto":
            r = min(COMPONENTS * k, max(2 * k, MANY), *Z.shape)
        check_rank(r, Z.shape)
        tell("reducing")
        model = SphericalPCA(r, tol=1e-3, random_state=int(rng.integers(2**31)))
        V = model.fit_transform(Z)
        self.components_, self.svd_ratio_ = model.components_, model.svd_ratio_
        tell("grouping")
        self.cluster_centers_ = find_centres(Z if self.refine else V, V, k, rng)
        self.merged_ = np.arange(k, dtype=np.int32)
        return V

    def _rows_of(self, X: Any, *, reset: bool = False) -> Any:
        """Rows, checked; the vectorizer learns from texts if a fit is about to `reset` it."""
        if self.vectorizer == "passthrough":
            self.vectorizer_ = None
        elif hasattr(self.vectorizer, "encode") and not isinstance(self.vectorizer, str):
            self.vectorizer_ = self.vectorizer
            X = self.vectorizer.encode(list(checked_texts(X)))
        elif reset:
            own = self.vectorizer != "tfidf"
            self.vectorizer_ = clone(self.vectorizer, safe=False) if own else WordVectorizer()
            X = self.vectorizer_.fit_transform(checked_texts(X))
        else:
            X = self.vectorizer_.transform(checked_texts(X))
        X = check_matrix(self, X, reset=reset, in_memory=True)
        # In one order the sums over a row are the same whenever it is seen.
        return X.sorted_indices() if sparse.issparse(X) and not X.has_sorted_indices else X

    def _nearest(self, X: Any) -> Nearest:
        U = None if self.refine else self.components_.T
        return nearest(X, self.cluster_centers_, self.merged_, U)

    def _number(self, found: Nearest) -> None:
        """Give groups their numbers in the order in which a text is certainly in them."""
        k = len(self.cluster_centers_)
        certain = np.where(found.margins >= UNCERTAIN, found.labels, -1)
        both = np.concatenate([certain, found.labels, np.arange(k)])
        first = [int(np.argmax(both == label)) for label in range(k)]
        order = np.argsort(first)
        place = np.append(np.argsort(order), -1).astype(np.int32)  # -1 stays -1
        self.cluster_centers_ = self.cluster_centers_[order]
        self._keep(found._replace(labels=place[found.labels], second=place[found.second]))
        self.sizes_ = np.bincount(self.labels_[self.labels_ >= 0], minlength=k)

    def _keep(self, found: Nearest) -> None:
        self.labels_, self.cosines_, self.margins_, self.second_ = found
        self.first_run_ = summary_of(found)

    def _check_cluster(self, cluster: int) -> None:
        k = int(self.merged_.max()) + 1
        if not 0 <= cluster < k:
            raise ParameterError(Parameter("cluster", cluster), f"must be from 0 to {k - 1}")

    def predict(self, X: Any) -> Labels:
        """The group of each text.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        labels : ndarray of int of shape (n_samples,)
            -1 for a text without a known word.
        """
        return self.nearest(X).labels

    def nearest(self, X: Any) -> Nearest:
        """As `predict`, with cosines, margins and the next group.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        nearest : named tuple of labels, cosines, margins and second
        """
        check_is_fitted(self)
        with parallel(parts=PARTS):
            return self._nearest(self._rows_of(X))

    def transform(self, X: Any) -> Array:
        """Components of the texts: unit vectors.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        V : ndarray of shape (n_samples, n_components)
            Zero for a text without a known word.
        """
        check_is_fitted(self)
        with parallel(parts=PARTS):
            return as_rows(self._rows_of(X)).components(self.components_.T)

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
            By how much their weight is above the mean of the other groups, largest first.  Empty
            if the vectorizer knows no words.
        """
        check_is_fitted(self)
        self._check_cluster(cluster)
        known = getattr(self.vectorizer_, "get_feature_names_out", None)
        return [] if known is None else distinctive(self.directions(), cluster, known(), n)

    def examples(self, cluster: int, n: int = 5, *, borderline: bool = False) -> Labels:
        """Which texts are typical of a group.

        Parameters
        ----------
        cluster : int
        n : int, default=5
            At most so many.
        borderline : bool, default=False
            Those with the smallest margin instead of those with the largest cosine.

        Returns
        -------
        indices : ndarray of int
            Into the texts that were fitted.
        """
        check_is_fitted(self, "labels_")
        self._check_cluster(cluster)
        inside = np.flatnonzero(self.labels_ == cluster)
        key = self.margins_[inside] if borderline else -self.cosines_[inside]
        return inside[np.argsort(key, kind="stable")[:n]]

    def directions(self) -> Array:
        """Unit vectors of the groups in the space of the rows.

        Returns
        -------
        directions : ndarray of shape (n_groups, n_features)
        """
        C = self.cluster_centers_ if self.refine else self.cluster_centers_ @ self.components_
        k = self.merged_.max() + 1
        shape = (k, len(C))
        members = sparse.csr_array((self.sizes_, (self.merged_, np.arange(len(C)))), shape)
        return unit_rows(members.astype(C.dtype) @ C)[0] if k < len(C) else C

    def tree(self) -> Array:
        """The tree of the groups by the angle between their centres.

        Returns
        -------
        tree : ndarray of shape (n_groups - 1, 4)
            Average linkage in scipy's form, heights in degrees.
        """
        check_is_fitted(self)
        return centre_tree(self.directions())

    def merge(self, n_clusters: int, X: Any = None) -> Self:
        """Join the groups nearest to each other, without a new fit.

        Parameters
        ----------
        n_clusters : int
            How many are left where the tree of groups is cut.
        X : as in `fit`, optional
            Texts for `labels_`, `cosines_` and `margins_` of the result, which has none otherwise.

        Returns
        -------
        clusters : TextClusters
            A text is in the group of its nearest centre; this estimator is left as it is.
        """
        check_is_fitted(self)
        k = int(self.merged_.max()) + 1
        if not 1 <= n_clusters <= k:
            raise ParameterError(Parameter("merge", n_clusters), f"must be from 1 to {k}")
        joined = copy(self)
        for name in ("labels_", "cosines_", "margins_", "second_"):
            vars(joined).pop(name, None)
        if n_clusters < k:
            joined.merged_ = cut(self.tree(), n_clusters)[self.merged_]
        if X is not None:
            joined._keep(joined.nearest(X))
        return joined

    def save(self, path: str | Path) -> None:
        """Write the model to a safetensors file, whole or not at all; it holds no code.

        Parameters
        ----------
        path : str or Path
            An older model is replaced.  Labels of texts, and vectorizers of your own, are not
            saved.

        Raises
        ------
        MissingExtraError
            If safetensors is not installed.
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
            Fitted, without what belongs to single texts.

        Raises
        ------
        DataError
            If it is not a file of `save`, or is damaged.
        """
        model = cls()
        load_clusters(model, Path(path), vectorizer)
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.vectorizer != "passthrough":
            tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags
