"""The search for groups: a consensus of many cheap starts in few components.

Two texts are close if many partitions, in two, three and five components per group, put them
together.  The number of groups is where two halves of the rows agree most, minus the agreement of
halves of Gaussian rows of the same mean and covariance.  Work is divided independently of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import linkage
from scipy.linalg import qr, svd
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import gen_batches
from threadpoolctl import threadpool_limits

from sphericalpca.baselines.lloyd import Assignment, lloyd, starts
from sphericalpca.estimators.spherical_pca import SphericalPCA
from sphericalpca.estimators.validation import check_at_most, generator
from sphericalpca.exceptions import silently
from sphericalpca.linalg import Array, Labels, unit_rows
from sphericalpca.parallel import spread
from sphericalpca.rows import Matrix, as_rows, dense

__all__ = ["Nearest", "choose_count", "directions", "drift", "nearest", "number", "search"]

# Number of parts into which work is divided, see `parallel`.
PARTS = 4
# Components per group, and with many groups.
COMPONENTS, MANY = 5, 120
# Components per group in which starts are made; starts in each; starts among their votes.
MULTIPLES, STARTS, ROUNDS = (2, 3, 5), 20, 10
# The search uses this many rows, or this many per group; then all rows are assigned to the
# centres, in chunks of this size.
SAMPLE, SAMPLE_PER_GROUP, CHUNK = 20_000, 200, 4096
# Texts with a smaller margin could equally well be in the next group.
UNCERTAIN = 0.01
# Components per group: noise may be stronger than the direction of a group.
WIDER = 1.5
# The largest number tried; pairs of halves; rows of a half.
MOST, PAIRS, HALF = 30, 5, 1000
# Numbers for which rows without groups are tried, with linear interpolation in between.
NULLS = (2, 3, 4, 6, 9, 14, 20, 30)


class Nearest(NamedTuple):
    """The group of each row (-1 if it has no direction), its cosine, and its margin."""

    labels: Labels
    cosines: Array
    margins: Array
    second: Labels  # the second-best group; the same group if there is only one


def search(model: Any, Z: Matrix, dtype: Any, tell: Callable[[str], None]) -> None:
    """Set components and centres of a model from unit rows."""
    rng = generator(model.random_state)
    k, r, model.curve_ = model.n_clusters, model.n_components, None
    if k == "auto":
        tell("counting groups")
        k, model.curve_ = choose_count(Z, rng)
    rows = "vectors that are not zero" if model.vectorizer_ is None else "texts with a known word"
    check_at_most("n_clusters", k, Z.shape[0], f"number of {rows}")
    r = min(COMPONENTS * k, max(2 * k, MANY), *Z.shape) if r == "auto" else r
    tell("reducing")
    reducer = SphericalPCA(r, tol=1e-3, random_state=int(rng.integers(2**31)))
    V = reducer.fit_transform(Z)
    model.components_, model.svd_ratio_ = reducer.components_.astype(dtype), reducer.svd_ratio_
    tell("grouping")
    centers = find_centres(Z if model.refine else V, V, k, rng)
    centers = centers[centers.any(axis=1)]  # equal rows leave groups empty
    if model.n_clusters != "auto":
        check_at_most("n_clusters", k, len(centers), f"number of different {rows}")
    model.cluster_centers_ = centers.astype(dtype)
    model.merged_ = np.arange(len(centers), dtype=np.int32)


def number(model: Any, found: Nearest) -> None:
    """Number the groups of a model as they appear, not counting doubtful texts."""
    k = len(model.merged_)
    certain = found.labels[found.margins >= UNCERTAIN]
    seen = np.concatenate([certain, found.labels, np.arange(k)]).tolist()
    order = sorted(range(k), key=seen.index)
    place = np.append(np.argsort(order), -1).astype(np.int32)  # -1 stays -1
    model.cluster_centers_, model.summary_ = model.cluster_centers_[order], summary_of(found)
    model.nearest_ = found._replace(labels=place[found.labels], second=place[found.second])
    model.sizes_ = np.bincount(model.labels_ + 1, minlength=k + 1)[1:]


def find_centres(Z: Matrix, V: Array, k: int, rng: np.random.Generator) -> Array:
    """Centres of unit length for the unit rows Z, of which V has the components."""
    n, size = len(V), max(SAMPLE, SAMPLE_PER_GROUP * k)
    chosen = np.sort(rng.permutation(n)[:size]) if n > size else slice(None)
    # A common part of dense vectors changes angles between them, but not differences.
    votes = _members([*_votes(V[chosen], k, rng, by_angle=sparse.issparse(Z))], k)
    W = SphericalPCA(min(k, *votes.shape), tol=1e-3, random_state=0).fit_transform(votes)
    runs = (run_from(W, c, 1e-4) for c in starts(W, np.ones(len(W)), k, ROUNDS, rng))
    best = min(runs, key=lambda run: run.inertia)
    return run_from(Z, directions(Z[chosen], best.labels, k), 1e-5).centers


def _votes(V: Array, k: int, rng: np.random.Generator, *, by_angle: bool) -> Iterator[Labels]:
    """Groups from each start in the first components, by spherical k-means or by k-means."""
    for width in sorted({min(multiple * k, V.shape[1]) for multiple in MULTIPLES}):
        W = unit_rows(V[:, :width])[0]
        for centers in starts(W, np.ones(len(W)), k, STARTS, rng):
            if by_angle:
                yield run_from(W, centers, 1e-2).labels
                continue
            # On one thread the order of sums is fixed; equal rows leave clusters empty.
            with threadpool_limits(1, "openmp"), silently(ConvergenceWarning):
                yield KMeans(k, init=centers, n_init=1, tol=1e-3).fit(W).labels_


def run_from(Z: Matrix, centers: Array, tol: float) -> Assignment:
    """Spherical k-means of unit rows from given centres."""
    return lloyd(Z, np.ones(Z.shape[0]), centers, tol=tol, max_iter=100).last


def _members(labels: Sequence[Labels], k: int) -> Matrix:
    """Indicators of groups: for each partition a one in the column of a text's group, if any."""
    groups = OneHotEncoder(categories=[np.arange(k)] * len(labels), handle_unknown="ignore")
    return sparse.csr_array(groups.fit_transform(np.column_stack(labels)))


def directions(X: Matrix, labels: Labels, k: int) -> Array:
    """Sums of the rows of each group, scaled to unit length."""
    return unit_rows(dense(_members([labels], k).T @ X))[0]


def nearest(X: Matrix, centers: Array, groups: Labels, U: Array | None = None) -> Nearest:
    """The nearest centre's group; with U (m x r) in the space of components."""
    parts, last = list[Nearest](), int(groups.max())
    # Results for a row do not depend on later rows: a file can be read in chunks.
    for chunk in gen_batches(X.shape[0], CHUNK):
        rows = as_rows(X[chunk]) if U is None else as_rows(as_rows(X[chunk]).components(U))
        each = rows.project(centers.T.astype(X.dtype))
        # For merged groups the nearest centre counts.
        cosines = np.column_stack([each[:, groups == k].max(axis=1) for k in range(last + 1)])
        both = np.argpartition(-cosines, min(1, last), axis=1)[:, [0, min(1, last)]]
        top, next_best = np.take_along_axis(cosines, both, 1).T
        known = rows.stats.norm > 0
        margins = (top - next_best if last else top) * known
        labels, others = np.where(known, both.T, -1).astype(np.int32)
        parts.append(Nearest(labels, top * known, margins, others))
    return joined(parts)


def joined(parts: Sequence[Nearest]) -> Nearest:
    """The concatenation of the results for portions of the rows."""
    return Nearest(*map(np.concatenate, zip(*parts, strict=True)))


def summary_of(found: Nearest) -> dict[str, float]:
    """Statistics that later texts are compared with."""
    known = found.labels >= 0
    cosines = found.cosines[known] if known.any() else np.zeros(1)
    low, mean = float(np.quantile(cosines, 0.05)), float(cosines.mean())
    return {"mean_cosine": mean, "low_cosine": low, "unknown": float((~known).mean())}


def drift(found: Nearest, clusters: Any) -> dict[str, float]:
    """How well texts fit groups that were found in other texts."""
    first, known = clusters.summary_, found.labels >= 0
    then = np.bincount(clusters.merged_, clusters.sizes_)
    sizes = np.bincount(found.labels[known], minlength=len(then))
    moved = np.abs(then / max(then.sum(), 1) - sizes / max(sizes.sum(), 1)).sum() / 2
    below = (found.cosines < first["low_cosine"])[known].sum() / max(known.sum(), 1)
    counts = {"n_texts": len(known), "n_groups": len(then)}
    before = {f"first_{name}": first[name] for name in ("mean_cosine", "unknown")}
    return {**counts, "below": float(below), "moved": float(moved), **summary_of(found), **before}


def profiles(model: Any) -> Array:
    """A unit vector for each group of a model, in the space of the rows."""
    C = model.cluster_centers_ if model.refine else model.cluster_centers_ @ model.components_
    weighted = np.maximum(model.sizes_, 1)[:, None] * C
    return directions(weighted, model.merged_, int(model.merged_.max()) + 1)


def centre_tree(model: Any) -> Array:
    """The tree of groups: average linkage of the angles between them, in degrees."""
    cosines = 1 - pdist(profiles(model).astype(np.float64), "cosine")
    return np.asarray(linkage(np.degrees(np.arccos(np.clip(cosines, -1, 1))), "average"))


def choose_count(Z: Matrix, rng: np.random.Generator) -> tuple[int, list[Any]]:
    """The number of groups of unit rows; and the score of each number, with an interval."""
    most = min(MOST, Z.shape[0] // 8, Z.shape[1])
    if most < 2:
        return 1, []
    r = min(int(WIDER * most), *Z.shape)
    V = SphericalPCA(r, tol=1e-3, random_state=int(rng.integers(2**31))).fit_transform(Z)
    seeds, counts = rng.integers(2**31, size=(2, most + 1)), range(2, most + 1)
    tried = sorted({*(k for k in NULLS if k < most), most})
    found = np.array(spread(partial(_stability, V, seeds[0], shapeless=False), counts))
    null = np.array(spread(partial(_stability, V, seeds[1], shapeless=True), tried))
    means, errors = (np.interp(counts, tried, null[:, column]) for column in (0, 1))
    score, half = found[:, 0] - means, 1.96 * np.hypot(found[:, 1], errors)  # 95 % intervals
    points = np.column_stack([score, score - half, score + half]).tolist()
    return counts[int(np.argmax(score))], [(k, *p) for k, p in zip(counts, points, strict=True)]


def _stability(V: Array, seeds: Labels, k: int, *, shapeless: bool) -> tuple[float, float]:
    """Mean agreement of pairs of halves, and its standard error."""
    rng = np.random.default_rng(seeds[k])
    Z = unit_rows(V[:, : int(WIDER * k)])[0]
    half, found = min(HALF, len(Z) // 2), []
    root = np.linalg.cholesky(np.cov(Z.T) + 1e-12 * np.eye(Z.shape[1]))
    for _ in range(PAIRS):
        rows = Z[rng.permutation(len(Z))[: 2 * half]]
        if shapeless:
            rows = unit_rows(Z.mean(axis=0) + rng.standard_normal(rows.shape) @ root.T)[0]
        halves = [_centres(part, k, rng) for part in (rows[:half], rows[half:])]
        found.append(adjusted_rand_score(*((rows @ C.T).argmax(axis=1) for C in halves)))
    return float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(PAIRS))


def _centres(Z: Array, k: int, rng: np.random.Generator) -> Array:
    """Spherical k-means of unit rows, from k-means++ and from the rows that differ most."""
    # The nearest rotation turns each group to an axis (Damle, Minden and Ying, 2019).
    chosen = qr(Z.T, mode="r", pivoting=True)[-1][:k]
    U, _, Vt = svd(Z[chosen].T, full_matrices=False)
    apart = directions(Z, np.abs(Z @ (U @ Vt)).argmax(axis=1), k)
    begun = [apart, *starts(Z, np.ones(len(Z)), k, 1, rng)]
    return min((run_from(Z, C, 1e-4) for C in begun), key=lambda run: run.inertia).centers
