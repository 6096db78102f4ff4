"""Codes in faiss: the same levels, without the unit length."""

import numpy as np
import pytest

from sphericalpca import SphericalCodec
from sphericalpca.codec import codes_to_faiss
from tests.codec.conftest import clustered

pytest.importorskip("faiss")


def test_scores_are_inner_products_with_levels(rows):
    codec = SphericalCodec(6, random_state=0).fit(rows)
    codes = codec.encode(rows)
    index = codes_to_faiss(codec, codes)
    queries = clustered(9, 40, seed=2).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    scores, ids = index.search(queries, 4)
    quantiser = codec._quantiser
    raw = quantiser.levels[codes[:, quantiser.packing], np.arange(codec.n_components_)]
    expected = queries @ codec.components_.T @ raw.T
    np.testing.assert_allclose(scores, -np.sort(-expected, axis=1)[:, :4], atol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(expected, ids, 1), scores, atol=1e-5)
