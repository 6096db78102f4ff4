"""The mean cosine then and now."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse, stats

from sphericalpca import DataError, SphericalPCA
from sphericalpca.evaluation import check_drift


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(5)
    return rng.standard_normal((2000, 20)) * 0.8 ** np.arange(20) + 0.2


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("options", [{}, {"center": True}, {"normalize": False}], ids=str)
def test_now_is_the_models_score(X, kind, options):
    model = SphericalPCA(5, **options).fit(X)
    drift = check_drift(model, kind(X[:700]))
    np.testing.assert_allclose(drift.now, model.score(X[:700]), rtol=1e-10)
    assert drift.then == model.mean_cosine_
    interval = stats.t.interval(0.95, 699, drift.now, stats.sem(drift.cosines))
    np.testing.assert_allclose([drift.low, drift.high], interval, rtol=1e-10)


def test_rows_of_the_same_kind_have_not_drifted(X):
    model = SphericalPCA(6).fit(X[:1000])
    assert check_drift(model, X[:1000]).verdict == "none"
    assert check_drift(model, X[1000:]).verdict == "none"


def test_rows_elsewhere_have(X):
    model = SphericalPCA(6).fit(X)
    assert check_drift(model, X[:, ::-1]).verdict == "lower"
    inside = model.inverse_transform(model.transform(X))
    assert check_drift(model, inside).verdict == "higher"


def test_a_difference_that_does_not_matter_is_none(X):
    """However many rows show it."""
    model = SphericalPCA(6).fit(X)
    many = np.tile(X, (50, 1))
    model.mean_cosine_ += 0.004
    drift = check_drift(model, many)
    assert drift.high < drift.then
    assert drift.verdict == "none"
    model.mean_cosine_ += 0.004
    assert check_drift(model, many).verdict == "lower"


def test_a_few_rows_show_nothing(X):
    model = SphericalPCA(6).fit(X)
    one = check_drift(model, X[:1])
    assert (one.low, one.high, one.verdict) == (0.0, 1.0, "none")


def test_truncated_models_do_not_know(X):
    drift = check_drift(SphericalPCA(6).fit(X).truncate(3), X)
    assert math.isnan(drift.then)
    assert drift.verdict == "unknown"


def test_zero_rows_do_not_count(X):
    model = SphericalPCA(6).fit(X)
    padded = np.vstack([X, np.zeros((30, 20))])
    assert check_drift(model, padded).n_samples == len(X)
    np.testing.assert_allclose(check_drift(model, padded).now, model.mean_cosine_)
    with pytest.raises(DataError, match="No row of X has a direction"):
        check_drift(model, np.zeros((3, 20)))


def test_confidence(X):
    model = SphericalPCA(6).fit(X)
    wide, narrow = (check_drift(model, X, confidence=c) for c in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high
