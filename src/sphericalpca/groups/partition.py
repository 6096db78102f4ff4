"""The search for groups: what many cheap starts in few components agree on.

One start ends in one of many partitions, and which number of components suits differs from corpus
to corpus.  So starts in two, three and five components for each group vote: two texts are near if
many of the partitions put them together.  Work is divided alike on any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from sphericalpca.baselines.lloyd import Assignment, lloyd, starts
from sphericalpca.estimators.spherical_pca import SphericalPCA
from sphericalpca.linalg import Array, Labels, unit_rows
from sphericalpca.rows import Matrix, as_rows

__all__ = [
    "CHUNK",
    "PARTS",
    "Nearest",
    "centre_tree",
    "cut",
    "drift",
    "find_centres",
    "nearest",
    "summary_of",
]

# Into so many parts work is divided, see `parallel`.
PARTS = 4
# Components for each group in which starts are made, and how many starts in each.
MULTIPLES, STARTS = (2, 3, 5), 20
# How often the partition that agrees best with all of these is looked for.
ROUNDS = 10
# The search looks at so many rows, or at so many for each group; its result at all of them.
SAMPLE, SAMPLE_PER_GROUP = 20_000, 200
# Rows that are compared with the centres at a time.
CHUNK = 4096


class Nearest(NamedTuple):
    """The group of each row (-1 if it has no direction), its cosine, and what it is ahead by."""

    labels: Labels
    cosines: Array
    margins: Array
    second: Labels  # the group that comes next; its own if there is no other


def find_centres(Z: Matrix, V: Array, n_clusters: int, rng: np.random.Generator) -> Array:
    """Centres of unit length with a large sum of cosines with the unit rows Z.

    V holds the components of the same rows; pass it as Z, too, to stay in their space.
    """
    n, size = len(V), max(SAMPLE, SAMPLE_PER_GROUP * n_clusters)
    chosen = np.sort(rng.permutation(n)[:size]) if n > size else slice(None)
    votes = sparse.hstack(list(_votes(V[chosen], n_clusters, rng)), format="csr")
    common = SphericalPCA(min(n_clusters, *votes.shape), tol=1e-3, random_state=0)
    W = common.fit_transform(votes)
    runs = (_run(W, c, 1e-4) for c in starts(W, np.ones(len(W)), n_clusters, ROUNDS, rng))
    best = min(runs, key=lambda run: run.inertia)
    sums = _members(best.labels, n_clusters, V.dtype).T @ Z[chosen]
    centers = unit_rows(sums.toarray() if sparse.issparse(sums) else sums)[0]
    return _run(Z, centers, 1e-5).centers


def _votes(V: Array, k: int, rng: np.random.Generator) -> Iterator[Matrix]:
    """Which rows are together, from each start in the first components."""
    for width in sorted({min(multiple * k, V.shape[1]) for multiple in MULTIPLES}):
        W = unit_rows(V[:, :width])[0]
        for centers in starts(W, np.ones(len(W)), k, STARTS, rng):
            yield _members(_run(W, centers, 1e-2).labels, k, V.dtype)


def _run(Z: Matrix, centers: Array, tol: float) -> Assignment:
    return lloyd(Z, np.ones(Z.shape[0]), centers, tol=tol, max_iter=100).last


def _members(labels: Labels, k: int, dtype: Any) -> Matrix:
    """The row of each text has a one in the column of its group."""
    n = len(labels)
    return sparse.csr_array((np.ones(n, dtype), (np.arange(n), labels)), (n, k))


def nearest(X: Matrix, centers: Array, groups: Labels, U: Array | None = None) -> Nearest:
    """The nearest centre's group; with U (m x r) in the space of components.

    A row's numbers do not depend on how many come after it, so that a file can be read in chunks.
    """
    chunks = [X[a : a + CHUNK] for a in range(0, X.shape[0], CHUNK)]
    found = [_nearest(chunk, centers, groups, U) for chunk in chunks]
    return Nearest(*map(np.concatenate, zip(*found, strict=True)))


def _nearest(X: Matrix, centers: Array, groups: Labels, U: Array | None) -> Nearest:
    rows = as_rows(X)
    if U is not None:
        rows = as_rows(rows.components(U))
    cosines = rows.project(centers.T.astype(X.dtype))
    if groups.max() + 1 < len(groups):  # some were merged: the nearest centre of each counts
        each = [cosines[:, groups == k].max(axis=1) for k in range(groups.max() + 1)]
        cosines = np.column_stack(each)
    order = np.argpartition(-cosines, min(1, cosines.shape[1] - 1), axis=1)
    best, second = order[:, 0], order[:, min(1, cosines.shape[1] - 1)]
    every = np.arange(len(best))
    top = cosines[every, best]
    ahead = top - cosines[every, second] if cosines.shape[1] > 1 else top
    known = rows.stats.norm > 0
    labels = np.where(known, best, -1).astype(np.int32)
    return Nearest(labels, top * known, ahead * known, np.where(known, second, -1))


def summary_of(found: Nearest) -> dict[str, float]:
    """What later texts are compared with."""
    cosines = found.cosines[found.labels >= 0]
    mean, low = (cosines.mean(), np.quantile(cosines, 0.05)) if len(cosines) else (0.0, 0.0)
    unknown = 1 - len(cosines) / max(len(found.labels), 1)
    return {"mean_cosine": float(mean), "low_cosine": float(low), "unknown": unknown}


def drift(found: Nearest, clusters: Any) -> dict[str, float]:
    """How texts fit groups that were found in others."""
    first, now = clusters.first_run_, summary_of(found)
    known, k = found.labels >= 0, int(clusters.merged_.max()) + 1
    then = np.bincount(clusters.merged_, weights=clusters.sizes_, minlength=k)
    sizes = np.bincount(found.labels[known], minlength=k)
    shares = [counts / max(counts.sum(), 1) for counts in (then, sizes)]
    below = float((found.cosines[known] < first["low_cosine"]).mean()) if known.any() else 0.0
    return {
        "n_groups": k,
        "mean_cosine": now["mean_cosine"],
        "first_mean_cosine": first["mean_cosine"],
        "share_below_first_5_percent": below,
        "share_without_known_word": now["unknown"],
        "first_share_without_known_word": first["unknown"],
        "share_moved_between_groups": float(np.abs(shares[0] - shares[1]).sum() / 2),
    }


def centre_tree(centers: Array) -> Array:
    """scipy's linkage of the centres: average linkage by angle, heights in degrees."""
    angles = np.degrees(np.arccos(np.clip(centers @ centers.T, -1, 1)).astype(np.float64))
    np.fill_diagonal(angles, 0)
    return np.asarray(linkage(squareform((angles + angles.T) / 2), "average"))


def cut(tree: Array, n_groups: int) -> Labels:
    """The group of each centre where the tree has so many branches, in order of appearance."""
    found = fcluster(tree, n_groups, "maxclust")
    _, first = np.unique(found, return_index=True)
    return np.argsort(np.argsort(first))[found - 1].astype(np.int32)
