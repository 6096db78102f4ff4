"""A reservoir represents all rows of a stream, whatever their order and batches."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from sphericalpca import SphericalPCA
from sphericalpca.rows import as_rows
from sphericalpca.solvers import reservoir
from sphericalpca.solvers.reservoir import Reservoir


def _cosines(X, U):
    X = X.toarray() if sparse.issparse(X) else X
    return np.linalg.norm(X @ U, axis=1) / np.linalg.norm(X, axis=1)


def _filled(parts, U, weights=None, place=0):
    found = Reservoir(np.empty((0, parts[0].shape[1])))
    for k, X in enumerate(parts):
        rows = as_rows(X, weight=None if weights is None else weights[k])
        w = rows.stats.weight
        mean = float(w @ np.nan_to_num(_cosines(X, U))) / w.sum()
        found, place = found.after(rows, U, cosine=mean, place=place), place + X.shape[0]
    return found


def _split(X, *ends):
    return [X[a:b] for a, b in zip((0, *ends), (*ends, X.shape[0]), strict=True)]


@pytest.mark.parametrize("order", ["sorted", "shuffled"])
def test_mean_cosine_is_right_within_three_standard_errors(order):
    data = load_digits()
    keys = data.target if order == "sorted" else np.random.default_rng(0).random(len(data.data))
    X = data.data[np.argsort(keys, kind="stable")]
    model = SphericalPCA(10)
    for a in range(0, len(X), 100):
        model.partial_fit(X[a : a + 100])
    error = _cosines(X, model.components_.T).std() / np.sqrt(reservoir.MOST_ROWS)
    allowed = 3 if order == "sorted" else 1  # what a row had when it came tells more there
    assert abs(model.mean_cosine_ - model.score(X)) < allowed * error


def test_estimates_from_a_sorted_stream_are_unbiased():
    """Other draws than the one that all streams begin with; rows came at another subspace."""
    data = load_digits()
    X = data.data[np.argsort(data.target, kind="stable")]
    then, now = (np.linalg.svd(part, full_matrices=False)[2][:3].T for part in (X[:300], X))
    parts, expected = _split(X, 400, 900, 1500), _cosines(X, now)
    draws = range(0, 60 * len(X), len(X))
    errors = [_filled(parts, then, place=k).mean_cosine(now) - expected.mean() for k in draws]
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(len(errors))
    assert np.std(errors) < expected.std() / np.sqrt(reservoir.MOST_ROWS)


def test_it_is_exact_as_long_as_all_rows_are_kept(rng, random_U):
    X, w = rng.standard_normal((200, 8)), rng.uniform(0, 2, 200)
    hollow, other = sparse.csr_array(X), random_U(8, 2, 5)
    expected = np.average(_cosines(X, other), weights=w)
    for parts in (_split(X, 50, 51), _split(hollow, 50, 51), [X[:50], hollow[50:51], X[51:]]):
        found = _filled(parts, random_U(8, 2), _split(w, 50, 51))
        assert found.mean_cosine(other) == pytest.approx(expected, rel=1e-12)
    assert sparse.issparse(_filled([hollow], other).rows)


def test_batches_do_not_matter(rng, random_U):
    X, w, U = rng.standard_normal((900, 6)), rng.uniform(0, 2, 900), random_U(6, 2)
    whole = _filled([X], U, [w])
    parts = _filled(_split(X, 1, 300, 310), U, _split(w, 1, 300, 310))
    for one, other in zip(whole[:5], parts[:5], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    other = random_U(6, 2, 3)
    assert whole.mean_cosine(other) == pytest.approx(parts.mean_cosine(other), rel=1e-12)


def test_weighted_sums_are_unbiased(rng, random_U):
    """Over many draws the estimated weight of half of the rows is their weight."""
    X, w = rng.standard_normal((2000, 3)), rng.exponential(size=2000) ** 2
    found = []
    for place in range(0, 200_000, 2000):
        one = Reservoir(np.empty((0, 3))).after(
            as_rows(X, weight=w), random_U(3, 1), cosine=0.5, place=place
        )
        first = one.rows[:, 0] > 0
        found.append(np.maximum(one.weight, one.threshold)[first].sum())
    expected = w[X[:, 0] > 0].sum()
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - expected) < 4 * error
    assert error < 0.02 * expected


def test_rows_without_weight_or_direction_are_never_kept(rng, random_U):
    X = np.vstack([rng.standard_normal((40, 4)), np.zeros((3, 4))])
    w = np.where(np.arange(43) % 2, 1.0, 0.0)
    found = Reservoir(np.empty((0, 4))).after(
        as_rows(X, weight=w), random_U(4, 1), cosine=0.5, place=0
    )
    np.testing.assert_array_equal(found.rows, X[1:40:2])


def test_wide_rows_are_fewer(rng, random_U, monkeypatch):
    monkeypatch.setattr(reservoir, "MOST_NUMBERS", 40 * 50)
    X, U = rng.standard_normal((500, 50)), random_U(50, 2)
    assert _filled(_split(X, 30, 400), U).rows.shape == (40, 50)
    hollow = sparse.random_array((500, 50), density=0.5, random_state=rng, format="csr")
    found = _filled(_split(hollow, 250), U)
    assert 70 < found.rows.shape[0] < 90
    monkeypatch.setattr(reservoir, "MOST_NUMBERS", 1)
    assert _filled([X], U).rows.shape[0] == reservoir.FEWEST_ROWS


def test_an_earlier_fit_counts_with_what_it_knew(rng):
    X = rng.standard_normal((400, 6)) * [3, 2, 1, 1, 1, 1]
    model = SphericalPCA(2).fit(X[:300])
    known = model.mean_cosine_
    model.partial_fit(X[300:])
    expected = 0.75 * known + 0.25 * model.score(X[300:])
    assert model.mean_cosine_ == pytest.approx(expected, rel=1e-9)
