"""Lloyd's iteration with cosines in place of distances, the algorithm of spherical k-means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import kmeans_plusplus

from sphericalpca.linalg import Array, Labels, unit_rows
from sphericalpca.products import times
from sphericalpca.rows import Block, Matrix, Rows, as_rows, dense

__all__ = ["Assignment", "Clustering", "Labels", "assign", "lloyd", "starts", "unit_copy"]

# A sum of unit vectors this short, relative to their number, has no direction; a cosine
# this close to 1 counts as 1.
ROUNDING = 64 * np.finfo(np.float32).eps


@dataclass(frozen=True)
class Assignment:
    """The centre nearest in angle to each row."""

    centers: Array  # shape (k, m)
    labels: Labels
    cosines: Array  # float64, shape (n,)
    sums: Array  # weighted sums of each cluster's unit rows, float64, shape (k, m)
    inertia: float  # sum_j w_j (1 - cosine_j)


@dataclass(frozen=True)
class Clustering:
    """The result of a run, the inertia after each iteration, and its last relative decrease."""

    last: Assignment
    inertias: Array
    decrease: float
    converged: bool


def unit_copy(X: Matrix, rows: Rows) -> tuple[Matrix, Array]:
    """Copy rows that have a direction and a weight, scaled; `rows` was made from X."""
    useful = rows.stats.weight > 0
    X, scale = X[useful], rows.stats.scale[useful].astype(X.dtype)
    Z = sparse.diags_array(scale) @ X if sparse.issparse(X) else X * scale[:, None]
    return Z, rows.stats.weight[useful]


def starts(
    Z: Matrix, weight: Array, n_clusters: int, n_init: int, rng: np.random.Generator
) -> Iterator[Array]:
    """Centres by k-means++; squared distances between unit rows are 2 - 2 cosine."""
    share = weight / weight.max()
    for seed in rng.integers(2**31, size=n_init):
        found, _ = kmeans_plusplus(Z, n_clusters, sample_weight=share, random_state=int(seed))
        yield dense(found)


def lloyd(Z: Matrix, weight: Array, centers: Array, *, tol: float, max_iter: int) -> Clustering:
    """Move centres to the mean directions of clusters of unit rows Z until little changes."""
    rows = as_rows(Z, weight=weight, normalize=False)
    found = assign(rows, centers)
    inertias: list[float] = []
    converged = False
    while not converged and len(inertias) < max_iter:
        before, found = found, assign(rows, _renewed(Z, found, weight))
        inertias.append(found.inertia)
        decrease = (before.inertia - found.inertia) / (before.inertia or 1.0)
        # A cluster that has just become empty will restart, and lower the inertia.
        slow = decrease <= tol and len(np.unique(found.labels)) == len(centers)
        converged = slow or np.array_equal(before.labels, found.labels)
    return Clustering(found, np.array(inertias), decrease, converged)


def assign(rows: Rows, centers: Array) -> Assignment:
    """The nearest centre of every row, in one pass; a row without direction has cosine 0."""
    n = rows.shape[0]
    centers = centers.astype(rows.dtype, copy=False)
    labels, cosines = np.zeros(n, dtype=np.int32), np.zeros(n)
    (sums,) = rows.sweep(partial(_assign, centers=centers, labels=labels, cosines=cosines))
    inertia = float(rows.stats.weight @ np.maximum(1.0 - cosines, 0.0))
    return Assignment(centers, labels, cosines, sums.T, inertia)


def _assign(block: Block, centers: Array, labels: Labels, cosines: Array) -> tuple[Any, ...]:
    products = block.project(centers.T)
    each, best = np.arange(len(products)), products.argmax(axis=1)
    labels[block.span], cosines[block.span] = best, products[each, best]
    products[:] = 0
    products[each, best] = 1
    return (block.correlate(products, overwrite=True),)


def _renewed(Z: Matrix, found: Assignment, weight: Array) -> Array:
    """Mean directions; an empty cluster restarts at the row farthest from its centre."""
    k = len(found.centers)
    total = np.bincount(found.labels, weights=weight, minlength=k)
    directions, lengths = unit_rows(found.sums)
    # If the rows of a cluster cancel, every centre is as good as the current one.
    determined = lengths > ROUNDING * total
    centers = np.where(determined[:, None], directions, found.centers)
    cosines = found.cosines.copy()
    for cluster in np.flatnonzero(total == 0):
        worst = int(cosines.argmin())
        if cosines[worst] >= 1 - ROUNDING:
            break
        centers[cluster] = dense(Z[[worst]])[0]
        # Rows near the new centre are not candidates for the next one.
        cosines = np.maximum(cosines, times(Z, centers[cluster]))
    return centers
