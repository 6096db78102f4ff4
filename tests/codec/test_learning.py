"""From rows to levels: what is sampled and held out, bits by water-filling, bytes alike."""

import numpy as np
import pytest
from scipy import sparse

from sphericalpca.codec import learning
from sphericalpca.codec.learning import (
    RANKS,
    _parts,
    calibrate,
    exact_cosines,
    ideal_bits,
    importance,
    interval,
    learn,
    pack,
    project,
    sample,
)
from tests.codec.conftest import clustered


def test_a_sample_has_rows_and_their_weights(monkeypatch):
    monkeypatch.setattr(learning, "MOST_ROWS", 50)
    monkeypatch.setattr(learning, "FEWEST_ROWS", 10)
    X = np.arange(1000.0)[:, None] + np.zeros((1, 2))
    rows, weight = sample(X, np.arange(1000.0), np.random.default_rng(0))
    assert rows.shape == (75, 2)
    np.testing.assert_array_equal(rows[:, 0], weight)
    rows, weight = sample(sparse.csr_array(X), None, np.random.default_rng(0))
    assert rows.shape == (75, 2)
    assert (weight == 1).all()


def test_projections_of_unit_rows_and_their_directions():
    X = clustered(30, 8).astype(np.float32)
    X[3] = 0
    Y, V = project(X, np.eye(8)[:, :5])
    assert Y.dtype == V.dtype == np.float64
    assert not V[3].any()
    rest = np.delete(np.arange(30), 3)
    np.testing.assert_allclose(np.linalg.norm(V[rest], axis=1), 1)
    lengths = np.linalg.norm(X[rest], axis=1, keepdims=True)
    np.testing.assert_allclose(Y[rest], X[rest, :5] / lengths, atol=1e-6)


def test_held_out_rows_have_larger_errors_than_those_trained_on():
    X = clustered(2500, 20)
    known = X, np.ones(2500), np.eye(20)
    fitted, counts = learn(*known, 6, np.random.default_rng(0), n=2500, choose=False)
    V, quantiser = project(X, fitted["components_"].T)[1], fitted["_quantiser"]
    decoded = quantiser.decode(quantiser.encode(V))
    assert fitted["distortion_"] > (2 - 2 * (V * decoded).sum(axis=1)).mean()
    assert len(fitted["bits_"]) == 20
    assert counts.tolist() == [255, *[256] * 5]
    fewer, _ = learn(*known, 2, np.random.default_rng(0), n=2500, choose=True)
    assert len(fewer["bits_"]) < 20


def test_exact_cosines_of_arrays_and_sparse_matrices():
    X = clustered(40, 6)
    ids = np.random.default_rng(0).integers(40, size=(5, 7))
    U = X / np.linalg.norm(X, axis=1)[:, None]
    expected = np.einsum("ij,ikj->ik", U[:5], U[ids])
    for matrix in (X, sparse.csr_array(X)):
        np.testing.assert_allclose(exact_cosines(matrix[:5], matrix, ids), expected)
    assert exact_cosines(X[:1], X, np.empty((1, 0), int)).shape == (1, 0)
    assert expected.max() == pytest.approx(1, abs=1)


def test_bits_make_errors_equal_and_leave_out_what_is_small():
    variance = np.array([8.0, 1.0, 4.0, 1e-9, 0.0])
    bits = ideal_bits(variance, 12)
    assert bits.sum() == pytest.approx(12)
    np.testing.assert_allclose((variance / 4**bits)[:3], (variance / 4**bits)[0])
    assert (bits[3:] == 0).all()
    assert ideal_bits(np.zeros(3), 6) == pytest.approx([2, 2, 2])


def test_every_byte_holds_whole_components_and_about_as_many_bits():
    bits = np.random.default_rng(0).gamma(1.0, 2.0, 60)
    packing = pack(bits, 15)
    carried = np.bincount(packing, weights=bits, minlength=15)
    assert carried.min() > 0
    # A byte is never given more than the emptiest had, and one component.
    assert carried.max() - carried.min() <= bits.max()
    np.testing.assert_array_equal(np.sort(pack(np.zeros(4), 4)), np.arange(4))


def test_errors_count_where_neighbours_differ():
    # Groups far apart along the first columns, noise along the last.
    rng = np.random.default_rng(0)
    X = np.hstack([rng.choice([-1.0, 1.0], (2000, 4)), 0.3 * rng.standard_normal((2000, 4))])
    counts = importance(X / np.linalg.norm(X, axis=1, keepdims=True))
    assert counts.mean() == pytest.approx(1)
    assert counts[:4].max() < counts[4:].min()
    assert (importance(clustered(20, 5)) == 1).all()
    assert (importance(np.tile([[1.0, 0.0]], (500, 1))) == 1).all()


def draw(seed, queries=1500, n=4000):
    """True cosines, noisy estimates, the best of these: the winner's curse is in."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 0.2, (queries, n))
    estimates = truth + rng.normal(0, 0.1, truth.shape)
    order = np.argsort(-estimates, axis=1)[:, : RANKS[-1]]
    return np.take_along_axis(estimates, order, 1), np.take_along_axis(truth, order, 1)


def test_coverage_by_rank_and_in_all():
    table = calibrate(*draw(0), 4000)
    estimates, truth = draw(1)
    lower, upper = interval(table, estimates, 4000)
    covered = (lower <= truth) & (truth <= upper)
    assert 0.94 < covered.mean() < 0.96
    assert 0.93 < covered[:, 0].mean() < 0.97
    plain = np.abs(estimates - truth)[:, 0]
    assert (plain > 0.196).mean() > 0.06, "without a calibration by rank it would be less"


def test_ranks_count_as_a_share_of_all_rows():
    table = calibrate(*draw(0), 4000)
    estimates, truth = draw(2, n=16_000)
    lower, upper = interval(table, estimates[:, :10], 16_000)
    covered = (lower <= truth[:, :10]) & (truth[:, :10] <= upper)
    assert 0.93 < covered.mean() < 0.97


def test_no_neighbours_give_a_table_all_the_same():
    table = calibrate(np.empty((3, 0)), np.empty((3, 0)), 1)
    lower, upper = interval(table, np.full((2, 1), 0.5), 1)
    assert (lower == 0.5).all()
    assert (upper == 0.5).all()


def test_cosines_do_not_depend_on_lengths():
    X = clustered(40, 6).astype(np.float32)
    ids = np.random.default_rng(0).integers(40, size=(5, 7))
    expected = exact_cosines(X[:5], X, ids)
    for scale in (1e-30, 1e30):  # where squares are not numbers
        scaled = X * np.float32(scale)
        np.testing.assert_allclose(exact_cosines(scaled[:5], scaled, ids), expected, atol=1e-6)


def test_neighbours_are_looked_for_among_as_many_trained_rows_as_there_are_in_all():
    for n, sampled in ((60_000, 1.0), (60_000, 0.25), (30_000, 1.0), (2000, 1.0), (5000, 0.01)):
        aside, trained, others = _parts(np.arange(n), sampled, np.random.default_rng(0))
        assert not np.isin(aside, trained).any()
        assert not np.isin(aside, others).any()
        share = np.isin(others, trained).mean()
        expected = len(trained) / (n / sampled - len(aside))
        if len(trained) + len(aside) < n or sampled == 1:
            assert share == pytest.approx(expected, abs=1e-3)
        assert len(others) >= min(n - len(aside), 4096)
        assert len(aside) >= min(n // 10, 1000)
