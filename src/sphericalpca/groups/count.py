"""How many groups: where halves of the rows agree most, beyond what rows without groups do.

Two halves are grouped on their own, and the adjusted Rand index tells how much both agree on all
rows.  Few groups agree for no reason, so the same is done with Gaussian rows of the same mean and
covariance, and subtracted.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.linalg import qr, svd
from sklearn.metrics import adjusted_rand_score

from sphericalpca.baselines.lloyd import starts
from sphericalpca.estimators.spherical_pca import SphericalPCA
from sphericalpca.groups.partition import directions, run_from
from sphericalpca.linalg import Array, Labels, unit_rows
from sphericalpca.parallel import spread
from sphericalpca.rows import Matrix

__all__ = ["choose_count"]

# Components for each group: noise may come before the direction of a group.
WIDER = 1.5
# The largest number that is tried; pairs of halves; rows of a half.
MOST, PAIRS, HALF = 30, 5, 1000
# Numbers for which rows without groups are tried; between them a line is drawn.
NULLS = (2, 3, 4, 6, 9, 14, 20, 30)
# Half the width of a 95 % interval, in standard errors.
WIDTH = 1.96

Curve = list[tuple[int, float, float, float]]


def choose_count(Z: Matrix, rng: np.random.Generator) -> tuple[int, Curve]:
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
    score, half = found[:, 0] - means, WIDTH * np.hypot(found[:, 1], errors)
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
    """Spherical k-means of unit rows, from two starts.

    One is k-means++.  For the other, pivoted QR finds rows that are as different as can be, and the
    rotation nearest to them turns each group to an axis (Damle, Minden and Ying, 2019).
    """
    chosen = qr(Z.T, mode="r", pivoting=True)[-1][:k]
    U, _, Vt = svd(Z[chosen].T, full_matrices=False)
    apart = directions(Z, np.abs(Z @ (U @ Vt)).argmax(axis=1), k)
    begun = [apart, *starts(Z, np.ones(len(Z)), k, 1, rng)]
    return min((run_from(Z, C, 1e-4) for C in begun), key=lambda run: run.inertia).centers
