"""Iteratively reweighted subspace iteration, the algorithm of R1-PCA.

Huber's loss rho(s) is concave in s^2 with slope min(1, c / s).  So, with these slopes as
weights, sum_i w_i s_i^2 lies above the loss and touches it at the current subspace, and
one step of subspace iteration, which lowers that sum, lowers the loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from sphericalpca.iterate import Start
from sphericalpca.linalg import Array, canonical_rotation, fix_signs, frobenius, polar, row_norms
from sphericalpca.problem import Problem, symmetric
from sphericalpca.rows import Block, Rows

__all__ = ["Reweighted", "canonical", "distances", "huber_weights", "median_distance"]

# A row is within the subspace if its squared distance is at most this many rounding errors of
# its squared length.
WITHIN = 64


@dataclass(frozen=True)
class ReweightedState:
    """Huber's loss at U, and C_w U with the weights of U."""

    U: Array
    loss: float
    product: Array
    measures: Mapping[str, float] = field(default_factory=dict)
    constants: Mapping[str, float] = field(default_factory=dict)

    @property
    def value(self) -> float:
        return -self.loss

    @cached_property
    def following(self) -> Array:
        return polar(self.product).factor

    @cached_property
    def residual(self) -> float:
        """How far the next step rotates the subspace."""
        U = np.asarray(self.U, dtype=np.float64)
        return frobenius(self.following - U @ (U.T @ self.following))


@dataclass(frozen=True)
class Reweighted:
    """U <- orth(C_w U) with Huber's weights; one pass over the data per iteration."""

    cutoff: float

    def init(self, problem: Problem, start: Start) -> ReweightedState:
        """The state at the start's U."""
        return self._at(problem.rows, start.U)

    def step(self, problem: Problem, state: ReweightedState) -> ReweightedState:
        """One step of subspace iteration."""
        return self._at(problem.rows, state.following)

    def _at(self, rows: Rows, U: Array) -> ReweightedState:
        U = np.ascontiguousarray(U, dtype=rows.dtype)
        loss, product = rows.sweep(partial(_weigh, U=U, cutoff=self.cutoff))
        return ReweightedState(U, loss, product)


def distances(rows: Rows, U: Array) -> Array:
    """||x_i - U U'x_i|| of every row, in float64, without forming the difference."""
    return _distances(rows.stats.norm, rows.project(U))


def median_distance(rows: Rows, U: Array) -> float:
    """Median distance of rows outside the subspace (others could make it zero); inf for none."""
    s = distances(rows, U)
    # Pythagoras' theorem turns rounding errors of squares into their square roots.
    outside = s > np.sqrt(WITHIN * np.finfo(rows.dtype).eps) * rows.stats.norm
    return float(np.median(s[outside])) if outside.any() else np.inf


def huber_weights(distance: Array, cutoff: float) -> Array:
    """min(1, c / s), and 1 where the distance s is 0."""
    near = np.minimum(distance, cutoff)
    return np.divide(near, distance, out=np.ones_like(distance), where=distance > 0)


def canonical(rows: Rows, U: Array, cutoff: float) -> tuple[Array, Array]:
    """U rotated to the eigenvectors of U'C_w U, and the weights of the rows."""
    _, product = rows.sweep(partial(_weigh, U=U, cutoff=cutoff))
    U = np.asarray(U, dtype=np.float64)
    Q, _ = canonical_rotation(symmetric(U.T @ product))
    return fix_signs(U @ Q), huber_weights(distances(rows, U), cutoff)


def _weigh(block: Block, U: Array, cutoff: float) -> tuple[Any, ...]:
    Y = block.project(U)
    s = _distances(block.norm, Y)
    near = np.minimum(s, cutoff)
    # near (2 s - near) is s^2 up to the cutoff, and 2 c s - c^2 beyond.
    return near @ (2 * s - near), block.correlate(Y, huber_weights(s, cutoff), overwrite=True)


def _distances(norm: Array, Y: Array) -> Array:
    """By Pythagoras; for a row within the subspace rounding may make the square negative."""
    inside = row_norms(Y)
    return np.sqrt(np.maximum((norm - inside) * (norm + inside), 0.0))
