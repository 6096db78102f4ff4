"""The problem: maximise f(U) = sum_j w_j ||U'x_j|| over orthonormal U (m x r).

This is Spherical PCA with the components eliminated.  The paper's loss is ::

    h(U, V) = sum_j w_j ||x_j - U v_j||^2
            = sum_j w_j (||x_j||^2 + 1) - 2 sum_j w_j <U'x_j, v_j>

because U'U = I and ||v_j|| = 1; the best v_j is the unit vector along U'x_j.  So no
n x m residual is ever formed, and one pass over the rows gives value and gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from sphericalpca.linalg import (
    Array,
    Inner,
    canonical_rotation,
    fix_signs,
    frobenius,
    polar,
    refined,
    row_norms,
)
from sphericalpca.products import inner_products, product, scalar_products, times
from sphericalpca.rows import Block, Rows, as_rows

__all__ = [
    "CanonicalForm",
    "FinalSums",
    "Point",
    "Problem",
    "lengths_of_projections",
    "residual",
    "symmetric",
]


class FinalSums(NamedTuple):
    """What `Problem.canonical_form` needs besides U at the end of a fit."""

    value: float  # f(U)
    cosines: float  # sum_j w_j ||U'x_j|| / ||x_j||
    moment: Array  # V'WV, in float64


@dataclass(frozen=True)
class Point:
    """The result of one pass at U.

    Attributes
    ----------
    U : array, shape (m, r)
    value : float
        f(U) = sum_j w_j ||U'x_j||.
    cosines : float
        sum_j w_j ||U'x_j|| / ||x_j||; NaN in an auxiliary problem.
    gradient : array, shape (m, r)
        G = X'WV with V the best components at U.
    moment : float64 array, shape (r, r), or None
        V'WV; None in an auxiliary problem.
    loss : float
        h at U and its best V.
    """

    U: Array
    value: float
    cosines: float
    gradient: Array
    moment: Array | None
    loss: float

    def not_below(self, other: Point, roundings: float = 1.0) -> bool:
        """Whether f did not fall from `other` to here, up to rounding errors of the data's type."""
        rounding = roundings * float(np.finfo(self.U.dtype).eps)
        return self.value >= other.value * (1.0 - rounding)

    @property
    def basis(self) -> Array:
        """Orthonormal columns that span the subspace, shape (m, r)."""
        return self.U

    @cached_property
    def pull(self) -> Array:
        """H = U'G, which is symmetric and positive semidefinite."""
        return symmetric(inner_products(self.U, self.gradient))

    @cached_property
    def tangent(self) -> Array:
        """R = G - U H, the part of the gradient that turns the subspace."""
        within = product(self.U, self.pull)
        return np.subtract(self.gradient, within, out=within)

    @cached_property
    def residual(self) -> float:
        """Relative Riemannian gradient ||G - U sym(U'G)||_F / ||G||_F."""
        size = frobenius(self.gradient)
        return frobenius(self.tangent) / size if size > 0 else 0.0

    @property
    def final_sums(self) -> FinalSums | None:
        """What `Problem.canonical_form` needs besides U; None in an auxiliary problem."""
        return None if self.moment is None else FinalSums(self.value, self.cosines, self.moment)

    @cached_property
    def delta(self) -> float:
        """||G||_* - f(U) >= 0; the exact step raises f by at least this much."""
        return max(0.0, polar(self.gradient).nuclear_norm - self.value)


@dataclass(frozen=True)
class CanonicalForm:
    """The representative of a subspace that is reported to users.

    Attributes
    ----------
    U : array, shape (m, r)
        Rotated so that V'WV is diagonal and decreasing; largest loadings positive.
    shares : array, shape (r,)
        Eigenvalues of V'WV / sum w; they sum to 1.
    value : float
        f(U).
    mean_cosine : float
        sum_j w_j ||U'x_j|| / ||x_j|| / sum w.
    """

    U: Array
    shares: Array
    value: float
    mean_cosine: float


class Problem:
    """Spherical PCA on given rows: every quantity a solver may ask for.

    Methods that read the data take one pass over the rows each, or half a pass.

    Parameters
    ----------
    rows : Rows
    auxiliary : bool, default=False
        Whether no fit ends with this problem; its points then lack the final sums.
    """

    def __init__(self, rows: Rows, *, auxiliary: bool = False) -> None:
        self.rows = rows
        self._auxiliary = auxiliary

    @property
    def inner(self) -> Inner:
        """A'B as a function of matrices whose columns represent vectors of m numbers."""
        return inner_products

    def scalar_products(self, A: Array, matrices: Sequence[Array]) -> Array:
        """<A, B> for every such matrix B, in float64."""
        return scalar_products(A, matrices)

    def random(self, columns: int, rng: np.random.Generator) -> Array:
        """A matrix of random columns, from which the SVD may start."""
        return rng.standard_normal((self.rows.shape[1], columns), dtype=self.rows.dtype.type)

    def loss(self, alignment: float, components_energy: float | None = None) -> float:
        """The loss h from the alignment sum_j w_j <U'x_j, v_j>; at the best V that is f(U).

        `components_energy` is sum_j w_j ||v_j||^2, needed where V is not unit.
        """
        totals = self.rows.totals
        total = totals.weight if components_energy is None else components_energy
        return float((totals.energy - alignment) + (total - alignment))

    def evaluate(self, U: Array) -> Point:
        """Compute everything at U, in one pass."""
        U = self._cast(U)
        kernel = partial(_evaluate, U=U, auxiliary=self._auxiliary)
        value, cosines, gradient, moment = self.rows.sweep(kernel, columns=2 * U.shape[1])
        known = None if self._auxiliary else moment
        return Point(U, value, cosines, gradient, known, self.loss(value))

    def evaluate_within(self, Z: Array, C: Array) -> tuple[FinalSums, Array]:
        """Final sums and gradient at U = S C where Z = X S is known.

        The data are read for the second product only: half a pass.
        """
        C = self._cast(C)
        kernel = partial(_evaluate, U=C, Z=Z)
        value, cosines, gradient, moment = self.rows.sweep(kernel, columns=C.shape[1], passes=0.5)
        return FinalSums(value, cosines, moment), gradient

    def hessian_product(self, U: Array, D: Array) -> Array:
        """Euclidean Hessian of f at U applied to D: X'W (XD - V <V, XD>) / ||XU||."""
        kernel = partial(_hessian, U=self._cast(U), D=self._cast(D))
        return np.asarray(self.rows.sweep(kernel, columns=3 * D.shape[1])[0])

    def riemannian_hessian_product(self, point: Point, D: Array) -> Array:
        """Hessian on the Grassmannian, for D with U'D = 0."""
        H = self.hessian_product(point.U, D)
        within = product(point.U, inner_products(point.U, H))
        return np.asarray(H - within - product(D, point.pull))

    def canonical(self, U: Array) -> CanonicalForm:
        """The canonical form of U: one exact V step, then a rotation."""
        U = self._cast(U)
        found = self.rows.sweep(partial(_final_sums, U=U), columns=U.shape[1], passes=0.5)
        return self.canonical_form(U, FinalSums(*found))

    def canonical_form(self, U: Array, sums: FinalSums) -> CanonicalForm:
        """The canonical form of U, from its final sums."""
        Q, eigenvalues = canonical_rotation(sums.moment)
        rotated = fix_signs(product(U, Q.astype(U.dtype)))
        return CanonicalForm(
            U=self._cast(refined(rotated)),
            shares=eigenvalues / eigenvalues.sum(),
            value=sums.value,
            # If all rows lie in the subspace, rounding may exceed the maximum.
            mean_cosine=min(sums.cosines / self.rows.totals.weight, 1.0),
        )

    def gram(self, factor: Array | None = None) -> Array:
        """sum_j factor_j^2 x_j x_j', shape (m, m).

        Without factors they are the square roots of the weights over the length of the
        longest row, in the type of the data: the eigenvectors are then those of the
        uncentred SVD, and squares of very long or short rows stay in range.
        """
        dtype = self.rows.dtype if factor is None else factor.dtype
        kernel = partial(_gram, factor=self._factors(factor), dtype=dtype)
        return np.asarray(self.rows.sweep(kernel, columns=self.rows.shape[1])[0])

    def covariance_times(self, Q: Array, factor: Array | None = None) -> Array:
        """sum_j factor_j^2 x_j x_j' Q without forming the sum, shape (m, q); see `gram`."""
        kernel = partial(_covariance_times, Q=self._cast(Q), factor=self._factors(factor))
        return np.asarray(self.rows.sweep(kernel, columns=2 * Q.shape[1])[0])

    def quadratic(self, S: Array, Q: Array) -> Array:
        """S'X'WX Q; see `covariance_times`."""
        return self.inner(S, self.covariance_times(Q).astype(S.dtype, copy=False))

    def cosines(self) -> Array:
        """Cosines between all rows, shape (n, n), for few rows."""
        K = np.empty((self.rows.shape[0],) * 2)
        for a in self.rows.blocks():
            for b in self.rows.blocks():
                if a.span.start <= b.span.start:
                    K[a.span, b.span] = found = a.cosines(b)
                    K[b.span, a.span] = found.T
        return symmetric(K)

    # Whether `projections` takes no pass.
    knows_projections = False

    def projections(self, S: Array) -> Array:
        """X S, shape (n, k); half a pass."""
        return self.rows.project(S)

    def sample(self, S: Array, most: int) -> tuple[Array, Array]:
        """Every k-th row of X S, at most this many, and the weights of these rows."""
        some = self.rows.thinned(most)
        return some.project(S), some.stats.weight / some.heaviest

    def restrict(self, Z: Array) -> Problem:
        """The same problem for U = S C, with S'S = I: rows Z = X S, not normalised again."""
        return Problem(as_rows(Z, weight=self.rows.stats.weight, normalize=False), auxiliary=True)

    def _factors(self, factor: Array | None) -> Callable[[Block], Array]:
        """The factors of a block's rows."""
        if factor is not None:
            return lambda block: factor[block.span]
        return partial(_svd_factors, longest=self.rows.totals.longest)

    def _cast(self, U: Array) -> Array:
        return np.ascontiguousarray(U, dtype=self.rows.dtype)


def symmetric(A: Array) -> Array:
    """(A + A') / 2."""
    return np.asarray(0.5 * A + 0.5 * A.T)  # A + A' may overflow


def residual(U: Array, G: Array) -> float:
    """Relative Riemannian gradient of f on the Stiefel manifold; 0 at critical points."""
    return Point(U, np.nan, np.nan, G, None, np.nan).residual


def _evaluate(
    block: Block, U: Array, *, Z: Array | None = None, auxiliary: bool = False
) -> tuple[Any, ...]:
    # The oracle of every solver: one block-sized array serves as Y, V and WV in turn.
    if Z is None and block.is_compiled:
        V, lengths = block.unit_projections(U)
    else:
        Y = block.project(U) if Z is None else times(Z[block.span], U)
        V, lengths = block.directions(Y, overwrite=True)
    if auxiliary:
        return block.value(lengths), np.nan, block.correlate(V, overwrite=True), np.nan
    moment = block.moment(V)  # before V is overwritten
    return *block.sums(lengths), block.correlate(V, overwrite=True), moment


def _hessian(block: Block, U: Array, D: Array) -> tuple[Any, ...]:
    V, lengths = block.directions(block.project(U), overwrite=True)
    return (block.correlate(block.turned(V, lengths, block.project(D))),)


def _final_sums(block: Block, U: Array) -> tuple[Any, ...]:
    V, lengths = block.unit_projections(U)
    return *block.sums(lengths), block.moment(V)


def _svd_factors(block: Block, longest: float) -> Array:
    return np.asarray(np.sqrt(block.weight / block.heaviest) / longest)


def _gram(block: Block, factor: Callable[[Block], Array], dtype: Any) -> tuple[Any, ...]:
    return (block.gram(factor(block).astype(dtype, copy=False)),)


def _covariance_times(block: Block, Q: Array, factor: Callable[[Block], Array]) -> tuple[Any, ...]:
    return (block.covariance_times(Q, factor(block)),)


def lengths_of_projections(problem: Problem, U: Array) -> Array:
    """||U'x_j|| for every row, float64."""
    return row_norms(problem.projections(U))
