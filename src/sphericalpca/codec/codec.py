"""Unit vectors in few bytes, as a scikit-learn transformer."""

from __future__ import annotations

from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from sphericalpca.codec.files import fingerprint, load_codec, save_codec
from sphericalpca.codec.learning import exact_cosines, interval, learn, project, sample
from sphericalpca.codec.quantiser import BLOCK, ZERO, Codes, Quantiser
from sphericalpca.estimators import SphericalPCA
from sphericalpca.estimators.fitted import keep_last_fit
from sphericalpca.estimators.foreign import check_dask, is_dask
from sphericalpca.estimators.monitoring import warn_of_zero_rows
from sphericalpca.estimators.validation import Interval, MatrixTransformer, check_matrix, generator
from sphericalpca.exceptions import CapacityWarning, DataError, Parameter, counted, warn_caller
from sphericalpca.linalg import Array
from sphericalpca.metrics.neighbours import check_k
from sphericalpca.metrics.search import ranked
from sphericalpca.parallel import parallel, spread
from sphericalpca.products import Labels, pieces, times
from sphericalpca.rows import Matrix, RowSource
from sphericalpca.rows.cluster import checked_chunk, is_frame
from sphericalpca.transforming import finite_blocks

__all__ = ["SearchResult", "SphericalCodec"]

# Components considered per byte, for rows of up to this many columns, and for longer ones.
PER_BYTE, WIDE, PER_BYTE_OF_WIDE = 12, 4096, 3
NO_SHARE = 1e-10  # components with a smaller share are rounding errors
FLOAT = np.dtype(np.float64)


class SearchResult(NamedTuple):
    """Rows found for each query, best first, with cosines and, if requested, intervals."""

    ids: Labels
    cosines: Array
    lower: Array | None = None
    upper: Array | None = None


class SphericalCodec(MatrixTransformer):
    """Encode the directions of rows in a few bytes each, so that nearest neighbours are kept.

    `SphericalPCA` turns rows into unit vectors.  Their components share bytes, so that all bytes
    carry about as much; each byte names one of 256 levels, found by k-means.  Decoded vectors are
    scaled to unit length.  Queries are not encoded.

    Parameters
    ----------
    n_bytes : int, default=96
        Bytes of a code.  Fewer, with a `CapacityWarning`, if the rows cannot use as many.
    n_components : int or "auto", default="auto"
        Dimension r of the subspace; "auto" leaves out components that deserve no bits.
    random_state : int, RandomState or None, default=None
        Seed of the sample that levels are trained on, and of k-means.

    Attributes
    ----------
    n_bytes_, n_components_ : int
        Bytes of a code, and number of components r.
    components_ : ndarray of shape (n_components_, n_features)
        Orthonormal rows: the components of `SphericalPCA`, in the order of their bytes.
    bits_, packing_ : ndarray of shape (n_components_,)
        Bits that each component is worth (levels are shared, so these are not integers), and the
        byte that encodes it.
    distortion_ : float
        Mean squared distance between rows of length 1 and their decoded vectors, for rows that
        the levels were not trained on (if there are 2,000 rows or more).
    error_quantiles_ : ndarray of shape (n_bins, 4)
        Rank as a share of all rows, estimated cosine, and the 2.5 % and 97.5 % quantiles of true
        minus estimated cosine there, for held-out rows if there are 2,000 rows or more.
    fingerprint_ : str
        Checksum of subspace and levels.  Codes can only be used with this codec.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sphericalpca import SphericalCodec
    >>> X = load_digits().data
    >>> codec = SphericalCodec(n_bytes=16, random_state=0).fit(X)
    >>> codes = codec.encode(X)
    >>> codes.shape, codes.dtype
    ((1797, 16), dtype('uint8'))
    >>> codec.search(X[:2], codes, k=1).ids.ravel().tolist()
    [0, 1]
    """

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's name and form
        "n_bytes": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "random_state": ["random_state"],
    }
    _quantiser: Quantiser

    def __init__(
        self, n_bytes: int = 96, *, n_components: Any = "auto", random_state: Any = None
    ) -> None:
        self.n_bytes = n_bytes
        self.n_components = n_components
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Find the subspace and the levels, these from a sample of at most 32,768 rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), rows, or Dask
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self : SphericalCodec
        """
        with keep_last_fit(self):
            X = self._checked(X, reset=True)
            A, rng = self._subspace(X, sample_weight), generator(self.random_state)
            n_bytes, auto = min(self.n_bytes, len(A)), self.n_components == "auto"
            rows = sample(X, sample_weight, rng)
            fitted, counts = learn(*rows, A, n_bytes, rng, n=X.shape[0], choose=auto)
            self.__dict__.update(fitted)
        if n_bytes < self.n_bytes:
            limit = f"is more than these rows can use: codes have {counted(n_bytes, 'byte')}"
            warn_caller(CapacityWarning(Parameter("n_bytes", self.n_bytes), limit))
        if (least := int(counts.min())) < ZERO:
            few = f"Some byte has {counted(least, 'level')} instead of 256"
            warn_caller(CapacityWarning(few, remedy="the rows are too few or too similar"))
        return self

    def _subspace(self, X: Any, weight: Any) -> Array:
        n, m = X.shape
        most = min(n, m, self.n_bytes * (PER_BYTE if m <= WIDE else PER_BYTE_OF_WIDE))
        r = most if self.n_components == "auto" else int(self.n_components)
        model = SphericalPCA(r, tol=1e-3, random_state=self.random_state)
        share = model.fit(X, sample_weight=weight).component_weights_
        return np.asarray(model.components_[share > NO_SHARE * share[0]])

    def encode(self, X: Any) -> Any:
        """Codes of the rows of X; `transform` is the same.  Zero rows have a reserved code.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), rows, or Dask

        Returns
        -------
        codes : ndarray of uint8, shape (n_samples, n_bytes_), or a Dask array
        """
        X = self._checked(X)
        if is_dask(X):
            shape = {"chunks": (X.chunks[0], (self.n_bytes_,)), "meta": np.empty((0, 0), np.uint8)}
            return X.rechunk({1: -1}).map_blocks(self._encoded_chunk, dtype=np.uint8, **shape)
        parts = finite_blocks(X) if isinstance(X, RowSource) else [(0, X)]
        codes = np.concatenate([self._encoded(part) for _, part in parts])
        warn_of_zero_rows(int((codes[:, 0] == ZERO).sum()), len(codes), "got the code of zero")
        return codes

    transform = encode

    def decode(self, codes: Any) -> Array:
        """Unit vectors in the original space, or zero; `inverse_transform` is the same.

        Parameters
        ----------
        codes : ndarray of uint8, shape (n_samples, n_bytes_)

        Returns
        -------
        X_original : ndarray of float32, shape (n_samples, n_features)
        """
        return np.asarray(times(self.decode_components(codes), self.components_.astype("f4")))

    inverse_transform = decode

    def decode_components(self, codes: Any) -> Array:
        """Unit vectors of the subspace.

        Parameters
        ----------
        codes : ndarray of uint8, shape (n_samples, n_bytes_)

        Returns
        -------
        V : ndarray of float32, shape (n_samples, n_components_)
        """
        codes = self._check_codes(codes)
        return self._quantiser.decode(codes)

    def cosines(self, queries: Any, codes: Any) -> Array:
        """Cosines between queries and decoded codes.

        Parameters
        ----------
        queries : {array-like, sparse matrix} of shape (n_queries, n_features)
        codes : ndarray of uint8, shape (n_samples, n_bytes_)

        Returns
        -------
        cosines : ndarray of float32, shape (n_queries, n_samples)
        """
        codes, V = self._check_codes(codes), self._directions(queries)[0].astype(np.float32)
        cosines = np.empty((len(V), len(codes)), dtype=np.float32)

        def fill(rows: slice) -> None:
            cosines[:, rows] = times(V, self._quantiser.decode(codes[rows]).T)

        with parallel():
            spread(fill, pieces(0, len(codes), BLOCK))
        return cosines

    def search(
        self,
        queries: Any,
        codes: Any,
        k: int = 10,
        rerank: Any = None,
        *,
        return_interval: bool = False,
    ) -> SearchResult:
        """Find the k rows with the largest cosine to each query.

        Parameters
        ----------
        queries : {array-like, sparse matrix} of shape (n_queries, n_features)
        codes : ndarray of uint8, shape (n_samples, n_bytes_)
        k : int, default=10
        rerank : {array-like, sparse matrix} of shape (n_samples, n_features), optional
            The encoded rows, one for each code: the best 4 k by code are re-ranked by their exact
            cosines.
        return_interval : bool, default=False
            Also return 95 % intervals of the true cosines; codecs of few rows make them too narrow.

        Returns
        -------
        found : SearchResult
            With `ids`, `cosines`, `lower` and `upper`, of shape (n_queries, k).
        """
        vectors, codes = self._directions(queries)[0], self._check_codes(codes)
        check_k(k, "the number of rows to find for each query")
        ids, scores = self._quantiser.search(vectors, codes, k if rerank is None else 4 * k)
        if rerank is None:
            ends = interval(self.error_quantiles_, scores, len(codes))
        else:
            X = self._rows_of(codes, rerank)
            ids, scores = ranked(ids, exact_cosines(self._loaded(queries), X, ids), k)
            ends = np.stack([scores, scores])
        return SearchResult(ids, scores, *(ends if return_interval else ()))

    def error_bound(self, X: Any) -> Array:
        """Compute the distance of each row, scaled to length 1, from its decoded vector.

        No cosine has a larger error, but the bound is too loose to prove any ranking of neighbours.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        bounds : ndarray of shape (n_samples,)
        """
        Y, V = self._directions(X)
        kept = np.einsum("ij,ij->i", Y, self._quantiser.decode(self._quantiser.encode(V)))
        return np.where(Y.any(axis=1), np.sqrt(np.maximum(2 - 2 * kept, 0)), 0)

    def save(self, path: str | Path) -> None:
        """Write the fitted codec to one safetensors file, atomically.

        Parameters
        ----------
        path : str or Path
        """
        check_is_fitted(self)
        save_codec(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a codec that `save` wrote; anything else raises a `DataError`.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        codec : SphericalCodec
        """
        load_codec(codec := cls(), Path(path))
        return codec

    def _checked(self, X: Any, *, reset: bool = False) -> Any:
        """An array, a CSR matrix, rows in files, or a Dask array whose length is known."""
        if not reset:
            check_is_fitted(self)
        if not is_dask(X):
            return check_matrix(self, X, reset=reset, on_host=True)
        check_dask(self, X, reset=reset)
        X = X.to_dask_array(lengths=True) if is_frame(X) else X
        return X.compute_chunk_sizes() if np.isnan(X.shape[0]) else X

    def _check_codes(self, codes: Any) -> Codes:
        check_is_fitted(self)
        given: Codes = np.asarray(codes, order="C")
        if given.ndim != 2 or given.dtype != np.uint8 or given.shape[1] != self.n_bytes_:
            found = f"The codes have shape {given.shape} and type {given.dtype}"
            rule = f"this codec writes uint8 of shape (n_samples, {self.n_bytes_})"
            raise DataError(found, rule, "pass what encode returned")
        return given

    def _rows_of(self, codes: Codes, rerank: Any) -> Matrix:
        if (X := self._loaded(rerank)).shape[0] == len(codes):
            return X
        rule = f"there are {counted(len(codes), 'code')}"
        raise DataError(f"rerank has {counted(X.shape[0], 'row')}", rule, "pass those rows")

    def _encoded(self, X: Matrix) -> Codes:
        def encode(rows: slice) -> Codes:
            return self._quantiser.encode(project(X[rows], self.components_.T)[1])

        with parallel():
            parts = spread(encode, pieces(0, X.shape[0], BLOCK))
        return np.concatenate([np.empty((0, self.n_bytes_), dtype=np.uint8), *parts])

    def _encoded_chunk(self, chunk: Any, block_id: Any = (0, 0)) -> Codes:
        return self._encoded(checked_chunk([chunk], self.n_features_in_, FLOAT, block_id[0], None))

    def _directions(self, X: Any) -> tuple[Array, Array]:
        return project(self._loaded(X), self.components_.T)

    n_bytes_ = property(lambda self: len(self._quantiser.groups), doc="Bytes of a code.")
    n_components_ = property(lambda self: len(self.components_), doc="Number of components.")
    packing_ = property(lambda self: self._quantiser.packing, doc="The byte of each component.")
    fingerprint_ = property(fingerprint, doc="Checksum of subspace and levels.")
    _n_features_out = property(lambda self: self.n_bytes_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
