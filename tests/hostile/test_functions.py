"""Public functions other than the estimators, on hostile data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import answer, check_spherical, hostile
from strategies import SEEDS, matrices

from sphericalpca import SphericalPCA, choose_components, evaluate
from sphericalpca.evaluation import check_drift
from sphericalpca.metrics import (
    clustering_accuracy,
    holm,
    match_clusters,
    nearest_neighbours,
    nmi,
    paired_difference,
    recall_at_k,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sphericalpca.NoDirectionWarning"),
    pytest.mark.filterwarnings("ignore::sphericalpca.ShortfallWarning"),
]

# Enough rows to hold some out.
TALL = st.tuples(st.integers(8, 60), st.integers(1, 8))
NUMBERS = st.one_of(
    st.floats(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([0.0, -0.0, 5e-324, 1e308, -1e308, 0.5, 1.0]),
)
LISTS = st.lists(NUMBERS, max_size=8)
LABELS = st.lists(
    st.one_of(st.integers(-3, 3), st.sampled_from(["a", "b", ""]), st.none(), st.booleans()),
    max_size=10,
)


def _fitted(X, normalize=True):
    m = X.shape[1] if hasattr(X, "shape") else len(X[0])
    rows = np.random.default_rng(0).standard_normal((30, m))
    return SphericalPCA(1, normalize=normalize).fit(rows)


@hostile(25)
@given(matrices(TALL), st.sampled_from([0.3, 0.95]), st.integers(1, 6), SEEDS)
def test_choose_components(X, recall, k, seed):
    found = answer(lambda: choose_components(X, recall=recall, k=k, random_state=seed))
    if found is not None:
        check_spherical(found.model)
        assert 1 <= found.n_components <= min(np.shape(X) if isinstance(X, list) else X.shape)
        for point in found.curve:
            assert 0 <= point.low <= point.recall <= point.high <= 1


@hostile(25)
@given(matrices(TALL), SEEDS, st.booleans())
def test_evaluate(X, seed, normalize):
    model = _fitted(X, normalize)
    found = answer(lambda: evaluate(model, X, at=(1, 3), random_state=seed))
    if found is not None:
        for row in found.rows:
            assert 0 <= row.low <= row.recall <= row.high <= 1


@hostile(40)
@given(matrices(), st.booleans())
def test_check_drift(X, normalize):
    model = _fitted(X, normalize)
    found = answer(lambda: check_drift(model, X))
    if found is not None:
        assert 0 <= found.low <= found.now <= found.high <= 1
        assert np.isfinite(found.cosines).all()
        assert found.verdict in ("none", "lower", "higher")


@hostile(60)
@given(matrices(), st.data(), st.sampled_from(["cosine", "inner", "euclidean"]), st.integers(0, 4))
def test_nearest_neighbours(base, data, metric, k):
    shape = np.shape(base) if isinstance(base, list) else base.shape
    queries = data.draw(st.one_of(st.none(), matrices(st.just(shape)), matrices()))
    found = answer(lambda: nearest_neighbours(base, queries, k, metric=metric))
    if found is not None:
        assert found.ids.shape[1] == k
        assert ((found.ids >= 0) & (found.ids < shape[0])).all()
        assert not np.isnan(found.scores).any()
        assert (np.diff(found.scores, axis=1) <= 0).all()
        assert recall_at_k(found.ids, found.ids) == 1.0


@hostile(40)
@given(LABELS, LABELS)
def test_clustering_measures(true, found):
    pred = (found * len(true))[: len(true)]
    for measure in (clustering_accuracy, nmi):
        value = answer(lambda measure=measure: measure(true, pred), also=(ValueError,))
        assert value is None or 0 <= value <= 1 + 1e-12
    matched = answer(lambda: match_clusters(true, pred), also=(ValueError,))
    assert matched is None or len(matched) == len(true)


@hostile(60)
@given(LISTS, LISTS, st.floats())
def test_paired_measures(a, b, confidence):
    pair = a, (b * len(a))[: len(a)]
    found = answer(
        lambda: paired_difference(*pair, confidence=confidence), also=(ValueError, OverflowError)
    )
    assert found is None or found.low <= found.mean <= found.high


@hostile(30)
@given(LISTS)
def test_holm(p_values):
    found = answer(lambda: holm(p_values), also=(ValueError, OverflowError))
    assert found is None or ((found >= 0) & (found <= 1)).all()
