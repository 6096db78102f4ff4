"""Where texts are drawn: on the sphere of three components, and in a plane with room for all.

In the plane a group is a disc whose area is its share.  Near discs are near in angle, typical texts
are in the middle of theirs, and a text lies towards the groups that it is nearest to.
"""

from __future__ import annotations

import numpy as np

from sphericalpca.estimators.spherical_pca import SphericalPCA
from sphericalpca.exceptions import NoDirectionWarning, silently
from sphericalpca.groups.partition import directions
from sphericalpca.linalg import Array, Labels, fix_signs, unit_rows

__all__ = ["on_plane", "on_sphere"]

# Rows that three components are fitted to.
FITTED = 20_000
# How strongly a text is drawn to the groups that are near to it.
PULL = 8.0


def on_sphere(V: Array) -> Array:
    """Unit vectors in three dimensions of unit vectors in more; zero rows stay zero."""
    some = V[:: -(-len(V) // FITTED)]
    model = SphericalPCA(min(3, *some.shape), tol=1e-3, random_state=0)
    with silently(NoDirectionWarning):
        found = model.fit(some).transform(V)
    return np.pad(found, ((0, 0), (0, 3 - found.shape[1])))


def on_plane(V: Array, labels: Labels, cosines: Array) -> Array:
    """Points in two dimensions for unit vectors V with groups; (0, 0) without a group."""
    inside = [np.flatnonzero(labels == group) for group in range(labels.max(initial=0) + 1)]
    C, radii = directions(V, labels, len(inside)), np.sqrt([len(r) / len(V) for r in inside])
    U, lengths, _ = np.linalg.svd(np.pad(C - C.mean(axis=0), ((0, 2), (0, 2))))
    anchors = _apart(fix_signs(U[: len(C), :2]) * lengths[:2], radii)
    points = np.zeros((len(V), 2))
    for group, rows in enumerate(inside):
        near = np.exp(PULL * (V[rows] @ C.T))
        near[:, group] = 0
        towards = near @ anchors / np.maximum(near.sum(axis=1, keepdims=True), 1e-9)
        rank = np.argsort(np.argsort(-cosines[rows], kind="stable"))
        lengths = radii[group] * np.sqrt((rank + 0.5) / max(len(rows), 1))
        points[rows] = anchors[group] + lengths[:, None] * _round(towards)
    return points


def _round(points: Array) -> Array:
    """Directions from the middle of the points, as many to each side."""
    centred = np.round(points - points.sum(axis=0) / max(len(points), 1), 9)  # no rounding errors
    values, axes = np.linalg.eigh(centred.T @ centred)
    return unit_rows(centred @ axes / np.sqrt(np.maximum(values, 1e-12)) @ axes.T)[0]


def _apart(anchors: Array, radii: Array) -> Array:
    """Discs of these radii that do not overlap, drawn together as far as they can be."""
    turn = 2.4 * np.arange(len(radii))  # a spiral, where centres fall together
    points = anchors + 1e-3 * np.column_stack([np.cos(turn), np.sin(turn)])
    needed = 1.06 * (radii[:, None] + radii)
    for step in range(2000):
        gaps = points[:, None] - points
        distances = np.maximum(np.linalg.norm(gaps, axis=2), 1e-9)
        pushed = np.einsum("ij,ijk->ik", np.maximum(needed / distances - 1, 0), gaps)
        points = (0.99 if step % 4 == 0 else 1) * points + 0.25 * pushed
    return points
