"""Codes for faiss: the nearest index type."""

from __future__ import annotations

from typing import Any

import numpy as np

from sphericalpca.codec.quantiser import LEVELS
from sphericalpca.exceptions import import_extra

__all__ = ["codes_to_faiss"]


def codes_to_faiss(codec: Any, codes: Any) -> Any:
    """An ``IndexPQ`` behind the codec's matrix, with the same codes and levels.

    Its scores are inner products with decoded vectors that are not scaled to unit length, which
    faiss cannot do: neighbours are ranked worse, mainly with few bytes.  Zero rows are not marked.

    Parameters
    ----------
    codec : SphericalCodec
    codes : ndarray of uint8, shape (n_samples, n_bytes_)

    Returns
    -------
    index : faiss.IndexPreTransform
        For vectors of `n_features_in_` numbers, of unit length.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sphericalpca import SphericalCodec
    >>> from sphericalpca.codec import codes_to_faiss
    >>> X = load_digits().data.astype("f4")
    >>> codec = SphericalCodec(8, random_state=0).fit(X)
    >>> codes_to_faiss(codec, codec.encode(X)).ntotal
    1797
    """
    faiss = import_extra("faiss", "An index of codes", "faiss", "faiss")
    packing, n_bytes, m = codec.packing_, codec.n_bytes_, codec.n_features_in_
    # Groups of components get equal widths, filled up with zeros.
    place = np.arange(len(packing)) - np.searchsorted(packing, packing)
    width = int(place.max()) + 1
    matrix = np.zeros((n_bytes, width, m), dtype=np.float32)
    levels = np.zeros((n_bytes, LEVELS, width), dtype=np.float32)
    matrix[packing, place] = codec.components_
    levels[packing, :, place] = codec._quantiser.levels.T
    inner = faiss.IndexPQ(n_bytes * width, n_bytes, 8, faiss.METRIC_INNER_PRODUCT)
    faiss.copy_array_to_vector(levels.ravel(), inner.pq.centroids)
    faiss.copy_array_to_vector(codec._check_codes(codes).ravel(), inner.codes)
    inner.is_trained, inner.ntotal = True, len(codes)
    change = faiss.LinearTransform(m, n_bytes * width)  # without a bias
    faiss.copy_array_to_vector(matrix.ravel(), change.A)
    change.is_trained = True
    return faiss.IndexPreTransform(change, inner)
