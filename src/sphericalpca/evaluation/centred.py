"""Centred PCA of unit rows: what most people reduce embeddings with."""

from __future__ import annotations

import numpy as np

from sphericalpca.linalg import Array, leading_eigenvectors, orthonormal
from sphericalpca.problem import Problem
from sphericalpca.rows import Block
from sphericalpca.solvers.start import GRAM_FEATURES, svd_start

__all__ = ["centred_pca"]

# Powers of the covariance that are applied where it is too large to be formed.
POWERS = 3
# Columns beyond those wanted, which make the wanted ones converge sooner.
SPARE_COLUMNS = 10


def centred_pca(problem: Problem, r: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """The mean of the rows, and the r leading eigenvectors of their covariance (m x r).

    From the covariance itself up to 1024 features; beyond by subspace iteration, started
    from the singular vectors and the mean.
    """
    (_, m), weight = problem.rows.shape, problem.rows.totals.weight
    mean = np.asarray(problem.rows.sweep(_sum_of_rows, columns=1, passes=0.5)[0])[:, 0] / weight
    if m <= GRAM_FEATURES:
        # Rows have length one and weights are 0 or 1, so that the Gram matrix is not scaled.
        C = np.asarray(problem.gram(), dtype=np.float64) - weight * np.outer(mean, mean)
        return mean, leading_eigenvectors(C, r)[1]

    def covariance_times(Q: Array) -> Array:
        return problem.covariance_times(Q) - weight * np.outer(mean, mean @ Q)

    start = svd_start(problem, min(r + SPARE_COLUMNS, *problem.rows.shape), rng).U
    Q = orthonormal(np.column_stack([start, mean]))
    for _ in range(POWERS):
        Q = orthonormal(covariance_times(Q))
    _, E = np.linalg.eigh(Q.T @ covariance_times(Q))
    return mean, Q @ E[:, ::-1][:, :r]


def _sum_of_rows(block: Block) -> tuple[Array]:
    return (block.correlate(np.ones((block.matrix.shape[0], 1), dtype=block.matrix.dtype)),)
