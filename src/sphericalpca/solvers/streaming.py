"""Streams of batches: each is read once, and a few m x r matrices and a few rows are kept.

Exact alternation sets U to the polar factor of the gradient, the mean of x v' over all
rows.  A stream cannot return to earlier rows, so it keeps a running mean M of their
gradients.  But each v was computed at an earlier U, and M alone lags behind.  When
U makes a step D, the gradient of a row changes, to first order, by

    x x'D (I - v v') / ||U'x||,    on average about    A D (I - C),

where A is the mean of x x' / ||U'x||, and C that of v v' with weights 1 / ||U'x||.  So M
is corrected by this amount whenever U moves.  At a solution D is zero, so errors of this
approximation cost some speed, but the stream still ends where alternation ends.

A is m x m.  It is represented by its products with a basis S of some 2 r columns, U among them
(a Nystroem approximation), and S follows its leading directions from batch to batch.

Where U'x vanishes, v is discontinuous.  Rows close to that would dominate A and C, so v is
smoothed there: U'x / s, with s^2 = ||U'x||^2 + h^2 ||x||^2.  Its derivative has 1 / s
in place of 1 / ||U'x||, and v v' ||U'x||^2 / s^2 in place of v v'.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sphericalpca.linalg import (
    Array,
    canonical_rotation,
    fix_signs,
    frobenius,
    orthonormal_outside,
    polar,
    refined,
)
from sphericalpca.problem import CanonicalForm, Problem, symmetric
from sphericalpca.products import combination, inner_products, product
from sphericalpca.rows import Block, Rows
from sphericalpca.solvers.reservoir import Reservoir
from sphericalpca.solvers.start import svd_start

__all__ = ["Stream"]

# Besides U the basis has r columns, and at least this many.
FEWEST_BESIDE = 8
# The h above, in multiples of the cosine between U and random directions, sqrt(r / m).
SMOOTHING = 0.5


class _Means(NamedTuple):
    """Means over rows, in float64; in a stream older rows count less."""

    moment: Array  # of v v', shape (r, r)
    sharpness: float  # of ||x|| / s
    radial: Array  # of v v' ||U'x||^2 ||x|| / s^3, shape (r, r); over the sharpness it is C

    def mixed(self, old: float, other: _Means) -> _Means:
        """The weighted mean of these, with the share `old`, and the others."""
        pairs: Any = zip(self, other, strict=True)
        return _Means(*(old * ours + (1.0 - old) * theirs for ours, theirs in pairs))


class Stream(NamedTuple):
    """The state of a stream after the rows so far.

    In all means the weight of a row is multiplied by its place in the stream.  So the second half
    counts three quarters: enough to outgrow a poor start and to follow data that change, while
    noise averages out over many rows.  Only in the mean cosine do all places count equally.
    """

    basis: Array  # S, shape (m, k), orthonormal columns; the first r are U
    gradient: Array  # M, the mean of x v' at the current U, shape (m, r)
    curvature: Array  # S'AS for A the mean of x x' / s, float64, shape (k, k)
    means: _Means
    reservoir: Reservoir  # represents all rows of the stream
    weight: float = 0.0  # of all rows that have a direction
    n_rows: int = 0
    cosine: float = 0.0  # the mean of ||U'x|| / ||x|| of an earlier fit

    @staticmethod
    def at(basis: Array, n_components: int) -> Stream:
        """A stream before its first row; the basis begins with the initial U."""
        r, basis = n_components, _filled(basis, n_components)
        m, k = basis.shape
        nothing = _Means(np.zeros((r, r)), 0.0, np.zeros((r, r)))
        empty = Reservoir(np.empty((0, m), basis.dtype))
        return Stream(basis, np.zeros((m, r), basis.dtype), np.zeros((k, k)), nothing, empty)

    @staticmethod
    def at_svd(problem: Problem, n_components: int, rng: np.random.Generator) -> Stream:
        """A stream before its first row, at the SVD of its first rows."""
        columns = _columns(problem.rows.shape[1], n_components)
        U = svd_start(problem, columns, rng).U
        return Stream.at(U.astype(problem.rows.dtype, copy=False), n_components)

    @staticmethod
    def at_solution(
        U: Array, shares: Array, cosine: float, *, length: float, weight: float
    ) -> Stream:
        """A stream whose past is known only by its solution and the length of its rows.

        At a solution M = U H, where H is the mean of ||U'x|| v v'.  That is close to the mean
        length of projections times the mean of v v', the diagonal matrix of the shares.
        """
        r, pull, moment = len(shares), length * cosine * shares, np.diag(shares)
        stream, means = Stream.at(U, r), _Means(moment, 1.0, moment)
        stream.curvature[:r, :r] = np.diag(pull)
        gradient = U * pull.astype(U.dtype)
        return stream._replace(gradient=gradient, means=means, weight=weight, cosine=cosine)

    @property
    def U(self) -> Array:
        """The subspace, shape (m, r)."""
        return self.basis[:, : self.gradient.shape[1]]

    def after(self, rows: Rows) -> Stream:
        """The stream with these rows added: one read of them, one exact U step."""
        n_rows, weight = self.n_rows + rows.shape[0], self.weight + rows.totals.weight
        if rows.totals.weight == 0:
            return self._replace(n_rows=n_rows)
        old = (self.weight / weight) ** 2  # places from 0 to w add up to w^2 / 2
        shares = np.array([old, 1.0 - old])
        cosine, seen, gradient, products = _look_at(rows, self.basis, self.gradient.shape[1])
        means = self.means.mixed(old, seen)
        past = product(self.basis, self.curvature.astype(self.basis.dtype))
        N = _factor(self.basis, combination(shares, [past, products]))
        M = combination(shares, [self.gradient, gradient])
        U = polar(M).factor
        turn = inner_products(N, U - self.U)
        turn = turn - turn @ (means.radial / means.sharpness)  # D (I - C)
        M += product(N, turn.astype(M.dtype))
        basis = _widened(U, N)
        C = np.asarray(inner_products(basis, N), dtype=np.float64)
        kept = self.reservoir.after(rows, self.U, cosine=cosine, place=self.n_rows)
        return Stream(basis, M, C @ C.T, means, kept, weight, n_rows, self.cosine)

    def canonical(self) -> CanonicalForm:
        """U rotated so that the mean of v v' is diagonal; the value of f is not known."""
        cosine, share = math.nan, self.reservoir.total / (self.weight or 1.0)
        if share > 0:  # rows of an earlier fit count with their mean cosine at that time
            cosine = share * self.reservoir.mean_cosine(self.U) + (1.0 - share) * self.cosine
        Q, eigenvalues = canonical_rotation(self.means.moment)
        total, r = eigenvalues.sum(), len(eigenvalues)
        return CanonicalForm(
            U=refined(fix_signs(product(self.U, Q.astype(self.basis.dtype)))),
            shares=eigenvalues / total if total > 0 else np.full(r, 1 / r),
            value=math.nan,
            mean_cosine=min(cosine, 1.0),
        )


def _columns(m: int, r: int) -> int:
    return min(r + max(r, FEWEST_BESIDE), m)


def _look_at(rows: Rows, basis: Array, r: int) -> tuple[float, _Means, Array, Array]:
    """Means over these rows alone: the cosine, those of `_Means`, the gradient, and A S."""
    kernel = partial(_look, basis=basis.astype(rows.dtype, copy=False), r=r)
    sums = rows.sweep(kernel, columns=2 * basis.shape[1] + r)
    cosine, *means, products = (part / rows.totals.weight for part in sums)
    products = products.astype(basis.dtype, copy=False)
    return cosine, _Means(*means), products[:, :r], products[:, r:]


def _look(block: Block, basis: Array, r: int) -> tuple[Any, ...]:
    Y = block.project(basis)
    V, lengths = block.directions(Y[:, :r])
    norm = np.where(block.norm > 0, block.norm, 1.0)
    cosines = lengths / norm
    smooth = np.hypot(cosines, SMOOTHING * math.sqrt(r / len(basis)))
    Y /= (smooth * norm).astype(Y.dtype)[:, None]
    return (
        float(block.weight @ cosines),
        block.moment(V),
        float(block.weight @ (1.0 / smooth)),
        block.moment(V * (cosines / smooth**1.5).astype(V.dtype)[:, None]),
        block.correlate(np.hstack([V, Y]), overwrite=True),
    )


def _factor(S: Array, AS: Array) -> Array:
    """N with N N' = AS (S'AS)^-1 (AS)', which equals A if the span of S contains that of A."""
    values, Q = np.linalg.eigh(symmetric(np.asarray(inner_products(S, AS), dtype=np.float64)))
    kept = values > _rounding(float(values[-1]), S.dtype)
    return product(AS, (Q[:, kept] / np.sqrt(values[kept])).astype(S.dtype))


def _widened(U: Array, N: Array) -> Array:
    """An orthonormal basis of U and of the longest directions of N beside it."""
    room = _columns(*U.shape) - U.shape[1]
    R = N - product(U, inner_products(U, N))
    squares, Q = np.linalg.eigh(np.asarray(inner_products(R, R), dtype=np.float64))
    squares, Q = squares[::-1][:room], Q[:, ::-1][:, :room]
    kept = squares > _rounding(frobenius(N) ** 2, U.dtype)
    E = product(R, (Q[:, kept] / np.sqrt(squares[kept])).astype(U.dtype))
    return _filled(np.hstack([U, refined(E)]), U.shape[1])


def _filled(basis: Array, r: int) -> Array:
    """The basis, filled up with random columns.

    Rows in the span of U show no other direction, and A U has the span of the next U: random
    directions are as good as any.
    """
    m, k = basis.shape
    R = np.random.default_rng(0).standard_normal((m, _columns(m, r) - k)).astype(basis.dtype)
    if R.size == 0:
        return basis
    R -= product(basis, inner_products(basis, R))
    return np.hstack([basis, orthonormal_outside(basis, R)])


def _rounding(largest: float, dtype: Any) -> float:
    """Eigenvalues up to this one are rounding errors of the largest."""
    return float(np.finfo(dtype).eps ** 0.75) * max(largest, 0.0)
