"""Queries are held out fairly, ties are not errors, and intervals cover."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import DataError, open_rows
from sphericalpca.metrics.heldout import HeldOut, bisected, mean_share, smallest, take_rows


def drawn(X, count, k, seed=0):
    return HeldOut.draw(X, count, k, np.random.default_rng(seed))


@pytest.fixture
def X(rng):
    X = rng.standard_normal((120, 5))
    X[[4, 50]] = 0
    return X


def test_truth_is_the_nearest_of_the_rows_not_held_out(X, tmp_path):
    np.save(tmp_path / "dense.npy", X)
    sparse.save_npz(tmp_path / "sparse.npz", sparse.csr_array(X))
    files = [open_rows(tmp_path / name) for name in ("dense.npy", "sparse.npz")]
    for rows in (X, sparse.csr_array(X), *files):
        held = drawn(rows, 20, 3)
        assert len(held.ids) == 20
        assert held.n_base == 100
        unit = X / np.maximum(np.linalg.norm(X, axis=1), 1e-300)[:, None]
        cosines = unit[held.ids] @ unit.T
        cosines[:, held.ids] = -2
        np.testing.assert_array_equal(held.right(3)[:, :3], np.argsort(-cosines, axis=1)[:, :3])
        assert not np.isin(held.truth.ids, [*held.ids, 4, 50]).any()
        assert not np.isin(held.ids, [4, 50]).any()
    assert held.truth.ids.shape[1] > 3
    for k in (1, 3):
        # Only what ties with the last is right besides.
        assert ((held.right(k) >= 0).sum(axis=1) == k).all()


def test_rows_elsewhere(X):
    with pytest.raises(DataError, match="X is a list, but neighbours are searched in this process"):
        drawn(X.tolist(), 20, 3)


def test_at_most_a_fifth_is_held_out(X):
    held = drawn(X, 1000, 3)
    assert len(held.ids) == 23  # of 118 rows with a direction
    np.testing.assert_array_equal(np.flatnonzero(held.weight == 0), held.ids)
    assert held.weight.sum() == 97


def test_the_full_space_and_a_rotation_of_it_find_everything(X, random_U):
    held = drawn(X, 20, 10)
    for rows in (X, (X @ random_U(5, 5)).astype(np.float32)):
        for k in (1, 5, 10):
            np.testing.assert_array_equal(held.recall(held.search(rows, k), k), 1.0)


def test_copies_of_a_row_are_as_good_as_the_row(rng):
    """A search that orders equal rows in another way loses nothing."""
    X = np.repeat(rng.standard_normal((30, 6)), 8, axis=0)
    held = drawn(X, 40, 5)
    order = rng.permutation(len(X))
    place = np.argsort(order)
    moved = HeldOut(place[held.ids], held.truth, held.k, held.n_rows)
    found = order[moved.search(X[order], 5)]
    assert (found != held.search(X, 5)).any()
    np.testing.assert_array_equal(held.recall(found, 5), 1.0)


def test_too_few_rows(rng):
    """Fewer neighbours are advised only where they would do."""
    for rows, k, words in (
        (30, 25, "too few to hold out queries.*at least 32 such rows, or pass k=24"),
        (6, 1, r"too few to hold out queries.*at least 10 such rows\.$"),
        (1, 1, r"^X has 1 row that is not zero, too few"),
        (30, 0, "too few to hold out queries"),
    ):
        with pytest.raises(DataError, match=words):
            drawn(rng.standard_normal((rows, 3)), 100, k)
    assert drawn(rng.standard_normal((30, 3)), 100, 24).k == 24


def test_a_single_query_is_not_blamed_on_the_rows(rng):
    with pytest.raises(ValueError, match="queries=1 must be at least 2"):
        drawn(rng.standard_normal((300, 3)), 1, 5)


@pytest.mark.parametrize("chance", [0.5, 0.9, 0.99])
def test_intervals_cover_the_true_mean(rng, chance):
    """Hits of one query are alike, so the number of hits is not the number of trials."""
    k, n = 10, 150
    inside = 0
    for _ in range(400):
        own = rng.beta(8 * chance, 8 * (1 - chance), n)
        share = mean_share(rng.binomial(k, own) / k, k)
        inside += share.low <= chance <= share.high
    assert 0.92 <= inside / 400 <= 0.99


def test_intervals_of_agreeing_queries_are_no_points():
    for value in (0.0, 0.7, 1.0):
        share = mean_share(np.full(50, value), 10)
        assert share.mean == pytest.approx(value)
        assert 0 <= share.low <= value <= share.high <= 1
        assert 0.01 < share.high - share.low < 0.2
    assert mean_share([1.0], 10).low < 0.5


def test_more_queries_and_less_confidence_make_intervals_narrower(rng):
    few, many = (mean_share(rng.binomial(10, 0.8, n) / 10, 10) for n in (50, 5000))
    assert many.high - many.low < (few.high - few.low) / 5
    values = rng.binomial(10, 0.8, 300) / 10
    wide, narrow = (mean_share(values, 10, confidence) for confidence in (0.99, 0.8))
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high


def test_what_is_no_share_no_number_and_no_confidence(rng):
    for shares in ([], [[0.5, 0.5]], [0.5, np.nan], [0.5, np.inf], [1.5], [-0.1], 0.5):
        with pytest.raises(ValueError, match="numbers from 0 to 1"):
            mean_share(shares, 10)
    for k in (0, -1, 1.5, np.nan, "ten"):
        with pytest.raises(ValueError, match="positive integer"):
            mean_share([0.5, 0.6], k)
    for confidence in (0, 1, 1.5, -1, np.nan, "high"):
        with pytest.raises(ValueError, match="must be between 0 and 1"):
            mean_share([0.5, 0.6], 10, confidence)
    held = drawn(rng.standard_normal((60, 3)), 10, 5)
    for k in (0, 6, 2.0):  # more neighbours than were looked for
        with pytest.raises(ValueError, match="from 1 to 5"):
            held.right(k)


@pytest.mark.parametrize("least", range(3, 12))
def test_halving_finds_the_least_that_reaches(least):
    asked = []
    assert bisected(2, 11, lambda size: asked.append(size) or size >= least) == least
    assert len(asked) <= 4


@pytest.mark.parametrize("least", [1, 3, 4, 5, 17, 30, 99])
def test_doubling_and_halving_find_the_least_that_reaches_or_the_limit(least):
    asked = []
    found = smallest(lambda size: asked.append(size) or size >= least, 4, 30)
    assert found == min(least, 30)
    assert len(asked) == len(set(asked)) <= 8


def test_rows_by_their_numbers_are_copied_only_if_some_are_left_out(X):
    assert take_rows(X, np.arange(120)) is X
    np.testing.assert_array_equal(take_rows(X, np.array([1, 7])), X[[1, 7]])
