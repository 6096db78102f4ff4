"""Generated data are unit rows with the shape they are named for; missing data are named."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import sparse

from benchmarks import generated, real
from benchmarks.cases import CASES, few_rows, quick_case

DENSE = [generated.isotropic, generated.spiked, generated.power_law, generated.clusters]


@pytest.mark.parametrize("draw", DENSE)
def test_dense_data_are_unit_rows_in_float32_and_repeat(draw):
    X = draw(50, 30)
    assert X.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(X, draw(50, 30))
    assert not np.array_equal(X, draw(50, 30, seed=1))


def test_text_is_unit_rows_without_empty_ones():
    X = generated.zipf_text(200, 500, words=20)
    assert X.has_canonical_format
    assert X.dtype == np.float32
    assert X.shape == (200, 500)
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1, atol=1e-6)
    assert 5 < X.nnz / 200 < 20
    documents = np.bincount(X.indices, minlength=500)
    assert documents[:50].sum() > documents[50:].sum()  # few words make most of a text


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_singular_values_follow_the_power_law(exponent):
    # Unit rows bend it a little, and a finite sample too.
    X = generated.power_law(4000, 40, exponent)
    values = np.linalg.svd(X, compute_uv=False)[2:30]
    slope = np.polyfit(np.log(np.arange(3, 31)), np.log(values), 1)[0]
    assert slope == pytest.approx(-exponent, abs=0.15)


def test_spikes_stand_out():
    values = np.linalg.svd(generated.spiked(2000, 60, spikes=4), compute_uv=False)
    assert values[3] > 4 * values[4]


LOADERS = (real.isolet, real.minilm, real.newsgroups_500, real.text_4000x500, real.text_4000x2000)


@pytest.mark.parametrize("load", LOADERS)
def test_missing_data_are_named_without_a_path(load, no_data, tmp_path):
    real._texts.cache_clear()
    with pytest.raises(real.MissingDataError, match="SPHERICALPCA_DATA_HOME") as caught:
        load()
    assert str(tmp_path) not in str(caught.value)


def test_few_rows_keep_unit_length():
    X = few_rows(generated.zipf_text(300, 400, words=20), 60)
    assert X.shape[0] <= 60
    assert (np.bincount(X.indices) > 1).all() or X.shape[0] < 60
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1, atol=1e-6)
    assert few_rows(np.ones((7, 2)), 60).shape == (7, 2)


def test_every_case_has_a_quick_twin():
    assert {"newsgroups-500", "newsgroups", "minilm", "isolet"} < set(CASES)
    for case in CASES.values():
        assert all(r <= 20 for r in quick_case(case).components)
    twin = quick_case(CASES["zipf-sparse"])
    assert sparse.issparse(twin.load())


@pytest.fixture
def texts(monkeypatch):
    """4,100 documents of some 30 words; w0 is in most of them, w2999 in few."""
    rng = np.random.default_rng(0)
    words = np.minimum(rng.zipf(1.2, size=(4100, 30)) - 1, 2999)
    documents = [" ".join(f"w{word}" for word in row) for row in words]
    monkeypatch.setattr(real, "_texts", lambda: documents)
    real.newsgroups_full.cache_clear()
    yield documents
    real.newsgroups_full.cache_clear()


def _lengths(X):
    return np.sqrt(np.asarray((X.multiply(X) if sparse.issparse(X) else X * X).sum(axis=1)))


def test_text_cases_are_unit_rows_of_the_promised_shape_and_type(texts):
    full, few = real.newsgroups_full(), real.newsgroups_500()
    dense, middle = real.text_4000x500(), real.text_4000x2000()
    assert full.dtype == few.dtype == np.float32
    assert dense.dtype == middle.dtype == np.float64
    assert full.shape[0] == 4100
    assert few.shape[1] == dense.shape[1] == 500
    assert dense.shape[0] <= 4000
    for X in (full, few, dense, middle):
        np.testing.assert_allclose(_lengths(X), 1, atol=1e-5)


def test_the_middle_words_are_those_after_the_200_most_frequent(texts):
    chosen = np.random.default_rng(0).choice(4100, 4000, replace=False)
    documents = Counter(word for i in chosen for word in set(texts[i].split()))
    counts = sorted(documents.values(), reverse=True)
    X = real.text_4000x2000()
    found = np.sort(np.bincount(X.indices, minlength=X.shape[1]))[::-1]
    expected = [count for count in counts[200:2200] if count > 1]
    np.testing.assert_array_equal(found, expected)


def test_the_embeddings_are_read(data_home):
    X = real.minilm()
    assert X.shape == (18846, 384)
    assert X.dtype == np.float32
    np.testing.assert_allclose(_lengths(X), 1, atol=1e-5)


def test_digits_and_isolet_are_unit_rows(data_home):
    assert real.digits().shape == (1797, 64)
    assert real.isolet().shape == (7797, 617)
    np.testing.assert_allclose(_lengths(real.isolet()), 1)
