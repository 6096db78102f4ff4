"""The model and the methods compared with it: how each projects rows and searches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from sphericalpca.estimators import SphericalPCA
from sphericalpca.exceptions import NoDirectionWarning, silently
from sphericalpca.linalg import Array, leading_eigenvectors, orthonormal
from sphericalpca.metrics.search import Metric
from sphericalpca.problem import Problem
from sphericalpca.rows import Block
from sphericalpca.solvers.start import GRAM_FEATURES, svd_start

__all__ = ["LABELS", "METHODS", "MODEL", "REFIT", "SVD_UNIT", "Method", "projections"]

# Centred PCA: powers of the covariance applied if it is too large to form.
POWERS = 3
# Extra columns speed up the convergence of the requested ones.
SPARE_COLUMNS = 10


@dataclass(frozen=True)
class Method:
    """One way to reduce and search: several methods may share the projections of a `source`."""

    name: str
    label: str
    source: str
    metric: Metric


MODEL, REFIT, SVD_UNIT = "model", "refit", "svd-unit"

METHODS = (
    Method(MODEL, "this model", MODEL, "cosine"),
    Method(REFIT, "Spherical PCA", REFIT, "cosine"),
    Method(SVD_UNIT, "SVD + unit rows", "svd", "cosine"),
    Method("svd-dot", "SVD, dot product", "svd", "inner"),
    Method("pca-cosine", "centred PCA, cosine", "pca", "cosine"),
    Method("pca-dot", "centred PCA, dot product", "pca", "inner"),
    Method("pca-euclidean", "centred PCA, Euclidean", "pca", "euclidean"),
    Method("truncation", "first coordinates + unit rows", "truncation", "cosine"),
    Method("random", "random projection + unit rows", "random", "cosine"),
)

LABELS = {method.name: method.label for method in METHODS}


def projections(
    model: SphericalPCA, X: Any, problem: Problem, weight: Array, rng: np.random.Generator
) -> Iterator[tuple[str, Array]]:
    """Each source's projections of all rows, shape (n, r), one at a time."""
    rows, r, m = problem.rows, model.n_components_, problem.rows.shape[1]
    yield MODEL, np.asarray(model.transform(X))  # users may have asked for data frames
    anew = clone(model).set_params(n_components=r, init=model.components_.T)
    with silently(NoDirectionWarning):
        Z = np.asarray(anew.fit(X, sample_weight=weight).transform(X))
    yield REFIT, Z
    yield "svd", rows.project(svd_start(problem, r, rng).U)
    mean, U = centred_pca(problem, r, rng)
    yield "pca", np.asarray(rows.project(U) - (mean @ U).astype(rows.dtype))
    yield "truncation", rows.project(np.eye(m, r))
    yield "random", rows.project(rng.standard_normal((m, r)) / np.sqrt(r))


def centred_pca(problem: Problem, r: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Centred PCA: the mean of the rows, and r leading eigenvectors of their covariance (m x r)."""
    (_, m), weight = problem.rows.shape, problem.rows.totals.weight
    mean = np.asarray(problem.rows.sweep(_sum_of_rows, columns=1, passes=0.5)[0])[:, 0] / weight
    if m <= GRAM_FEATURES:
        # Rows have length one and weights are 0 or 1, so that the Gram matrix is not scaled.
        C = np.asarray(problem.gram(), dtype=np.float64) - weight * np.outer(mean, mean)
        return mean, leading_eigenvectors(C, r)[1]

    # Subspace iteration, started from the singular vectors and the mean.
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
