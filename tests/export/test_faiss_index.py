"""faiss reduces, stores and finds what transform and a plain cosine search give."""

from __future__ import annotations

import numpy as np
import pytest

from sphericalpca import DataError, MissingExtraError
from sphericalpca.export import export_model, to_faiss
from sphericalpca.export.faiss_index import factory_string

faiss = pytest.importorskip("faiss")


def stored(index):
    """What the inner index of an IndexPreTransform holds."""
    inner = faiss.downcast_index(index.index)
    return inner.reconstruct_n(0, inner.ntotal)


def assert_finds_the_nearest(index, V, Q, queries, k=10):
    """Scores are the k largest cosines, and belong to the rows named."""
    cosines = Q @ V.T
    scores, ids = index.search(queries, k)
    np.testing.assert_allclose(scores, -np.sort(-cosines, axis=1)[:, :k], atol=5e-6)
    np.testing.assert_allclose(scores, np.take_along_axis(cosines, ids, axis=1), atol=5e-6)


def test_it_stores_transform_and_finds_what_a_cosine_search_finds(model, X, fresh, tmp_path):
    export_model(model, tmp_path / "a b.faiss", "faiss")
    V, Q = model.transform(X), model.transform(fresh)
    for index in (to_faiss(model), faiss.read_index(str(tmp_path / "a b.faiss"))):
        index.add(X)
        np.testing.assert_allclose(stored(index), V, atol=5e-6)
        assert_finds_the_nearest(index, V, Q, fresh)
        back = model.inverse_transform(V[:5])
        np.testing.assert_allclose(index.reconstruct_n(0, 5), back, atol=5e-6)


def test_real_vectors(minilm):
    X, models = minilm
    for model in models:
        index = to_faiss(model)
        index.add(X)
        V = model.transform(X)
        assert np.abs(stored(index) - V).max() < 3e-6
        assert_finds_the_nearest(index, V, V[:200], X[:200])


def test_zero_rows_stay_zero(plain_model, centred_model):
    index = to_faiss(plain_model)
    index.add(np.zeros((2, 24), dtype=np.float32))
    assert not stored(index).any()
    index = to_faiss(centred_model)
    index.add(centred_model.mean_[None])
    assert not stored(index).any()


@pytest.mark.parametrize("kind", ["Flat", "IVF4,Flat"])
def test_the_factory_string_has_the_shape(plain_model, X, fresh, kind):
    """The index of that string, once its PCA is given our matrix, finds the same."""
    ours = to_faiss(plain_model, kind)
    theirs = faiss.index_factory(24, factory_string(plain_model, kind), faiss.METRIC_INNER_PRODUCT)
    assert ours.chain.size() == theirs.chain.size() == 2
    theirs.train(X)
    pca = faiss.downcast_VectorTransform(theirs.chain.at(0))
    assert isinstance(pca, faiss.LinearTransform)
    linear = faiss.downcast_VectorTransform(ours.chain.at(0))
    faiss.copy_array_to_vector(faiss.vector_to_array(linear.A), pca.A)
    faiss.copy_array_to_vector(np.zeros(6, dtype=np.float32), pca.b)
    inner = faiss.downcast_index(theirs.index)
    assert type(inner) is type(faiss.downcast_index(ours.index))
    if kind != "Flat":
        inner.nprobe = inner.nlist
    theirs.add(X)
    assert_finds_the_nearest(theirs, plain_model.transform(X), plain_model.transform(fresh), fresh)


def test_an_index_that_is_trained_takes_full_vectors(model, X, fresh):
    index = to_faiss(model, "IVF4,Flat")
    assert not index.is_trained
    index.train(X)
    index.add(X)
    inner = faiss.downcast_index(index.index)
    inner.nprobe = inner.nlist
    assert_finds_the_nearest(index, model.transform(X), model.transform(fresh), fresh)


@pytest.mark.parametrize(
    ("kind", "reason"), [("nonsense", "could not parse"), ("PQ5", "multiple"), ("", "parse")]
)
def test_an_index_that_faiss_cannot_make_is_refused(plain_model, tmp_path, kind, reason):
    with pytest.raises(DataError, match=f"index={kind!r} is not a faiss index .*{reason}") as error:
        export_model(plain_model, tmp_path / "index", "faiss", index=kind)
    assert "\n" not in str(error.value)
    assert ".cpp" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_without_faiss(plain_model, without):
    without("faiss")
    with pytest.raises(MissingExtraError, match=r"needs faiss-cpu.*sphericalpca\[faiss\]"):
        to_faiss(plain_model)
