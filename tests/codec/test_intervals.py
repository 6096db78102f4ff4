"""Intervals hold what they promise on errors like those that they were calibrated on."""

import numpy as np

from sphericalpca.codec.intervals import NEIGHBOURS, calibrate, interval


def draw(seed, queries=1500, n=4000):
    """True cosines, noisy estimates, the best of these: the winner's curse is in."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 0.2, (queries, n))
    estimates = truth + rng.normal(0, 0.1, truth.shape)
    order = np.argsort(-estimates, axis=1)[:, :NEIGHBOURS]
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
