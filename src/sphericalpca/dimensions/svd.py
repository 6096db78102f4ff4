"""Projections of all rows on singular vectors, made as they are asked for."""

from __future__ import annotations

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.problem import Problem
from sphericalpca.solvers.start import GRAM_FEATURES, Start, svd_start

__all__ = ["SvdProjections"]

# So many columns are projected first; then twice as many, and so on.
FIRST_COLUMNS = 64


class SvdProjections:
    """Leading right singular vectors of the rows, and the rows' projections on them.

    Up to 1024 features all singular vectors come from the Gram matrix at once, and only
    columns that are new are projected; beyond, a larger SVD takes the place of a smaller.

    Parameters
    ----------
    problem : Problem
    rng : Generator
        For the randomized SVD of wide data.
    """

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self._problem, self._rng = problem, rng
        n, m = problem.rows.shape
        self._limit = min(n, m)
        self._at_once = m <= GRAM_FEATURES
        everything = svd_start(problem, self._limit, rng) if self._at_once else None
        self._curvature = None if everything is None else everything.curvature
        self._U = np.empty((m, 0)) if everything is None else everything.U
        self._Z = np.empty((n, 0), dtype=problem.rows.dtype)

    @property
    def projected(self) -> int:
        """How many columns were projected so far."""
        return int(self._Z.shape[1])

    def vectors(self, count: int) -> Array:
        """Singular vectors, shape (m, count)."""
        if self._U.shape[1] < count:
            self._U = svd_start(self._problem, count, self._rng).U
        return self._U[:, :count]

    def start(self, U: Array) -> Start:
        """Where to begin a fit: at U, knowing of the curvature what these vectors tell."""
        return Start(U, curvature=self._curvature)

    def project(self, count: int) -> Array:
        """Projections on that many, shape (n, count)."""
        known = self.projected
        if known < count:
            U = self.vectors(min(self._limit, max(FIRST_COLUMNS, 2 * known, count)))
            kept = known if self._at_once else 0
            fresh = self._problem.rows.project(np.ascontiguousarray(U[:, kept:]))
            self._Z = np.hstack([self._Z[:, :kept], fresh])
        return self._Z[:, :count]
