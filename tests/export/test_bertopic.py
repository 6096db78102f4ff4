"""BERTopic's slot for a reducer: the calls that BERTopic makes."""

from __future__ import annotations

import io

import joblib
import numpy as np

from sphericalpca import SphericalPCA


def test_fit_with_and_without_labels(X, fresh):
    """None; one of every document; BERTopic's own, -1 where there is none."""
    alone, before = SphericalPCA(5).fit(X), X.copy()
    for y in (None, np.arange(300), np.array([-1, 0, 1] * 100)):
        reducer = SphericalPCA(5)
        reduced = np.nan_to_num(reducer.fit_transform(X, y=y))
        np.testing.assert_array_equal(reduced, SphericalPCA(5).fit(X, y=y).transform(X))
        np.testing.assert_array_equal(reducer.transform(fresh), alone.transform(fresh))
        assert (reduced.shape, reduced.dtype) == ((300, 5), np.float32)
        np.testing.assert_array_equal(X, before)


def test_batches_saved_as_bertopic_saves(X, fresh):
    reducer = SphericalPCA(5).partial_fit(X[:150]).partial_fit(X[150:])
    reduced = reducer.transform(fresh)
    np.testing.assert_allclose(np.linalg.norm(reduced, axis=1), 1, atol=1e-5)
    file = io.BytesIO()
    joblib.dump(reducer, file)
    file.seek(0)
    np.testing.assert_array_equal(joblib.load(file).transform(fresh), reduced)
