"""Generated data are unit rows with the shape they are named for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from benchmarks import generated, real
from benchmarks.cases import CASES, few_rows, quick_case


def test_dense_data_are_unit_rows_in_float32_and_repeat():
    for draw in (generated.isotropic, generated.spiked, generated.power_law, generated.clusters):
        X = draw(50, 30)
        assert X.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, atol=1e-6)
        np.testing.assert_array_equal(X, draw(50, 30))
        assert not np.array_equal(X, draw(50, 30, seed=1))
    values = np.linalg.svd(generated.spiked(2000, 60, spikes=4), compute_uv=False)
    assert values[3] > 4 * values[4]
    # Unit rows bend the power law a little, and a finite sample too.
    values = np.linalg.svd(generated.power_law(4000, 40, 0.5), compute_uv=False)[2:30]
    slope = np.polyfit(np.log(np.arange(3, 31)), np.log(values), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.15)


def test_text_is_unit_rows_without_empty_ones():
    X = generated.zipf_text(200, 500, words=20)
    assert X.has_canonical_format
    assert (X.dtype, X.shape) == (np.float32, (200, 500))
    np.testing.assert_allclose(_lengths(X), 1, atol=1e-6)
    assert 5 < X.nnz / 200 < 20
    documents = np.bincount(X.indices, minlength=500)
    assert documents[:50].sum() > documents[50:].sum()  # few words make most of a text
    few = few_rows(X, 60)
    assert few.shape[0] <= 60
    assert (np.bincount(few.indices) > 1).all() or few.shape[0] < 60
    np.testing.assert_allclose(_lengths(few), 1, atol=1e-6)
    assert few_rows(np.ones((7, 2)), 60).shape == (7, 2)


def test_every_case_has_a_quick_twin():
    assert {"newsgroups-500", "newsgroups", "minilm", "isolet"} < set(CASES)
    for case in CASES.values():
        assert all(r <= 20 for r in quick_case(case).components)
    twin = quick_case(CASES["zipf-sparse"])
    assert sparse.issparse(twin.load())


def _lengths(X):
    return np.sqrt(np.asarray((X.multiply(X) if sparse.issparse(X) else X * X).sum(axis=1)))


def test_real_data_are_unit_rows(data_home):
    shapes = {real.minilm: (18846, 384), real.digits: (1797, 64), real.isolet: (7797, 617)}
    for load, shape in shapes.items():
        assert load().shape == shape
        np.testing.assert_allclose(_lengths(load()), 1, atol=1e-5)
