"""BERTopic's slot for a reducer: an imitation that makes exactly the calls BERTopic makes."""

from __future__ import annotations

import io

import joblib
import numpy as np

from sphericalpca import SphericalPCA


class Topics:
    """What BERTopic does with its ``umap_model``; earlier releases called fit, then transform."""

    def __init__(self, umap_model):
        self.umap_model = umap_model

    def fit(self, embeddings, y=None):
        y = np.array(y) if y is not None else None
        return np.nan_to_num(self.umap_model.fit_transform(embeddings, y=y))

    def fit_as_before(self, embeddings, y=None):
        self.umap_model.fit(embeddings, y=y)
        return np.nan_to_num(self.umap_model.transform(embeddings))

    def partial_fit(self, embeddings, *, first):
        if hasattr(self.umap_model, "partial_fit"):
            self.umap_model = self.umap_model.partial_fit(embeddings)
            return self.umap_model.transform(embeddings)
        if first:
            return self.umap_model.fit_transform(embeddings)
        return self.umap_model.transform(embeddings)

    def transform(self, embeddings):
        return self.umap_model.transform(embeddings)


def test_fit(X, fresh):
    """Without labels; with one of every document; with BERTopic's own, -1 where there is none."""
    alone, before = SphericalPCA(5).fit(X), X.copy()
    for y in (None, list(range(300)), [-1, 0, 1] * 100):
        for call in (Topics.fit, Topics.fit_as_before):
            topics = Topics(SphericalPCA(5))
            reduced = call(topics, X, y)
            np.testing.assert_array_equal(reduced, alone.fit_transform(X))
            np.testing.assert_array_equal(topics.transform(fresh), alone.transform(fresh))
            assert reduced.shape == (300, 5)
            assert reduced.dtype == np.float32
            np.testing.assert_array_equal(X, before)


def test_batches(X, fresh):
    topics = Topics(SphericalPCA(5))
    topics.partial_fit(X[:150], first=True)
    reduced = topics.partial_fit(X[150:], first=False)
    assert reduced.shape == (150, 5)
    np.testing.assert_allclose(np.linalg.norm(reduced, axis=1), 1, atol=1e-5)
    assert topics.transform(fresh[:1]).shape == (1, 5)


def test_saved_as_bertopic_saves(X, fresh):
    topics = Topics(SphericalPCA(5))
    topics.fit(X)
    file = io.BytesIO()
    joblib.dump(topics.umap_model, file)
    file.seek(0)
    np.testing.assert_array_equal(joblib.load(file).transform(fresh), topics.transform(fresh))
