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


@pytest.mark.parametrize("options", [{}, {"center": True}, {"normalize": False}], ids=str)
def test_now_is_the_models_score(X, options):
    model = SphericalPCA(5, **options).fit(X)
    for rows in (X[:700], sparse.csr_array(X[:700])):
        drift = check_drift(model, rows)
        np.testing.assert_allclose(drift.now, model.score(X[:700]), rtol=1e-10)
        assert drift.then == model.mean_cosine_
        interval = stats.t.interval(0.95, 699, drift.now, stats.sem(drift.cosines))
        np.testing.assert_allclose([drift.low, drift.high], interval, rtol=1e-10)


def test_rows_of_the_same_kind_have_not_drifted_and_rows_elsewhere_have(X):
    model = SphericalPCA(6).fit(X[:1000])
    assert check_drift(model, X[:1000]).verdict == "none"
    assert check_drift(model, X[1000:]).verdict == "none"
    assert check_drift(model, X[:, ::-1]).verdict == "lower"
    inside = model.inverse_transform(model.transform(X))
    assert check_drift(model, inside).verdict == "higher"


def test_a_difference_that_does_not_matter_is_none(X):
    """However many rows show it."""
    many = np.tile(X, (25, 1))
    model = SphericalPCA(6).fit(many)
    model.mean_cosine_ += 0.004
    drift = check_drift(model, many)
    assert drift.margin < 0.004
    assert drift.verdict == "none"
    model.mean_cosine_ += 0.004
    assert check_drift(model, many).verdict == "lower"


def test_the_rows_of_the_fit_were_a_sample_too(X):
    """Many rows now do not make it certain what the mean was then."""
    few, many = SphericalPCA(6).fit(X[:50]), SphericalPCA(6).fit(X)
    wide, narrow = (check_drift(model, X).margin for model in (few, many))
    assert wide > 4 * narrow


@pytest.fixture(scope="module")
def isotropic():
    return np.random.default_rng(3).standard_normal((4200, 24))


@pytest.mark.parametrize(
    ("n_then", "n_now", "center"),
    [(200, 4000, False), (1500, 1500, True), (3800, 400, False), (300, 60, True)],
)
def test_new_rows_without_structure_have_not_drifted(isotropic, n_then, n_now, center):
    """All that a fit finds in them is accident: other rows lose far more than chance explains."""
    model = SphericalPCA(4, tol=1e-3, center=center).fit(isotropic[:n_then])
    drift = check_drift(model, isotropic[n_then : n_then + n_now])
    assert drift.then - drift.now > 0.012
    assert drift.optimism > 0.6 * (drift.then - drift.now)
    assert drift.verdict == "none"


def test_false_alarms_are_rare():
    """At most one in forty is expected, and that at the worst; without the optimism it is all."""
    rng = np.random.default_rng(0)
    verdicts, fallen = [], 0
    for _ in range(15):
        model = SphericalPCA(2, tol=1e-3).fit(rng.standard_normal((150, 10)))
        drift = check_drift(model, rng.standard_normal((300, 10)))
        verdicts.append(drift.verdict)
        fallen += drift.high < drift.then
    assert fallen > 12
    assert verdicts.count("lower") <= 2


@pytest.mark.parametrize(("n_then", "n_now"), [(200, 4000), (2000, 2000), (3800, 400)])
def test_true_drift_goes_beyond_what_every_fit_loses(isotropic, n_then, n_now):
    """Rows with structure, and later ones that have it elsewhere."""
    stretched = isotropic * np.where(np.arange(24) < 4, 3.0, 1.0)
    model = SphericalPCA(4).fit(stretched[:n_then])
    now = stretched[n_then : n_then + n_now]
    assert check_drift(model, now).verdict == "none"
    turned = np.linalg.qr(np.eye(24) + 0.1 * np.random.default_rng(0).standard_normal((24, 24)))[0]
    drift = check_drift(model, now @ turned)
    assert drift.verdict == "lower"
    assert 0 < drift.optimism < drift.then - drift.now


def test_too_few_rows_to_know_what_is_to_be_expected(isotropic):
    model = SphericalPCA(12).fit(isotropic[:20])
    drift = check_drift(model, isotropic[20:40])
    assert math.isnan(drift.optimism)
    assert drift.verdict == "unknown"


def test_rows_without_a_direction_take_no_part_in_it(isotropic):
    model = SphericalPCA(3, tol=1e-3).fit(isotropic[:300])
    now = isotropic[300:900]
    padded = np.vstack([np.zeros((40, 24)), now])
    with_zeros, without = check_drift(model, padded), check_drift(model, now)
    assert with_zeros.verdict == without.verdict == "none"
    np.testing.assert_allclose(with_zeros.optimism, without.optimism, rtol=0.3)


def test_one_row_shows_nothing_and_zero_rows_do_not_count(X):
    model = SphericalPCA(6).fit(X)
    one = check_drift(model, X[:1])
    assert (one.low, one.high, one.verdict) == (0.0, 1.0, "none")
    padded = check_drift(model, np.vstack([X, np.zeros((30, 20))]))
    assert padded.n_samples == len(X)
    np.testing.assert_allclose(padded.now, model.mean_cosine_)
    with pytest.raises(DataError, match="No row of X has a direction"):
        check_drift(model, np.zeros((3, 20)))


def test_truncated_models_do_not_know(X):
    drift = check_drift(SphericalPCA(6).fit(X).truncate(3), X)
    assert math.isnan(drift.then)
    assert drift.verdict == "unknown"


def test_confidence(X):
    """An interval from NaN to NaN was returned for an invalid confidence."""
    model = SphericalPCA(6).fit(X)
    wide, narrow = (check_drift(model, X, confidence=c) for c in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high
    for confidence in (0, 1, 2, -1, math.nan, "high"):
        with pytest.raises(ValueError, match="must be between 0 and 1"):
            check_drift(model, X, confidence=confidence)


def test_models_of_files_that_do_not_tell_how_many_rows(X):
    """Files of earlier versions hold no number of rows: then it is taken for that of X."""
    model, told = SphericalPCA(6).fit(X[:1000]), SphericalPCA(6).fit(X[:1000])
    model.n_samples_ = math.nan
    for rows in (X[:1000], X[1000:], X[:1000, ::-1]):
        found, expected = check_drift(model, rows), check_drift(told, rows)
        assert found.verdict == expected.verdict
        assert found.margin == pytest.approx(expected.margin, rel=0.1)
