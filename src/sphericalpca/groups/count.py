"""How many groups: the number at which halves of the texts agree most, beyond what shapeless rows do.

Two halves are grouped apart from each other; the adjusted Rand index says how much both agree on
all rows.  Few groups agree for no reason, so the same is done with Gaussian rows of the same mean
and covariance, which have no groups, and subtracted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.linalg import qr, svd
from sklearn.cluster import kmeans_plusplus
from sklearn.metrics import adjusted_rand_score

from sphericalpca.estimators.spherical_pca import SphericalPCA
from sphericalpca.linalg import Array, unit_rows
from sphericalpca.parallel import spread
from sphericalpca.rows import Matrix

__all__ = ["choose_count"]

# Components for each group: noise may come before the direction of a group.
WIDER = 1.5
# The largest number that is tried; pairs of halves; rows of a half.
MOST, PAIRS, HALF = 30, 5, 1000
# Numbers of groups for which rows without groups are tried; between them a line is drawn.
NULLS = (2, 3, 4, 6, 9, 14, 20, 30)
# Half the width of a 95 % interval, in standard errors.
WIDTH = 1.96

Curve = list[tuple[int, float, float, float]]


def choose_count(
    Z: Matrix, rng: np.random.Generator, tell: Callable[[str], None]
) -> tuple[int, Curve]:
    """The number of groups of unit rows; and the score of each number, with an interval."""
    tell("counting groups")
    most = min(MOST, Z.shape[0] // 8, *Z.shape)
    if most < 2:
        return min(2, Z.shape[0]), []
    V = SphericalPCA(
        min(int(WIDER * most), *Z.shape), tol=1e-3, random_state=int(rng.integers(2**31))
    ).fit_transform(Z)
    seeds = rng.integers(2**31, size=(2, most + 1))
    counts = range(2, most + 1)
    found = np.array(spread(partial(_stability, V, seeds[0], shapeless=False), counts))
    tried = sorted({*(k for k in NULLS if k < most), most})
    null = np.array(spread(partial(_stability, V, seeds[1], shapeless=True), tried))
    means, errors = (np.interp(counts, tried, null[:, column]) for column in (0, 1))
    score = found[:, 0] - means
    half = WIDTH * np.hypot(found[:, 1], errors)
    curve = zip(
        counts, score.tolist(), (score - half).tolist(), (score + half).tolist(), strict=True
    )
    return int(np.argmax(score)) + 2, list(curve)


def _stability(V: Array, seeds: Array, k: int, *, shapeless: bool) -> tuple[float, float]:
    """Mean agreement of pairs of halves, and its standard error."""
    rng = np.random.default_rng(seeds[k])
    Z = unit_rows(V[:, : int(WIDER * k)])[0]
    half = min(HALF, len(Z) // 2)
    agreements = []
    for _ in range(PAIRS):
        rows = _gaussian(Z, 2 * half, rng) if shapeless else Z[rng.permutation(len(Z))[: 2 * half]]
        seed = int(rng.integers(2**31))
        centers = [_centres(part, k, seed) for part in (rows[:half], rows[half:])]
        agreements.append(adjusted_rand_score(*((rows @ C.T).argmax(axis=1) for C in centers)))
    return float(np.mean(agreements)), float(np.std(agreements, ddof=1) / np.sqrt(PAIRS))


def _gaussian(Z: Array, n: int, rng: np.random.Generator) -> Array:
    covariance = np.cov(Z.T) + 1e-12 * np.eye(Z.shape[1])
    spread_out = rng.standard_normal((n, Z.shape[1])) @ np.linalg.cholesky(covariance).T
    return unit_rows(Z.mean(axis=0) + spread_out)[0]


def _centres(Z: Array, k: int, seed: int) -> Array:
    """Spherical k-means of unit rows, from two starts.

    One is k-means++.  For the other, pivoted QR finds rows that are as different as can be, and the
    rotation nearest to them turns each group to an axis (Damle, Minden and Ying, 2019).
    """
    chosen = qr(Z.T, mode="r", pivoting=True)[-1][:k]
    U, _, Vt = svd(Z[chosen].T, full_matrices=False)
    apart = np.eye(k)[np.abs(Z @ (U @ Vt)).argmax(axis=1)].T @ Z
    runs = [_moved(Z, C) for C in (apart, kmeans_plusplus(Z, k, random_state=seed)[0])]
    return max(runs, key=lambda centers: (Z @ centers.T).max(axis=1).sum())


def _moved(Z: Array, centers: Array) -> Array:
    labels = None
    for _ in range(20):
        centers = unit_rows(centers)[0]
        before, labels = labels, (Z @ centers.T).argmax(axis=1)
        if np.array_equal(before, labels):
            break
        centers = np.eye(len(centers))[labels].T @ Z
    return unit_rows(centers)[0]
