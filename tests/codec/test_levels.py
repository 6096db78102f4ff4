"""The nearest level, by brute force; and levels by k-means."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from sphericalpca.codec.levels import LEVELS, Assignment, kmeans
from tests.codec.conftest import clustered


@pytest.mark.parametrize("sizes", [(1,), (3, 1, 9), (2,) * 40])
def test_the_nearest_level_of_each_byte(sizes, kernels):
    rng = np.random.default_rng(0)
    ends, r = np.concatenate([[0], np.cumsum(sizes)]), sum(sizes)
    levels = rng.standard_normal((LEVELS, r)).astype(np.float32)
    importance = rng.uniform(0.5, 2, r)
    counts = rng.integers(3, 257, len(sizes))
    X = rng.standard_normal((500, r))
    codes = Assignment.of(levels, importance, ends, counts).codes(X * importance)
    for b, count in enumerate(counts):
        part = slice(ends[b], ends[b + 1])
        gaps = X[:, None, part] - levels[None, :count, part].astype(np.float64)
        distance = (importance[part] * gaps**2).sum(axis=2)
        np.testing.assert_array_equal(codes[:, b], distance.argmin(axis=1))


def test_of_equal_levels_the_first_is_taken(kernels):
    levels = np.zeros((LEVELS, 1), dtype=np.float32)
    levels[:4, 0] = [1, -1, 0.5, -0.5]
    found = Assignment.of(levels, np.ones(1), np.array([0, 1]), np.array([4]))
    # As far from 0.5 and from -0.5, whatever rounding says.
    X = np.array([[0.0], [1e-17], [-1e-17], [0.75], [-0.75]])
    np.testing.assert_array_equal(found.codes(X).ravel(), [2, 2, 2, 0, 1])


def test_k_means_is_about_as_good_as_that_of_scikit_learn(kernels):
    X = clustered(4000, 4).astype(np.float32)
    weight = np.ones(len(X))
    centres = kmeans(X, weight, np.ones(4, np.float32), 256, np.random.default_rng(0))
    gaps = ((X[:, None] - centres[None]) ** 2).sum(axis=2).min(axis=1).sum()
    theirs = KMeans(256, n_init=1, max_iter=12, random_state=0).fit(X).inertia_
    assert gaps < 1.1 * theirs


def test_few_distinct_rows_are_the_levels_whatever_their_order():
    X = np.repeat(clustered(30, 3).astype(np.float32), 9, axis=0)
    weight, one = np.ones(len(X)), np.ones(3, np.float32)
    order = np.random.default_rng(0).permutation(len(X))
    first = kmeans(X, weight, one, 256, np.random.default_rng(0))
    assert first.shape == (30, 3)
    np.testing.assert_array_equal(
        first, kmeans(X[order], weight, one, 256, np.random.default_rng(1))
    )
    weight[:9] = 0
    assert len(kmeans(X, weight, one, 256, np.random.default_rng(0))) == 29
