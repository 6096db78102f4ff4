"""Subspaces of all dimensions from one fit: leading components, or added singular vectors."""

from __future__ import annotations

import numpy as np

from sphericalpca.iterate import iterate
from sphericalpca.linalg import Array, canonical_rotation, orthonormal_outside
from sphericalpca.problem import Problem
from sphericalpca.products import inner_products, product
from sphericalpca.rows import Rows, as_rows
from sphericalpca.solvers import Anderson
from sphericalpca.solvers.start import GRAM_FEATURES, Start, svd_start

__all__ = ["Ladder", "SvdProjections"]

# Rows are projected on this many singular vectors first, then on twice as many, and so on.
FIRST_COLUMNS = 64

# Up to this share of the components of a fit, leading ones are improved (on MiniLM vectors of the
# newsgroups they lose .001 of mean cosine at 8 of 200, and .0002 at 32, where it costs most),
IMPROVED_PART = 1 / 8
# within the span of this many times their number,
SPAN = 4
# to this residual.
TOLERANCE = 1e-2
ITERATIONS = 20


class Ladder:
    """A subspace U (m x r), strongest first, its smaller subspaces, and `further` directions."""

    def __init__(self, U: Array, rows: Rows, weight: Array, further: Array) -> None:
        self.size, self._weight = int(U.shape[1]), weight
        if further.shape[1]:
            further = orthonormal_outside(U, further - product(U, inner_products(U, further)))
        self._U = np.hstack([U, further])
        self._Z = rows.project(self._U)
        if further.shape[1]:
            # The strongest first.
            Z = np.ascontiguousarray(self._Z[:, self.size :])
            moment = inner_products(Z * weight.astype(Z.dtype)[:, None], Z)
            Q = canonical_rotation(moment.astype(np.float64))[0].astype(Z.dtype)
            self._U[:, self.size :], self._Z[:, self.size :] = product(further, Q), product(Z, Q)

    @property
    def highest(self) -> int:
        """The largest dimension available."""
        return int(self._Z.shape[1])

    def start(self, r: int) -> Array:
        """A start for a fit with another number of components, shape (m, r)."""
        return self._U[:, :r]

    def project(self, r: int) -> Array:
        """Project all rows on a good subspace of dimension r, shape (n, r)."""
        if r > IMPROVED_PART * self.size:
            return self._Z[:, :r]
        Z = np.ascontiguousarray(self._Z[:, : min(SPAN * r, self.size)])
        small = Problem(as_rows(Z, weight=self._weight, normalize=False), auxiliary=True)
        start = Start(np.eye(Z.shape[1], r))
        found = iterate(small, Anderson(), start, tol=TOLERANCE, max_iter=ITERATIONS)
        return product(Z, found.U)


class SvdProjections:
    """Leading right singular vectors, computed on demand, and the rows' projections on them."""

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self._problem, self._rng = problem, rng
        n, m = problem.rows.shape
        self._limit = min(n, m)
        self._at_once = m <= GRAM_FEATURES
        start = svd_start(problem, self._limit, rng) if self._at_once else Start(np.empty((m, 0)))
        self._U, self._curvature = start.U, start.curvature
        self._Z = np.empty((n, 0), dtype=problem.rows.dtype)

    @property
    def projected(self) -> int:
        """Number of columns projected so far."""
        return int(self._Z.shape[1])

    def vectors(self, count: int) -> Array:
        """Singular vectors, shape (m, count)."""
        if self._U.shape[1] < count:
            self._U = svd_start(self._problem, count, self._rng).U
        return self._U[:, :count]

    def start(self, U: Array) -> Start:
        """A start for a fit: U, with the curvature from these vectors."""
        return Start(U, curvature=self._curvature)

    def project(self, count: int) -> Array:
        """Project all rows on the first `count` singular vectors, shape (n, count)."""
        known = self.projected
        if known < count:
            U = self.vectors(min(self._limit, max(FIRST_COLUMNS, 2 * known, count)))
            kept = known if self._at_once else 0
            fresh = self._problem.rows.project(np.ascontiguousarray(U[:, kept:]))
            self._Z = np.hstack([self._Z[:, :kept], fresh])
        return self._Z[:, :count]
