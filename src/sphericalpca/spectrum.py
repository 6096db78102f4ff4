"""The sum of the r largest eigenvalues of A = sum_j factor_j^2 x_j x_j', bounded from above.

For orthonormal E with E'AE = Theta, R = AE - E Theta, and xi at least the largest eigenvalue of A
outside E, A is at most [Theta R'; R xi] in a basis that begins with E.  Block Lanczos from random
vectors bounds xi, except with probability `FAILURE`.  docs/guide/certificate.rst derives both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from sphericalpca.linalg import Array, column_basis, orthonormal_outside, row_norms
from sphericalpca.parallel import parallel
from sphericalpca.problem import Problem, lengths_of_projections, symmetric
from sphericalpca.products import inner_products, product
from sphericalpca.rows import DoubleRows
from sphericalpca.rows.namespace import NamespaceRows

__all__ = ["FAILURE", "LeadingEigenvalues", "Ritz", "tangent"]

# A bound may fail with this probability.
FAILURE = 1e-9
# Seed of the random vectors.  With a usual seed, such as 0, vectors could equal those of a fit or
# of the data, and would not be independent of them.
SEED = 0x2C1A_94F3_7B60_E85D_13D9_0A72_C64E_5F81
# Vectors beyond the r requested ones, so that the rest of A is far below the r-th eigenvalue.
SPARE, SPARE_SHARE = 8, 0.5
# Random vectors that Lanczos' method starts from, and products: more for close eigenvalues.
BLOCK, FEW_PRODUCTS, MANY_PRODUCTS = 16, 8, 48
# Blocks that refine Ritz vectors at a time, and how often.
DEPTH, ROUNDS = 3, 12

Operator = Callable[[Array], Array]


@dataclass(frozen=True)
class Ritz:
    """Approximate eigenvectors of A within a subspace: E'E = I and E'AE is diagonal."""

    values: Array  # decreasing, shape (k,)
    vectors: Array  # E, shape (d, k)
    images: Array  # AE

    @classmethod
    def within(cls, S: Array, AS: Array, count: int) -> Ritz:
        """The leading ones in the span of orthonormal S."""
        values, C = np.linalg.eigh(symmetric(inner_products(S, AS)))
        C = np.ascontiguousarray(C[:, ::-1][:, :count])
        return cls(values[::-1][:count], product(S, C), product(AS, C))

    def refined(self, times: Operator, depth: int) -> Ritz:
        """Better ones, from `depth` more blocks: a product with A for each."""
        size, end = self.vectors.shape
        S, AS = np.empty((2, size, end * (depth + 1)))
        S[:, :end], AS[:, :end] = self.vectors, self.images
        D: Array = self.images - self.vectors * self.values
        for _ in range(depth):
            D = orthonormal_outside(S[:, :end], D)
            if D.shape[1] == 0:
                break
            new, end = slice(end, end + D.shape[1]), end + D.shape[1]
            S[:, new], AS[:, new] = D, times(D)
            D = AS[:, new] - product(S[:, :end], inner_products(S[:, :end], AS[:, new]))
        return Ritz.within(S[:, :end], AS[:, :end], len(self.values))

    @cached_property
    def _root(self) -> Array:
        """(R'R)^(1/2) for R = AE - E Theta, or more: R'R plus its largest rounding errors."""
        R = self.images - self.vectors * self.values
        squares, C = np.linalg.eigh(symmetric(inner_products(R, R)))
        rounding = len(R) * float(np.finfo(np.float64).eps) * float(squares.sum())
        return np.asarray((C * np.sqrt(np.maximum(squares, 0.0) + rounding)) @ C.T)

    def top_sum(self, r: int, rest: float) -> float:
        """Bound the sum of the r largest eigenvalues, if those outside E are at most `rest`."""
        root, outside = self._root, rest * np.eye(len(self.values))
        whole = np.block([[np.diag(self.values), root], [root, outside]])
        found = np.append(np.linalg.eigvalsh(whole), np.full(r, rest))
        return float(np.sort(found)[-r:].sum())


class LeadingEigenvalues:
    """Leading eigenvalues of weighted covariances, each computed from those of the last.

    For rows in memory that are fewer than their features, vectors have a number for each row, and A
    stands for the n x n matrix of the weighted rows' products.  Products are made in float64.
    """

    def __init__(self, problem: Problem, U: Array) -> None:
        # Some devices lack float64.
        as_given = isinstance(problem.rows, NamespaceRows) or problem.rows.dtype == np.float64
        self._rows = problem.rows if as_given else DoubleRows(problem.rows)
        # The probability that a bound fails, if known.
        self.failure = FAILURE if self._rows.dtype == np.float64 else None
        self._problem, (n, m), self._r = Problem(self._rows), self._rows.shape, U.shape[1]
        self._by_rows = self._rows.in_memory and n < m
        self._size = n if self._by_rows else m
        self._factor: Array = np.ones(n)
        self._rng = np.random.default_rng(SEED)
        count = min(math.ceil((1 + SPARE_SHARE) * self._r) + SPARE, self._size)
        # How many columns fit: two sets of `count` for each block, and working space.
        self._columns = self._rows.room // (8 * self._size)
        self._depth = int(np.clip(self._columns // (2 * count) - 3, 1, DEPTH))
        # Approximate eigenvectors in the column space, or their products with the rows.
        near = self._rows.project(U) if self._by_rows else U
        random = self._rng.standard_normal((self._size, max(count - self._r, 0)))
        self._near = np.hstack([near, random / math.sqrt(self._size)])[:, :count]

    def estimate(self, factor: Array, enough: float) -> tuple[float, Array]:
        """The sum of r eigenvalues, about to `enough`, and lengths of rows in their span."""
        with parallel():
            trace, found = self._ritz(factor, enough)
            top = trace * found.top_sum(self._r, float(found.values[-1]))
            if self._by_rows:
                return top, row_norms(self._near[:, : self._r])
            return top, lengths_of_projections(self._problem, found.vectors[:, : self._r])

    def bound(self, factor: Array, enough: float) -> float:
        """An upper bound on that sum, about as tight; it fails with probability `FAILURE`."""
        with parallel():
            trace, found = self._ritz(factor, enough)
            E, k = np.linalg.qr(found.vectors)[0], len(found.values)
            found = Ritz.within(E, self._times(E), k)
            rounding = sum(self._rows.shape) * float(np.finfo(np.float64).eps)
            limit = (self._columns - 5 * k) // BLOCK - 4
            limit = int(np.clip(limit, FEW_PRODUCTS, MANY_PRODUCTS))
            top, allowance = math.inf, math.sqrt(k + BLOCK * limit) * rounding
            for least, ratio in _largest_outside(self._times, found.vectors, self._rng, limit):
                top = min(top, found.top_sum(self._r, ratio * (least + allowance)))
                if trace * (top - found.top_sum(self._r, least)) <= enough:
                    break
            return trace * (top + 4 * math.sqrt(self._r * k) * rounding)

    def _ritz(self, factor: Array, enough: float) -> tuple[float, Ritz]:
        """The trace of A, and Ritz vectors of A over its trace, which is A from here on.

        Their residuals matter less than `enough`, or are as small as they get.
        """
        trace = float(np.square(factor * self._rows.stats.norm).sum())
        self._factor = factor / math.sqrt(trace)
        column, eps = self._factor[:, None], float(np.finfo(np.float64).eps)
        near: Array = self._near * column if self._by_rows else self._near
        length = row_norms(near.T)  # rows may be long, random vectors are not
        near = near / np.where(length > 0, length, 1.0)
        S = column_basis(column_basis(near, eps, inner_products), 0.25, inner_products)
        found, before = Ritz.within(S, self._times(S), S.shape[1]), math.inf
        for hard in range(ROUNDS):
            # At least once: the error of vectors from another matrix is unknown.
            found = found.refined(self._times, self._depth if hard else 1)
            error = found.top_sum(self._r, float(found.values[-1]))
            error -= float(found.values[: self._r].sum())
            if trace * error <= enough or error > 0.9 * before:
                break
            before = error
        self._near = found.vectors
        if self._by_rows:
            scale = column * np.sqrt(np.maximum(found.values, eps * found.values[0]))
            zeros = np.zeros_like(found.images)
            self._near = np.divide(found.images, scale, out=zeros, where=scale > 0)
        return trace, found

    def _times(self, Q: Array) -> Array:
        """A Q; one pass."""
        if not self._by_rows:
            return self._problem.covariance_times(Q, self._factor)
        column, rows = self._factor[:, None], self._problem.rows
        return column * rows.project(rows.correlate(Q * column))


def tangent(block: int, size: int, failure: float) -> float:
    """The tangent of the angle of a vector to a random span, exceeded with probability `failure`.

    P(Beta(a, c) <= x) <= x^a / (a B(a, c)) for c >= 1 is solved for x = cos^2.  A smaller c
    is more favourable, so 1 is used.
    """
    a, c = block / 2, max((size - block) / 2, 1.0)
    logarithm = (math.log(failure * a) + float(special.betaln(a, c))) / a
    return math.sqrt(max(math.exp(-logarithm) - 1.0, 0.0))


def _largest_outside(
    times: Operator, E: Array, rng: np.random.Generator, limit: int
) -> Iterator[tuple[float, float]]:
    """A lower bound on the largest eigenvalue of A outside E, and by what factor it may be larger.

    One pair for each product; all factors hold, except with probability `FAILURE`.
    """
    size, start = E.shape
    left, end = size - start, start
    if left == 0:
        yield 0.0, 1.0
        return
    W, T = np.empty((size, min(start + BLOCK * limit, size))), np.zeros((0, 0))
    W[:, :start] = E
    angle = math.asinh(tangent(BLOCK, left, FAILURE)) if left > BLOCK else 0.0
    P: Array = rng.standard_normal((size, min(BLOCK, left)))
    for products in range(1, limit + 1):
        width = min(BLOCK, size - end)
        for _ in range(3):  # where nothing is left of P but rounding errors, these too
            P -= product(W[:, :end], inner_products(W[:, :end], P))
            P = np.linalg.qr(P)[0][:, :width]
        W[:, end : end + width] = P
        P, end = times(P), end + width
        coupling = inner_products(W[:, start:end], P)
        T = np.pad(T, (0, width))
        T[:, -width:], T[-width:] = coupling, coupling.T
        least = max(float(np.linalg.eigvalsh(T)[-1]), 0.0)
        whole = end == size
        factor = 1.0 if whole else math.cosh(angle / (2 * products - 1)) ** 2
        yield least, factor
        if whole:
            return
