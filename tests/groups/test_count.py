"""The number of groups is found where there are groups, and the curve says how surely."""

import numpy as np
import pytest

from sphericalpca import TextClusters
from sphericalpca.groups.partition import choose_count
from sphericalpca.linalg import unit_rows


def directions(k, seed, n=1500, m=60, noise=1.0):
    rng = np.random.default_rng(seed)
    centres = unit_rows(rng.standard_normal((k, m)))[0]
    X = centres[rng.integers(k, size=n)] + noise * rng.standard_normal((n, m)) / np.sqrt(m)
    return unit_rows(X)[0]


REPEATED = pytest.mark.slow("a whole experiment")


@pytest.mark.parametrize(
    "k", [pytest.param(3, marks=REPEATED), 5, pytest.param(20, marks=REPEATED)]
)
def test_generated_numbers_are_found_within_one(k):
    found = [choose_count(directions(k, seed), np.random.default_rng(0))[0] for seed in range(3)]
    assert sum(abs(count - k) <= 1 for count in found) >= 2, found


def test_topics_are_counted_and_the_curve_peaks_there(make_topics):
    model = TextClusters("auto").fit(make_topics(5, 800)[0])
    k = len(model.sizes_)
    assert abs(k - 5) <= 1
    best = max(model.curve_, key=lambda point: point[1])
    assert best[0] == k
    assert all(low <= score <= high for _, score, low, high in model.curve_)
    assert [point[0] for point in model.curve_] == list(range(2, 31))


def test_rows_without_groups_score_about_nothing():
    """The null model takes away what few groups agree on for no reason."""
    X = unit_rows(np.random.default_rng(0).standard_normal((1500, 30)) + 0.5)[0]
    _, curve = choose_count(X, np.random.default_rng(1))
    assert max(score for _, score, _, _ in curve) < 0.3
    with_groups = choose_count(directions(5, 0), np.random.default_rng(1))[1]
    assert max(score for _, score, _, _ in with_groups) > 0.5


def test_the_same_seed_gives_the_same_curve_and_few_rows_give_none():
    X = directions(4, 0, n=400)
    curves = [choose_count(X, np.random.default_rng(3))[1] for _ in range(2)]
    assert curves[0] == curves[1]
    assert choose_count(X[:9], np.random.default_rng(0)) == (1, [])
    assert choose_count(X[:40], np.random.default_rng(0))[0] >= 2
