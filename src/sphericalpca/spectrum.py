"""The sum of the r largest eigenvalues of A = sum_j factor_j^2 x_j x_j', bounded from above.

For orthonormal E with E'AE = Theta, R = AE - E Theta, and xi at least the largest eigenvalue of A
outside E, A is at most [Theta R'; R xi] in a basis that begins with E.  Block Lanczos from random
vectors bounds xi, except with probability `FAILURE`.  docs/guide/certificate.rst derives both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import sparse, special

from sphericalpca.kernels import CompressedRows
from sphericalpca.linalg import Array, column_basis, orthonormal_outside, row_norms
from sphericalpca.parallel import parallel
from sphericalpca.problem import Problem, lengths_of_projections, symmetric
from sphericalpca.products import inner_products, product
from sphericalpca.rows import Block
from sphericalpca.rows.namespace import NamespaceRows

__all__ = ["FAILURE", "LeadingEigenvalues", "Ritz", "tangent"]

# A bound may fail with this probability.
FAILURE = 1e-9
# Vectors beyond the r that are asked for, so that the rest of A is far below the r-th eigenvalue.
SPARE, SPARE_SHARE = 8, 0.5
# Random vectors that Lanczos starts from, and products: more for eigenvalues that hardly differ.
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
        """Better ones, from `depth` blocks more: a product with A for each."""
        S, AS = self.vectors, self.images
        D: Array = AS - S * self.values
        for _ in range(depth):
            D = orthonormal_outside(S, D)
            if D.shape[1] == 0:
                break
            AD = times(D)
            S, AS = np.hstack([S, D]), np.hstack([AS, AD])
            D = AD - product(S, inner_products(S, AD))
        return Ritz.within(S, AS, len(self.values))

    def top_sum(self, r: int, rest: float) -> float:
        """Bound the sum of the r largest eigenvalues, if those outside E are at most `rest`."""
        R = self.images - self.vectors * self.values
        squares, C = np.linalg.eigh(symmetric(inner_products(R, R)))
        root, count = (C * np.sqrt(np.maximum(squares, 0.0))) @ C.T, len(squares)
        whole = np.block([[np.diag(self.values), root], [root, rest * np.eye(count)]])
        found = np.append(np.linalg.eigvalsh(whole), np.full(r, rest))
        return float(np.sort(found)[-r:].sum())


class LeadingEigenvalues:
    """Leading eigenvalues of weighted covariances, each found from those of the last.

    Of rows in memory that are fewer than their features, vectors have a number for each row, and A
    stands for the n x n matrix of the weighted rows' products.  Products are made in float64.
    """

    def __init__(self, problem: Problem, U: Array) -> None:
        self._problem, self._rows = problem, problem.rows
        (n, m), self._r = self._rows.shape, U.shape[1]
        self._by_rows = self._rows.in_memory and n < m
        self._size = min(n, m) if self._by_rows else m
        self._factor: Array = np.ones(n)
        self._rng = np.random.default_rng(0)
        count = min(math.ceil((1 + SPARE_SHARE) * self._r) + SPARE, self._size)
        self._depth = int(np.clip(self._rows.room // (16 * self._size * count) - 1, 1, DEPTH))
        kept = self._rows.in_memory and 20 * self._rows.stored <= self._rows.room
        self._kept: dict[int, Block] | None = {} if kept else None
        # What is near eigenvectors of the column space, or their products with the rows.
        near = self._rows.project(U) if self._by_rows else U
        random = self._rng.standard_normal((self._size, max(count - self._r, 0)))
        self._near = np.hstack([near, random / math.sqrt(self._size)])[:, :count]

    @property
    def failure(self) -> float | None:
        """The probability that a bound fails; None where products cannot be made in float64."""
        single = isinstance(self._rows, NamespaceRows) and self._rows.dtype != np.float64
        return None if single else FAILURE

    def estimate(self, factor: Array, enough: float) -> tuple[float, Array]:
        """The sum of r eigenvalues, about to `enough`, and lengths of rows in their span."""
        with parallel():
            found = self._ritz(factor, enough)
            top = found.top_sum(self._r, float(found.values[-1]))
            if self._by_rows:
                return top, row_norms(self._near[:, : self._r])
            return top, lengths_of_projections(self._problem, found.vectors[:, : self._r])

    def bound(self, factor: Array, enough: float) -> float:
        """An upper bound of that sum, about as tight; it fails with probability `FAILURE`."""
        with parallel():
            found = self._ritz(factor, enough)
            E: Array = np.linalg.qr(found.vectors)[0]
            found = Ritz.within(E, self._times(E), len(found.values))
            rounding = sum(self._rows.shape) * float(np.finfo(np.float64).eps)
            rounding *= float(np.square(factor * self._rows.stats.norm).sum())
            limit = (self._rows.room // (8 * self._size) - E.shape[1]) // BLOCK
            limit = int(np.clip(limit, FEW_PRODUCTS, MANY_PRODUCTS))
            top = math.inf
            allowance = math.sqrt(E.shape[1] + BLOCK * limit) * rounding
            for least, most in _largest_outside(self._times, found.vectors, self._rng, limit):
                top = min(top, found.top_sum(self._r, most + allowance))
                if top - found.top_sum(self._r, least) <= enough:
                    break
            return top + 4 * math.sqrt(self._r * E.shape[1]) * rounding

    def _ritz(self, factor: Array, enough: float) -> Ritz:
        """Ritz vectors whose residuals matter no more than `enough`, or as good as they get."""
        self._factor = factor
        column = factor[:, None]
        near: Array = self._near * column if self._by_rows else self._near
        eps = float(np.finfo(np.float64).eps)
        S = column_basis(column_basis(near, eps, inner_products), 0.25, inner_products)
        found, before = Ritz.within(S, self._times(S), S.shape[1]), math.inf
        for hard in range(ROUNDS):
            # Once at least: vectors near those of another matrix do not know their own error.
            found = found.refined(self._times, self._depth if hard else 1)
            error = found.top_sum(self._r, float(found.values[-1]))
            error -= float(found.values[: self._r].sum())
            if error <= enough or error > 0.9 * before:
                break
            before = error
        self._near = found.vectors
        if self._by_rows:
            scale = column * np.sqrt(np.maximum(found.values, eps * found.values[0]))
            zeros = np.zeros_like(found.images)
            self._near = np.divide(found.images, scale, out=zeros, where=scale > 0)
        return found

    def _times(self, Q: Array) -> Array:
        """A Q; one pass."""
        factor = self._factor
        if not self._by_rows:
            kernel = partial(_covariance_times, Q=Q, factor=factor, kept=self._kept)
            return np.asarray(self._rows.sweep(kernel, columns=2 * Q.shape[1])[0])
        out = np.empty_like(Q)
        V = Q * factor[:, None]

        def correlate(block: Block) -> tuple[Array]:
            block = _in_double(block, self._kept)
            return (block.correlate(V[block.span], np.ones(len(block.weight))),)

        def project(block: Block) -> tuple[()]:
            out[block.span] = _in_double(block, self._kept).project(P)
            return ()

        P = self._rows.sweep(correlate, columns=Q.shape[1], passes=0.5)[0]
        self._rows.sweep(project, columns=Q.shape[1], passes=0.5)
        return np.multiply(out, factor[:, None], out=out)


def tangent(block: int, size: int, failure: float) -> float:
    """The tangent of an angle that a vector and the span of random ones exceed so rarely.

    P(Beta(a, c) <= x) <= x^a / (a B(a, c)) for c >= 1: that is solved for x = cos^2.  A smaller c
    is more favourable.
    """
    a, c = block / 2, max((size - block) / 2, 1.0)
    logarithm = (math.log(failure * a) + float(special.betaln(a, c))) / a
    return math.sqrt(max(math.exp(-logarithm) - 1.0, 0.0))


def _largest_outside(
    times: Operator, E: Array, rng: np.random.Generator, limit: int
) -> Iterator[tuple[float, float]]:
    """Bounds, from below and above, of the largest eigenvalue of A outside E.

    One pair for each product; those from above all hold, except with probability `FAILURE`.
    """
    (size, start), left = E.shape, E.shape[0] - E.shape[1]
    if left == 0:
        yield 0.0, 0.0
        return
    W, T, end = E, np.zeros((0, 0)), start
    angle = math.asinh(tangent(BLOCK, left, FAILURE)) if left > BLOCK else 0.0
    P: Array = rng.standard_normal((size, min(BLOCK, left)))
    for products in range(1, limit + 1):
        width = min(BLOCK, size - end)
        for _ in range(3):  # where nothing is left of P, it is rounding errors: these too
            P = np.linalg.qr(P - product(W, inner_products(W, P)))[0][:, :width]
        W, end = np.hstack([W, P]), end + width
        P = times(P)
        coupling = inner_products(W[:, start:], P)
        T = np.pad(T, (0, width))
        T[:, -width:], T[-width:] = coupling, coupling.T
        least = max(float(np.linalg.eigvalsh(T)[-1]), 0.0)
        whole = end == size
        factor = 1.0 if whole else math.cosh(angle / (2 * products - 1)) ** 2
        yield least, least * factor
        if whole:
            return


def _covariance_times(
    block: Block, Q: Array, factor: Array, kept: dict[int, Block] | None
) -> tuple[Array]:
    return (_in_double(block, kept).covariance_times(Q, factor[block.span]),)


def _in_double(block: Block, kept: dict[int, Block] | None) -> Block:
    """The block in float64, kept for the next pass if there is room; on a device as it is."""
    X = block.matrix
    if not (isinstance(X, np.ndarray) or sparse.issparse(X)) or X.dtype == np.float64:
        return block
    if kept is not None and block.span.start in kept:
        return kept[block.span.start]
    shift = None if block.shift is None else block.shift.astype(np.float64)
    if isinstance(X, np.ndarray):
        return replace(block, matrix=X.astype(np.float64), shift=shift)
    matrix: Any = sparse.csr_array(X.shape, dtype=np.float64)
    matrix.data, matrix.indices, matrix.indptr = X.data.astype(np.float64), X.indices, X.indptr
    turned = cache(CompressedRows(matrix).transposed) if block.transposed is not None else None
    wide = replace(block, matrix=matrix, shift=shift, transposed=turned)
    if kept is not None:
        kept[block.span.start] = wide
    return wide
