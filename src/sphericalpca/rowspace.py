"""The problem of wide data in coordinates of the rows: vectors of n instead of m numbers.

Only the span of the rows matters, so U = X'A for some A (n x r).  A is kept together with
Y = XU, stacked in one array [A; Y] of 2n rows: sums, and products with small matrices from the
right, act on both as they act on U.  The inner product of X'A and X'B is A'(XX'B), so only
one workspace per pass has m rows.

At U, with the best components V, weights W, B = WV and H = Y'B = U'G, the part of the gradient
G = X'B that rotates the subspace is X'D with D = B - A H.  It is computed directly, with all its
digits, and not as a difference of large matrices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from sphericalpca.linalg import Array, Inner, frobenius, refined
from sphericalpca.problem import Point, Problem, symmetric
from sphericalpca.products import inner_products, product, scalar_products
from sphericalpca.rows import Block, Rows, as_rows

__all__ = [
    "EXACT_SIDE",
    "GRAM_FEATURES",
    "FewRows",
    "LeavesRowSpace",
    "RowSpace",
    "suits_exact",
    "suits_gram",
]

# Up to this many features the m x m Gram matrix costs one cheap pass, and its eigenvectors cost
# less than the passes of a randomized SVD.
GRAM_FEATURES = 1024
# Up to this many rows or features the SVD is exact.  Up to this many for each component, all
# products of two of them cost no more than the passes that they save.
EXACT_SIDE, FEW_PER_COMPONENT = 2048, 20


def suits_gram(count: int, n_components: int) -> bool:
    """Whether a Gram matrix of this many rows, or features, is worth its cost."""
    return count <= min(EXACT_SIDE, FEW_PER_COMPONENT * n_components)


def suits_exact(rows: Rows) -> bool:
    """Whether to compute an exact SVD; its basis must be no larger than the data."""
    n, m = rows.shape
    return min(n, m) <= EXACT_SIDE and (m <= 2 * EXACT_SIDE or rows.stored == n * m)


def _are_wide(rows: Rows) -> bool:
    """Whether rows are wide and in memory, with lengths whose fourth powers are in range."""
    (n, m), longest = rows.shape, rows.totals.longest
    return rows.in_memory and n < m and m > GRAM_FEATURES and 1e-3 < longest < 1e3


class LeavesRowSpace(np.linalg.LinAlgError):
    """U has no coordinates, or the rows span too few dimensions (U is None)."""

    def __init__(self, U: Array | None = None) -> None:
        super().__init__()
        self.U = U


class RowSpace(Problem):
    """The same problem as that of its rows, for U in their span.

    Where the rows span less than r dimensions there are no coordinates: `LeavesRowSpace` is raised.
    """

    @staticmethod
    def suits(rows: Rows) -> bool:
        """Whether it is faster, and safe.

        An exact SVD would need float64 here, and few dense rows take less time as they are.
        """
        n, m = rows.shape
        return _are_wide(rows) and (n > EXACT_SIDE or rows.stored < n * m)

    @property
    def _n(self) -> int:
        return self.rows.shape[0]

    def pair(self, A: Array) -> Array:
        """[A; XX'A], which represents U = X'A; one pass."""
        stacked = np.empty((2 * self._n, A.shape[1]), dtype=self.rows.dtype)
        stacked[: self._n] = A
        self.rows.project(self.rows.correlate(stacked[: self._n]), out=stacked[self._n :])
        return stacked

    def basis(self, U: Array) -> Array:
        """Orthonormal columns that span the subspace, shape (m, r); half a pass."""
        return refined(self.rows.correlate(U[: self._n]).astype(self.rows.dtype, copy=False))

    @property
    def inner(self) -> Inner:
        """The inner products of X'A and X'B."""
        return self._inner

    def _inner(self, A: Array, B: Array) -> Array:
        found = inner_products(A[: self._n], B[self._n :])
        return symmetric(found) if A is B else found

    def scalar_products(self, A: Array, matrices: Sequence[Array]) -> Array:
        """Traces of inner products."""
        return scalar_products(A[: self._n], [B[self._n :] for B in matrices])

    def random(self, columns: int, rng: np.random.Generator) -> Array:
        """Random sums of rows; one pass."""
        return self.pair(rng.standard_normal((self._n, columns), dtype=self.rows.dtype.type))

    def covariance_times(self, Q: Array, factor: Array | None = None) -> Array:
        """X'WX U, without the heaviest weight; one pass."""
        assert factor is None
        return self.pair(self.weighted(Q[self._n :]))

    def quadratic(self, S: Array, Q: Array) -> Array:
        """(XS)'W(XQ); no pass."""
        return inner_products(S[self._n :], self.weighted(Q[self._n :]))

    knows_projections = True

    def projections(self, S: Array) -> Array:
        """X S; no pass."""
        return S[self._n :]

    def sample(self, S: Array, most: int) -> tuple[Array, Array]:
        """Some rows of X S; no pass."""
        step = -(-self._n // most)
        return S[self._n :: step], self.rows.stats.weight[::step] / self.rows.heaviest

    def weighted(self, Y: Array) -> Array:
        """W Y, without the heaviest weight."""
        shares = self.rows.stats.weight / self.rows.heaviest
        return Y if (shares == 1).all() else Y * shares.astype(Y.dtype)[:, None]

    def evaluate(self, U: Array) -> Point:
        """Everything at U, from at most one pass: the second half is computed on demand."""
        V = np.empty((self._n, U.shape[1]), dtype=self.rows.dtype)

        def components(block: Block) -> tuple[Any, ...]:
            V[block.span], lengths = block.directions(U[self._n :][block.span])
            return block.sums(lengths)

        value, cosines = self.rows.sweep(components, passes=0.0)
        return RowPoint(self, U, V, value, cosines)


class FewRows(Problem):
    """The same problem for few long rows in as many coordinates as they span: rows Z, ZZ' = XX'.

    For cosines K = E L E' of rows with lengths N these are Z = N E L^(1/2), and C represents U = QC
    with Q = X'A, A = N^-1 E L^(-1/2).
    """

    def __init__(self, rows: Rows) -> None:
        norm, (n, m) = rows.stats.norm, rows.shape
        values, E = np.linalg.eigh(Problem(rows).cosines())
        some = values > (n + m) * float(np.finfo(values.dtype).eps) * max(values[-1], 0.0)
        root, E = np.sqrt(values[some]), E[:, some]
        inverse = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
        self._long, self._A = rows, (E / root * inverse[:, None]).astype(rows.dtype)
        Z = (E * root * norm[:, None]).astype(rows.dtype)
        super().__init__(as_rows(Z, weight=rows.stats.weight, normalize=False))

    @staticmethod
    def suits(rows: Rows, n_components: int) -> bool:
        """Whether it is cheaper than passes over the rows."""
        return suits_gram(rows.shape[0], n_components) and _are_wide(rows)

    def basis(self, C: Array) -> Array:
        """U, shape (m, r); half a pass."""
        return refined(self._long.correlate(product(self._A, C)).astype(C.dtype, copy=False))

    def coordinates(self, U: Array) -> Array:
        """C; half a pass."""
        return refined(product(self._A.T, self._long.project(U)))

    def evaluate(self, U: Array) -> Point:
        """Everything at U, with the way back to the long rows."""
        return LongPoint(self, super().evaluate(U))


class LongPoint(Point):
    """A point whose basis is that of the long rows."""

    def __init__(self, space: FewRows, point: Point) -> None:
        vars(self).update({**vars(point), "_space": space})

    _space: FewRows

    @property
    def basis(self) -> Array:
        """Orthonormal columns that span the subspace; half a pass."""
        return self._space.basis(self.U)


class RowPoint(Point):
    """The point at U.  Gradients lack the factor of the heaviest weight."""

    def __init__(self, space: RowSpace, U: Array, V: Array, value: float, cosines: float) -> None:
        loss = space.loss(value)
        known = {"U": U, "value": value, "cosines": cosines, "loss": loss, "_space": space, "_V": V}
        vars(self).update(known)

    _space: RowSpace
    _V: Array

    @property
    def basis(self) -> Array:
        """Orthonormal columns that span the subspace; half a pass."""
        return self._space.basis(self.U)

    @cached_property
    def _B(self) -> Array:
        return self._space.weighted(self._V)

    @cached_property
    def moment(self) -> Array:
        """V'WV, in float64."""
        found = inner_products(self._V, self._B).astype(np.float64)
        return symmetric(found) * self._space.rows.heaviest

    @cached_property
    def pull(self) -> Array:
        """H = U'G."""
        return symmetric(inner_products(self.U[len(self._V) :], self._B))

    @cached_property
    def _outside(self) -> tuple[Array, Array]:
        """D, and X'D, shape (m, r)."""
        D = self._B - product(self.U[: len(self._V)], self.pull)
        return D, self._space.rows.correlate(D)

    @cached_property
    def residual(self) -> float:
        """Relative Riemannian gradient."""
        outside = frobenius(self._outside[1])
        size = math.hypot(outside, frobenius(self.pull))
        return outside / size if size > 0 else 0.0

    @cached_property
    def tangent(self) -> Array:
        """R = G - U H."""
        D, P = self._outside
        Q = self._space.rows.project(P)
        return np.vstack([D, Q])

    @cached_property
    def gradient(self) -> Array:
        """G = R + U H."""
        return self.tangent + product(self.U, self.pull)

    @cached_property
    def delta(self) -> float:
        """||G||_* - f(U) >= 0."""
        P = self._outside[1]
        H = np.asarray(self.pull, dtype=np.float64)
        squares = np.linalg.eigvalsh(H @ H + inner_products(P, P))
        nuclear_norm = float(np.sqrt(np.maximum(squares, 0.0)).sum()) * self._space.rows.heaviest
        return max(0.0, nuclear_norm - self.value)
