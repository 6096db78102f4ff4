"""The search for groups: what many cheap starts in few components agree on.

One start ends in one of many partitions, and which number of components suits differs from corpus
to corpus.  So starts in two, three and five components for each group vote: two texts are near if
many of the partitions put them together.  Work is divided alike on any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform

from sphericalpca.baselines.lloyd import Assignment, lloyd, starts
from sphericalpca.estimators.spherical_pca import SphericalPCA
from sphericalpca.linalg import Array, Labels, unit_rows
from sphericalpca.rows import Matrix, as_rows, dense

__all__ = ["Nearest", "centre_tree", "cut", "directions", "drift", "find_centres", "nearest"]

# Into this many parts work is divided, see `parallel`.
PARTS = 4
# Components for each group in which starts are made, and how many starts in each.
MULTIPLES, STARTS = (2, 3, 5), 20
# How often the partition that agrees best with all of these is looked for.
ROUNDS = 10
# The search looks at this many rows, or at this many for each group; its result at all of them.
SAMPLE, SAMPLE_PER_GROUP = 20_000, 200
# Rows that are compared with the centres at a time.
CHUNK = 4096
# Texts whose margin is below this could as well be in the next group.
UNCERTAIN = 0.01


class Nearest(NamedTuple):
    """The group of each row (-1 if it has no direction), its cosine, and what it is ahead by."""

    labels: Labels
    cosines: Array
    margins: Array
    second: Labels  # the group that comes next; its own if there is no other


def find_centres(Z: Matrix, V: Array, k: int, rng: np.random.Generator) -> Array:
    """Centres of unit length for the unit rows Z, of which V has the components.

    Pass these as Z, too, to stay in their space.
    """
    n, size = len(V), max(SAMPLE, SAMPLE_PER_GROUP * k)
    chosen = np.sort(rng.permutation(n)[:size]) if n > size else slice(None)
    votes = sparse.hstack(list(_votes(V[chosen], k, rng)), format="csr")
    W = SphericalPCA(min(k, *votes.shape), tol=1e-3, random_state=0).fit_transform(votes)
    runs = (run_from(W, c, 1e-4) for c in starts(W, np.ones(len(W)), k, ROUNDS, rng))
    best = min(runs, key=lambda run: run.inertia)
    return run_from(Z, directions(Z[chosen], best.labels, k), 1e-5).centers


def _votes(V: Array, k: int, rng: np.random.Generator) -> Iterator[Matrix]:
    """Which rows are together, from each start in the first components."""
    for width in sorted({min(multiple * k, V.shape[1]) for multiple in MULTIPLES}):
        W = unit_rows(V[:, :width])[0]
        for centers in starts(W, np.ones(len(W)), k, STARTS, rng):
            yield _members(run_from(W, centers, 1e-2).labels, k)


def run_from(Z: Matrix, centers: Array, tol: float) -> Assignment:
    """Spherical k-means of unit rows from given centres."""
    return lloyd(Z, np.ones(Z.shape[0]), centers, tol=tol, max_iter=100).last


def _members(labels: Labels, k: int) -> Matrix:
    """The row of each text has a one in the column of its group, if it has one."""
    known = np.flatnonzero(labels >= 0)
    return sparse.csr_array((np.ones(len(known)), (known, labels[known])), (len(labels), k))


def directions(X: Matrix, labels: Labels, k: int) -> Array:
    """Sums of the rows of each group, scaled to unit length."""
    return unit_rows(dense(_members(labels, k).T @ X))[0]


def nearest(X: Matrix, centers: Array, groups: Labels, U: Array | None = None) -> Nearest:
    """The nearest centre's group; with U (m x r) in the space of components.

    A row's numbers do not depend on how many come after it, so that a file can be read in chunks.
    """
    chunks = (X[a : a + CHUNK] for a in range(0, X.shape[0], CHUNK))
    return joined([_nearest(chunk, centers, groups, U) for chunk in chunks])


def joined(parts: Sequence[Nearest]) -> Nearest:
    """What was found of portions of the rows, for all of them."""
    return Nearest(*map(np.concatenate, zip(*parts, strict=True)))


def _nearest(X: Matrix, centers: Array, groups: Labels, U: Array | None) -> Nearest:
    rows = as_rows(X) if U is None else as_rows(as_rows(X).components(U))
    cosines, last = rows.project(centers.T.astype(X.dtype)), int(groups.max())
    if last + 1 < len(groups):  # some were merged: the nearest centre of each counts
        each = [cosines[:, groups == group].max(axis=1) for group in range(last + 1)]
        cosines = np.column_stack(each)
    both = np.argpartition(-cosines, min(1, last), axis=1)[:, [0, min(1, last)]]
    top, next_best = np.take_along_axis(cosines, both, 1).T
    known = rows.stats.norm > 0
    margins = (top - next_best if last else top) * known
    labels, others = np.where(known, both.T, -1).astype(np.int32)
    return Nearest(labels, top * known, margins, others)


def summary_of(found: Nearest) -> dict[str, float]:
    """What later texts are compared with."""
    known = found.labels >= 0
    cosines = found.cosines[known] if known.any() else np.zeros(1)
    low, mean = float(np.quantile(cosines, 0.05)), float(cosines.mean())
    return {"mean_cosine": mean, "low_cosine": low, "unknown": float((~known).mean())}


def drift(found: Nearest, clusters: Any) -> dict[str, float]:
    """How texts fit groups that were found in others."""
    first, known = clusters.summary_, found.labels >= 0
    then = np.bincount(clusters.merged_, clusters.sizes_)
    sizes = np.bincount(found.labels[known], minlength=len(then))
    moved = np.abs(then / max(then.sum(), 1) - sizes / max(sizes.sum(), 1)).sum() / 2
    below = np.mean(found.cosines[known] < first["low_cosine"]) if known.any() else 0
    counts = {"n_texts": len(known), "n_groups": len(then), "below": float(below)}
    earlier = {f"first_{name}": first[name] for name in ("mean_cosine", "unknown")}
    return counts | {"moved": float(moved)} | summary_of(found) | earlier


def centre_tree(centers: Array) -> Array:
    """The linkage of unit vectors: average linkage by angle, heights in degrees."""
    angles = np.degrees(np.arccos(np.clip(centers @ centers.T, -1, 1), dtype=np.float64))
    return np.asarray(linkage(squareform(angles + angles.T, checks=False) / 2, "average"))


def cut(tree: Array, n_groups: int) -> Labels:
    """The group of each centre where the tree has this many branches, in order of appearance."""
    branches = cut_tree(tree, n_groups)[:, 0]
    _, first, found = np.unique(branches, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[found], dtype=np.int32)
