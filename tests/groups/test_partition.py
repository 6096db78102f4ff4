"""Votes, nearest centres, trees and drift."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from sphericalpca import TextClusters
from sphericalpca.groups import partition
from sphericalpca.linalg import unit_rows
from sphericalpca.parallel import parallel


def rows(n=300, k=3, m=8, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    return unit_rows(np.eye(m)[labels] + noise * rng.standard_normal((n, m)))[0], labels


def test_a_sample_finds_what_all_rows_find(monkeypatch):
    Z, labels = rows(noise=0.1)
    whole = partition.find_centres(Z, Z, 3, np.random.default_rng(0))
    monkeypatch.setattr(partition, "SAMPLE", 60)
    monkeypatch.setattr(partition, "SAMPLE_PER_GROUP", 1)
    sampled = partition.find_centres(Z, Z, 3, np.random.default_rng(0))
    for centres in (whole, sampled):
        found = (Z @ centres.T).argmax(axis=1)
        assert len({*zip(found.tolist(), labels.tolist(), strict=True)}) == 3
    assert np.allclose(np.sort(whole @ sampled.T, axis=1)[:, -1], 1)


def test_centres_are_where_spherical_k_means_stays():
    Z, _ = rows(noise=0.5)
    centres = partition.find_centres(Z, Z, 3, np.random.default_rng(0))
    labels = (Z @ centres.T).argmax(axis=1)
    means = unit_rows(np.array([Z[labels == k].sum(axis=0) for k in range(3)]))[0]
    assert np.einsum("ij,ij->i", means, centres).min() > 0.999


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nearest_does_not_depend_on_what_comes_after(dtype):
    Z = rows(9000, noise=0.6)[0].astype(dtype)
    C = unit_rows(np.random.default_rng(1).standard_normal((5, 8)))[0]
    groups = np.arange(5, dtype=np.int32)
    with parallel(parts=partition.PARTS):
        whole = partition.nearest(Z, C, groups)
        start = partition.nearest(Z[:5000], C, groups)
    assert all(np.array_equal(a[:4096], b[:4096]) for a, b in zip(whole, start, strict=True))
    ordered = np.argsort(-(Z @ C.T.astype(dtype)), axis=1)
    assert np.array_equal(whole.labels, ordered[:, 0])
    assert np.array_equal(whole.second, ordered[:, 1])


def test_rows_without_a_direction_are_in_no_group():
    found = partition.nearest(np.zeros((2, 3)), np.eye(3), np.arange(3))
    assert found.labels.tolist() == found.second.tolist() == [-1, -1]
    assert not found.cosines.any()
    assert not found.margins.any()


def test_the_tree_is_of_angles_and_is_cut_where_it_says():
    C = unit_rows(np.random.default_rng(0).standard_normal((7, 5)))[0]
    model = TextClusters(7, vectorizer="passthrough").fit(np.repeat(C, 3, axis=0))
    tree, angles = (
        partition.centre_tree(model),
        np.degrees(np.arccos(np.clip(1 - pdist(C, "cosine"), -1, 1))),
    )
    assert tree[0, 2] == pytest.approx(angles.min())
    for count in range(1, 8):
        groups = model.merge(count).merged_
        assert len(set(groups)) == count
        first = [groups.tolist().index(group) for group in range(count)]
        assert first == sorted(first)


def test_drift_is_nothing_for_the_fitted_texts_and_much_for_others(clusters, corpus, make_topics):
    own = partition.drift(clusters.nearest_, clusters)
    assert own["mean_cosine"] == own["first_mean_cosine"]
    assert own["below"] <= 0.05
    assert own["moved"] == 0
    few = partition.drift(
        clusters.assign([t for t, y in zip(*corpus, strict=True) if y == 0]), clusters
    )
    share = (corpus[1] == 0).mean()
    assert few["moved"] == pytest.approx(1 - share)
    noise = [" ".join(t.split()[-3:]) for t in make_topics(seed=5)[0]]
    other = partition.drift(clusters.assign(noise), clusters)
    assert other["below"] > 0.5
    assert other["mean_cosine"] < own["mean_cosine"]
