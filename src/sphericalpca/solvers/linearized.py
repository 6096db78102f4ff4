"""Algorithm 1 of the paper: alternating linearized minimisation with proximal terms.

Proven to converge for lam, mu > L_c = 2 (r + S + sqrt(r S) + ||W^(1/2) X||_F), where S = sum w
is n in the paper.  A weight of k then equals repeating a row k times.

Both orders are one computation.  A sweep at U takes the current V one step further, and
that next V serves the next U step.  With U first the pair (U, next V) ends the
iteration; with V first, as in the authors' program, it is the pair (U, current V).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np

from sphericalpca.exceptions import Parameter, ParameterError
from sphericalpca.iterate import Start
from sphericalpca.linalg import Array, frobenius, polar, row_norms, unit_rows
from sphericalpca.problem import Problem, residual, symmetric
from sphericalpca.products import inner_products, product
from sphericalpca.rows import Block
from sphericalpca.solvers.base import is_number

__all__ = ["Linearized", "lipschitz_constant"]

# How far "theory" is above L_c: the proof needs lam, mu > L_c, and the margin sets P1's constant.
ABOVE_LIPSCHITZ = 1.01

# h is a difference of sums of size sum_j w_j (||x_j||^2 + 1), with an error of up to this many
# of their rounding errors.
ROUNDING = 64

Constant = float | Literal["theory", "block"]


def lipschitz_constant(problem: Problem, n_components: int) -> float:
    """L_c, the paper's Lipschitz constant of the gradient of h."""
    r, S = n_components, problem.rows.totals.weight
    return 2.0 * (r + S + math.sqrt(r * S) + math.sqrt(problem.rows.totals.energy))


@dataclass(frozen=True)
class _Sweep:
    """One read of the data at U: the next V, and the sums of the iteration's pair."""

    value: float  # f(U)
    gradient: Array  # X'W of the best components at U, for the residual
    V: Array  # the next V, shape (n, r)
    pull: Array  # X'W of the next V
    moment: Array  # V'WV of the next V
    step: float  # how far V moved to get there, weighted
    alignment: float  # sum_j w_j <U'x_j, v_j> of the pair
    energy: float  # sum_j w_j ||v_j||^2 of the pair
    tangent: float  # sum_j w_j ||t_j||^2, w_j t_j the gradient of h in v_j on the sphere


@dataclass(frozen=True)
class LinearizedState:
    """A pair (U, V), and the sweep that found it.

    It has no final sums: its moment is that of a V other than the best one.
    """

    U: Array
    sweep: _Sweep
    loss: float
    constants: Mapping[str, float]
    measures: Mapping[str, float]

    @property
    def value(self) -> float:
        return self.sweep.value

    @cached_property
    def residual(self) -> float:
        return residual(self.U, self.sweep.gradient)


@dataclass(frozen=True)
class Linearized:
    """The paper's Algorithm 1: alternating linearized minimisation with proximal terms.

    ::

        U <- polar factor of 2 (X'WV - U V'WV) + mu U
        v_j <- unit vector along 2 U'x_j + (lam - 2) v_j

    Proven to converge for lam, mu > L_c, see `lipschitz_constant`.

    Parameters
    ----------
    lam, mu : float, "theory" or "block"
        Proximal constants of the V and the U step.  "theory" is just above L_c;
        "block" is the Lipschitz constant of each block alone: lam = 2, which makes the
        V step exact, and mu = 2 lambda_max(V'WV), updated in every iteration.
    order : "uv" or "vu"
        Which block moves first: "uv" is the paper, "vu" the authors' program.
    """

    lam: Constant = "theory"
    mu: Constant = "theory"
    order: Literal["uv", "vu"] = "uv"

    def __post_init__(self) -> None:
        for label, value in (("lam", self.lam), ("mu", self.mu)):
            named = isinstance(value, str) and value in ("theory", "block")
            if not named and not (is_number(value) and 0 <= float(value) < math.inf):
                rule = "must be 'theory', 'block' or a finite number >= 0"
                remedy = "'theory' is the constant of the convergence proof"
                raise ParameterError(Parameter(label, value), rule, remedy)
        if self.order not in ("uv", "vu"):
            rule = "must be 'uv' (the paper) or 'vu' (the authors' program)"
            raise ParameterError(Parameter("order", self.order), rule)

    def init(self, problem: Problem, start: Start) -> LinearizedState:
        """The state at the given pair; without a V it is the best one at U."""
        U = np.asarray(start.U, dtype=problem.rows.dtype)
        constants = self._constants(problem, U.shape[1])
        V = None if start.V is None else np.asarray(start.V, dtype=problem.rows.dtype)
        # U first: V(0) itself serves the first U step.  V first: V(1) does.
        lam = math.inf if self.order == "uv" else constants["lam"]
        sweep = self._sweep(problem, U, V, lam)
        return LinearizedState(U, sweep, problem.loss(sweep.alignment, sweep.energy), constants, {})

    def step(self, problem: Problem, state: LinearizedState) -> LinearizedState:
        """One iteration, measured."""
        last = state.sweep
        U = self._step_U(state).astype(problem.rows.dtype)
        sweep = self._sweep(problem, U, last.V, state.constants["lam"])
        V = sweep if self.order == "uv" else last  # the sweep that found this pair's V
        loss = problem.loss(sweep.alignment, sweep.energy)
        delta_U = frobenius(U - state.U)
        moved = delta_U**2 + V.step**2
        measures = {
            "delta_U": delta_U,
            "delta_V": V.step,
            "decrease_ratio": (state.loss - loss) / moved if moved > 0 else math.inf,
            "subgradient": _subgradient(U, V.pull, V.moment, sweep.tangent),
        }
        return LinearizedState(U, sweep, loss, state.constants, measures)

    def saved(self, state: LinearizedState) -> dict[str, Array]:
        """A state as arrays."""
        sweep = {name: np.asarray(value) for name, value in vars(state.sweep).items()}
        return {"U": state.U, "loss": np.array(state.loss), **sweep}

    def resume(self, problem: Problem, saved: Mapping[str, Array]) -> LinearizedState:
        """The state that was saved; only f is computed from the data again."""
        U = saved["U"]
        value = problem.canonical(U).value
        known: dict[str, Any] = {
            item.name: saved[item.name] if saved[item.name].ndim else float(saved[item.name])
            for item in fields(_Sweep)
        }
        if known["gradient"].shape != U.shape:
            raise ValueError("the gradient is that of another U")
        constants = self._constants(problem, U.shape[1])
        sweep = _Sweep(**{**known, "value": value})
        return LinearizedState(U, sweep, float(saved["loss"]), constants, {})

    def _step_U(self, state: LinearizedState) -> Array:
        sweep, mu = state.sweep, state.constants["mu"]
        if math.isnan(mu):
            mu = _block_mu(sweep)
        U = state.U.astype(np.float64, copy=False)  # large weights overflow float32
        return polar(2.0 * (sweep.pull - U @ sweep.moment) + mu * U).factor

    def _sweep(self, problem: Problem, U: Array, V: Array | None, lam: float) -> _Sweep:
        """Take V (the best one at U if None) one V step further; it stays if `lam` is infinite."""
        rows, r = problem.rows, U.shape[1]
        before = np.empty((rows.shape[0], r), dtype=rows.dtype) if V is None else V
        after = np.empty_like(before)

        def kernel(block: Block) -> tuple[Any, ...]:
            Y = block.project(U)
            best, lengths = block.directions(Y)
            if V is None:
                before[block.span] = best
            old = before[block.span]
            new = old if math.isinf(lam) else _step_V(Y, old, best, lam)
            after[block.span] = new
            return (
                block.weight @ lengths,
                block.correlate(np.hstack([best, new])),
                block.moment(new),
                block.weight @ row_norms(new - old) ** 2,
                *_pair(block, Y, new if self.order == "uv" else old),
            )

        value, pulls, moment, moved, *pair = rows.sweep(kernel, columns=3 * r)
        return _Sweep(value, pulls[:, :r], after, pulls[:, r:], moment, math.sqrt(moved), *pair)

    def _constants(self, problem: Problem, n_components: int) -> dict[str, float]:
        """L_c, lam and mu, NaN where updated in every iteration; rounding error of h."""
        lipschitz = lipschitz_constant(problem, n_components)
        theory = ABOVE_LIPSCHITZ * lipschitz
        named_lam: dict[Any, float] = {"theory": theory, "block": 2.0}
        named_mu: dict[Any, float] = {"theory": theory, "block": math.nan}
        scale = problem.rows.totals.energy + problem.rows.totals.weight
        return {
            "lipschitz": lipschitz,
            "lam": float(named_lam.get(self.lam, self.lam)),
            "mu": float(named_mu.get(self.mu, self.mu)),
            "rounding": ROUNDING * float(np.finfo(problem.rows.dtype).eps) * scale,
        }


def _block_mu(sweep: _Sweep) -> float:
    """2 lambda_max(V'WV), or slightly more where rounding would determine U.

    At that constant mu I - 2 V'WV is singular.  This matters only if X'WV is tiny in
    comparison, as for rows much shorter than 1 that are not normalised.
    """
    top = float(np.linalg.eigvalsh(sweep.moment)[-1])
    return 2.0 * top * (1.0001 if frobenius(sweep.pull) < 1e-6 * top else 1.0)


def _step_V(Y: Array, V: Array, best: Array, lam: float) -> Array:
    if lam == 2.0:
        return best
    # With large weights lam overflows float32, so scale down: only the direction matters.
    size, number = max(1.0, abs(lam - 2.0)), Y.dtype.type
    Q, lengths = unit_rows(number(2.0 / size) * Y + number((lam - 2.0) / size) * V)
    # Both terms vanish for a zero v at a zero projection: then every unit v is optimal.
    return np.where(lengths[:, None] > 0, Q, best)


def _pair(block: Block, Y: Array, V: Array) -> tuple[Any, ...]:
    """Alignment, energy and squared tangent gradient of a pair (U, V), Y = XU."""
    aligned = np.einsum("ij,ij->i", V, Y)
    tangent = row_norms(2 * (Y - V * aligned[:, None]))
    return block.weight @ aligned, block.weight @ row_norms(V) ** 2, block.weight @ tangent**2


def _subgradient(U: Array, pull: Array, moment: Array, tangent: float) -> float:
    """dist(0, dh) at a pair: the length of the gradient of h within the constraint set."""
    gradient = 2.0 * (product(U, moment) - pull)
    turning = gradient - product(U, symmetric(inner_products(U, gradient)))
    return math.hypot(frobenius(turning), math.sqrt(tangent))
