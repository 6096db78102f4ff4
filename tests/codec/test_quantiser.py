"""Levels of all bytes: the nearest by brute force, k-means, codes, what they decode to, search."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from sphericalpca.codec.quantiser import LEVELS, ZERO, Quantiser, kmeans
from tests.codec.conftest import clustered


def trained(n=2000, r=10, n_bytes=4):
    V = clustered(n, r)
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    packing = np.sort(np.arange(r) % n_bytes)
    rng = np.random.default_rng(0)
    return V, Quantiser.train(V, np.ones(n), np.ones(r), packing, rng)[0]


@pytest.mark.parametrize("sizes", [(1,), (3, 1, 9), (2,) * 40])
def test_the_nearest_level_of_each_byte(sizes, kernels):
    rng = np.random.default_rng(0)
    ends, r = np.concatenate([[0], np.cumsum(sizes)]), sum(sizes)
    levels = rng.standard_normal((LEVELS, r)).astype(np.float32)
    importance = rng.uniform(0.5, 2, r).astype(np.float32)
    packing = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.standard_normal((500, r))
    codes = Quantiser(packing, importance, levels).nearest(X)
    for b in range(len(sizes)):
        part = slice(ends[b], ends[b + 1])
        gaps = X[:, None, part] - levels[None, :, part].astype(np.float64)
        distance = (importance[part] * gaps**2).sum(axis=2)
        np.testing.assert_array_equal(codes[:, b], distance.argmin(axis=1))


def test_of_equal_levels_the_first_is_taken(kernels):
    levels = np.ones((LEVELS, 1), dtype=np.float32)
    levels[:4, 0] = [1, -1, 0.5, -0.5]
    found = Quantiser(np.array([0]), np.ones(1, np.float32), levels)
    # Equally far from 0.5 and from -0.5, despite rounding; the rest are copies of the first.
    X = np.array([[0.0], [1e-17], [-1e-17], [0.75], [-0.75], [2.0]])
    np.testing.assert_array_equal(found.nearest(X).ravel(), [2, 2, 2, 0, 1, 0])


@pytest.mark.parametrize("d", [1, 2, 4])
def test_k_means_is_about_as_good_as_that_of_scikit_learn(d, kernels):
    X = clustered(4000, d).astype(np.float32)
    centres = kmeans(X, np.ones(len(X)), 256, 0)
    gaps = ((X[:, None] - centres[None]) ** 2).sum(axis=2).min(axis=1).sum()
    theirs = KMeans(256, n_init=1, max_iter=12, random_state=0).fit(X).inertia_
    assert gaps < 1.1 * theirs


def test_few_distinct_rows_are_the_levels_whatever_their_order():
    X = np.repeat(clustered(30, 3).astype(np.float32), 9, axis=0)
    weight, order = np.ones(len(X)), np.random.default_rng(0).permutation(len(X))
    first = kmeans(X, weight, 256, 0)
    again = kmeans(X[order], weight, 256, 1)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_allclose(first, np.unique(X, axis=0), atol=1e-6)
    weight[:9] = 0
    assert len(kmeans(X, weight, 256, 0)) == 29


def test_a_level_is_its_own_code_and_zero_has_one_that_is_no_level(kernels):
    _, quantiser = trained()
    levels = quantiser.levels[:ZERO].astype(np.float64)
    np.testing.assert_array_equal(quantiser.encode(levels), np.tile(np.arange(255)[:, None], 4))
    zero = quantiser.encode(np.zeros((1, 10)))
    assert zero.tolist() == [[ZERO, 0, 0, 0]]
    assert not quantiser.decode(zero).any()


def test_squared_lengths_of_levels_add_up_to_those_of_what_is_not_yet_scaled():
    V, quantiser = trained()
    codes = quantiser.encode(V[:50])
    raw = quantiser.levels[codes[:, quantiser.packing], np.arange(10)]
    squares = quantiser.squares[np.arange(4), codes].sum(axis=1)
    np.testing.assert_allclose(squares, (raw**2).sum(axis=1), rtol=1e-6)


@pytest.mark.parametrize("queries", [1, 8, 11])
@pytest.mark.parametrize("k", [1, 5, 3000])
def test_search_is_sorting_all_cosines(queries, k, kernels):
    V, quantiser = trained()
    codes = np.tile(quantiser.encode(V), (5, 1))  # with ties, which go to the first row
    ids, found = quantiser.search(V[:queries], codes, k)
    scores = V[:queries] @ quantiser.decode(codes).T
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    np.testing.assert_allclose(found, np.take_along_axis(scores, order, 1), atol=1e-6)
    for line, values in zip(ids, found, strict=True):
        assert (np.diff(line[values == values[0]]) > 0).all()
        assert line[0] < len(V) or kernels == "plain", "decoded rows are equal up to rounding"
        assert len(set(line.tolist())) == k
