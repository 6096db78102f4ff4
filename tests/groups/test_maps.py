"""Maps: unit vectors on the sphere, discs that do not overlap in the plane."""

import numpy as np

from sphericalpca.groups.page import on_plane, on_sphere
from sphericalpca.linalg import unit_rows


def data(n=600, k=6, m=10, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    V = unit_rows(np.eye(m)[labels] + 0.3 * rng.standard_normal((n, m)))[0]
    V[0], labels[0] = 0, -1
    return V, labels, rng.random(n)


def test_the_sphere_has_unit_vectors():
    V, _, _ = data()
    S = on_sphere(V)
    assert S.shape == (600, 3)
    assert np.allclose(np.linalg.norm(S[1:], axis=1), 1)
    assert not S[0].any()
    assert on_sphere(V[:, :2]).shape == (600, 3)
    assert np.array_equal(on_sphere(V), S)


def test_groups_are_discs_that_do_not_overlap():
    V, labels, cosines = data()
    points = on_plane(V, labels, cosines)
    assert np.isfinite(points).all()
    assert not points[0].any()
    centres = np.array([points[labels == k].mean(axis=0) for k in range(6)])
    inside = labels >= 0
    nearest = np.argmin(np.linalg.norm(points[:, None] - centres, axis=2), axis=1)
    assert (nearest == labels)[inside].mean() > 0.97
    for k in range(6):
        rows = np.flatnonzero(labels == k)
        far = np.linalg.norm(points[rows] - centres[k], axis=1)
        order = np.argsort(-cosines[rows])
        assert far[order[:10]].mean() < far[order[-10:]].mean()  # typical texts in the middle
    assert np.array_equal(on_plane(V, labels, cosines), points)


def test_near_groups_are_near():
    angles = np.radians([0, 5, 90, 95])
    C = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(4)])
    V = np.repeat(C, 20, axis=0)
    labels = np.repeat(np.arange(4), 20)
    points = on_plane(V, labels, np.ones(80))
    c = np.array([points[labels == k].mean(axis=0) for k in range(4)])
    far = np.linalg.norm(c[:, None] - c, axis=2)
    assert far[0, 1] + far[2, 3] < 0.9 * (far[0, 2] + far[0, 3] + far[1, 2] + far[1, 3]) / 2


def test_one_group_one_text_and_empty_groups():
    V, _labels, cosines = data()
    one = on_plane(V[:5], np.zeros(5, dtype=int), cosines[:5])
    assert np.isfinite(one).all()
    assert np.isfinite(on_plane(V[1:2], np.array([3]), cosines[:1])).all()
    assert not on_plane(V[:3], np.full(3, -1), cosines[:3]).any()
