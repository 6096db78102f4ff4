"""Subspace acceleration: the default where projections of the rows fit in memory.

For U = S C with an orthonormal basis S of k columns, the problem is the same for the small
rows Z = X S.  So finding the best U within span(S) takes no read of the data.  Each iteration
computes the gradient at that U (X'WV), adds its part outside the span to the basis,
projects the rows on this part, and solves the small problem again: one pass.  The span then
contains the exact step from U, and the small problem starts there, so f increases at
least as much as by exact alternation.

When the basis is full it is cut back to the latest solutions (a thick restart).  It then
contains the exact step up to the tolerance of the small problem.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sphericalpca.iterate import Start, iterate
from sphericalpca.linalg import (
    Array,
    frobenius,
    in_range,
    orthonormal,
    orthonormal_outside,
    polar,
    refined,
)
from sphericalpca.problem import FinalSums, Problem, symmetric
from sphericalpca.products import inner_products, product
from sphericalpca.solvers.anderson import Anderson
from sphericalpca.solvers.base import check_count
from sphericalpca.solvers.start import start_of_U

__all__ = ["Span", "Subspace"]

# The small problem is solved until its residual is this share of the whole problem's.  More
# accuracy would be wasted while directions are missing from the span.
INNER_SHARE = 0.1
INNER_ITERATIONS = 20


class Span:
    """An orthonormal basis S (m x k) with Z = X S (n x k), in arrays of fixed size.

    It grows and is cut back in place, to at most `capacity` columns: a run has one span.
    """

    def __init__(self, problem: Problem, capacity: int) -> None:
        (n, m), dtype = problem.rows.shape, problem.rows.dtype
        self.problem = problem
        self._basis = np.empty((m, capacity), dtype=dtype)
        self._projections = np.empty((n, capacity), dtype=dtype)
        self.capacity, self.columns = capacity, 0

    @property
    def basis(self) -> Array:
        """S, shape (m, k)."""
        return self._basis[:, : self.columns]

    @property
    def projections(self) -> Array:
        """Z = X S, shape (n, k)."""
        return self._projections[:, : self.columns]

    def restricted(self) -> Problem:
        """The problem within the span."""
        return self.problem.restrict(self.projections)

    def add(self, D: Array) -> Array:
        """Add columns that are orthonormal to the basis; the caller fills in their X D."""
        first, self.columns = self.columns, self.columns + D.shape[1]
        self._basis[:, first : self.columns] = D
        return self._projections[:, first : self.columns]

    def keep(self, B: Array) -> None:
        """Cut back to the span of S B, for orthonormal B (k x q)."""
        B = B.astype(self._basis.dtype, copy=False)
        # One Newton-Schulz step: otherwise rounding errors of S would outlive every restart.
        SB = product(self.basis, B)
        B = product(B, 1.5 * np.eye(B.shape[1], dtype=B.dtype) - 0.5 * inner_products(SB, SB))
        S, Z = product(self.basis, B), product(self.projections, B)
        self.columns = B.shape[1]
        self.basis[:], self.projections[:] = S, Z

    def outside(self, G: Array, coordinates: Array) -> Array:
        """G - S S'G from the coordinates S'G, in the data type."""
        inside = product(self.basis, coordinates.astype(self._basis.dtype, copy=False))
        return np.subtract(G, inside, dtype=self._basis.dtype)


@dataclass(frozen=True)
class SubspaceState:
    """The solution within the span; the span is shared by all states of a run.

    `final_sums` and `gradient` are those of the whole problem at U = S C, the gradient scaled
    so that squares are safe; `pull` is the gradient within the span, S'G.
    """

    span: Span
    C: Array
    final_sums: FinalSums
    gradient: Array
    pull: Array
    past: tuple[Array, ...] = ()
    measures: Mapping[str, float] = field(default_factory=lambda: {"small_iterations": 0})
    constants: Mapping[str, float] = field(default_factory=dict)

    @property
    def value(self) -> float:
        return self.final_sums.value

    @property
    def loss(self) -> float:
        return self.span.problem.loss(self.value)

    @cached_property
    def U(self) -> Array:
        return refined(product(self.span.basis, self.C.astype(self.span.basis.dtype)))

    @cached_property
    def outside(self) -> Array:
        """The part of the gradient outside the span."""
        return self.span.outside(self.gradient, self.pull)

    @cached_property
    def outside_share(self) -> float:
        """Its length over that of the whole gradient."""
        return _share(frobenius(self.outside), self._size)

    @cached_property
    def residual(self) -> float:
        """Relative Riemannian gradient, from its parts outside and inside the span."""
        within = self.pull - product(self.C, symmetric(inner_products(self.C, self.pull)))
        return math.hypot(self.outside_share, _share(frobenius(within), self._size))

    @cached_property
    def _size(self) -> float:
        return frobenius(self.gradient)


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


@dataclass(frozen=True)
class Subspace:
    """Repeatedly find the best U within a growing subspace.

    Parameters
    ----------
    columns : int, optional
        Maximum number of columns of the basis; n times as many numbers are kept beside the
        data.  By default 6 r up to 120, then 4 r; at least 40.
    """

    columns: int | None = None

    def __post_init__(self) -> None:
        if self.columns is not None:
            remedy = "None chooses a number, and values below 2 r are raised to 2 r"
            check_count("columns", self.columns, remedy)

    def capacity(self, n_components: int) -> int:
        """Maximum number of columns of the basis."""
        usual = max(40, min(6 * n_components, 120), 4 * n_components)
        return max(self.columns or usual, 2 * n_components)

    def init(self, problem: Problem, start: Start) -> SubspaceState:
        """The state at the start's U, which spans the first basis."""
        U = start_of_U(start, type(self).__name__).astype(problem.rows.dtype)
        span, C = self._new_span(problem, U.shape[1]), np.eye(U.shape[1])
        problem.rows.project(U, out=span.add(U))
        pull = span.restricted().evaluate(C).gradient
        return _state_at(span, C, pull, *problem.evaluate_within(span.projections, C))

    def saved(self, state: SubspaceState) -> dict[str, Array]:
        """A state as arrays; the projections are found again from the basis."""
        past = {f"past{k}": C for k, C in enumerate(state.past)}
        return {"U": state.U, "basis": state.span.basis, "C": state.C, **past}

    def resume(self, problem: Problem, saved: Mapping[str, Array]) -> SubspaceState:
        """The state that was saved."""
        S, C = saved["basis"], saved["C"]
        span = self._new_span(problem, C.shape[1])
        problem.rows.project(S, out=span.add(S))
        pull = span.restricted().evaluate(C).gradient
        state = _state_at(span, C, pull, *problem.evaluate_within(span.projections, C))
        count = sum(name.startswith("past") for name in saved)
        return replace(state, past=tuple(saved[f"past{k}"] for k in range(count)))

    def step(self, problem: Problem, state: SubspaceState) -> SubspaceState:
        """Widen the span by the gradient, and find the best U within it."""
        span, C, past, pull = state.span, state.C, state.past, state.pull
        D = self._new_directions(state)
        if span.columns + D.shape[1] > span.capacity:
            B = _latest(C, past, span.capacity // 2)
            span.keep(B)
            C, past, pull = B.T @ C, (), B.T @ pull
        if D.shape[1]:
            problem.rows.project(D, out=span.add(D))
        # In the basis [S, D] the gradient at U has the coordinates [S'G, D'G].
        start = Start(polar(np.vstack([pull, inner_products(D, state.gradient)])).factor)
        tol = INNER_SHARE * max(state.residual, np.finfo(np.float64).tiny)
        small = span.restricted()
        found = iterate(
            small, Anderson(), start, tol=tol, max_iter=INNER_ITERATIONS, small_promise=math.inf
        )
        assert found.state is not None
        pull = found.state.point.gradient
        here = problem.evaluate_within(span.projections, found.U)
        state = _state_at(span, found.U, pull, *here)
        return replace(state, past=(*past, C), measures={"small_iterations": found.n_iter})

    def _new_span(self, problem: Problem, n_components: int) -> Span:
        return Span(problem, min(self.capacity(n_components), problem.rows.shape[1]))

    @staticmethod
    def _new_directions(state: SubspaceState) -> Array:
        """New directions that the gradient adds to the span, unless they are rounding errors."""
        if state.outside_share <= 10 * float(np.finfo(state.outside.dtype).eps):
            return state.outside[:, :0]
        return orthonormal_outside(state.span.basis, state.outside)


def _state_at(span: Span, C: Array, pull: Array, sums: FinalSums, gradient: Array) -> SubspaceState:
    # Only directions of the gradient matter from here on.
    gradient, size = in_range(gradient)
    return SubspaceState(span, C, sums, gradient, pull / size)


def _latest(C: Array, past: tuple[Array, ...], columns: int) -> Array:
    """An orthonormal basis of the latest solutions, C first, of at most `columns` columns.

    Earlier solutions have fewer coordinates: the basis was smaller then.
    """
    latest = [C, *reversed(past)][: max(columns // C.shape[1], 1)]
    return orthonormal(np.hstack([np.pad(c, ((0, len(C) - len(c)), (0, 0))) for c in latest]))
