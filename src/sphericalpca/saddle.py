"""Escape from saddles, where first-order steps are zero.  The SVD of symmetric data can be one."""

from __future__ import annotations

import numpy as np

from sphericalpca.curvature import Model
from sphericalpca.linalg import Array, polar
from sphericalpca.problem import Problem, symmetric
from sphericalpca.products import inner_products
from sphericalpca.rows import as_rows
from sphericalpca.rowspace import FewRows, LeavesRowSpace, RowSpace

__all__ = ["way_up"]

# After this many Hessian products (a pass each) f is assumed to curve downwards everywhere.
LOOKS = 10
# An increase by less than this many rounding errors may be due to rounding.
ROUNDING = 64.0
# With many more rows than this, a sample tells first whether f may curve upwards at all.
ROWS = 4096


def way_up(problem: Problem, U: Array, span: Array | None = None) -> Array | None:
    """A subspace near U with a larger f, if f curves upwards somewhere; None if it does not.

    U should be critical.  Lanczos' method looks for the direction in which the second-order model
    bends upwards most, starting at a random one: symmetric data hide it from any other.  Given the
    `span` of the strongest directions of many rows, a sample of rows is tried first, within it.

    Raises
    ------
    LeavesRowSpace
        With the better subspace, if the problem has no coordinates for it.
    """
    if isinstance(problem, RowSpace):
        up = way_up(Problem(problem.rows), U)
        if up is not None:
            raise LeavesRowSpace(up)
        return None
    if isinstance(problem, FewRows):
        U = problem.coordinates(U)
    many = problem.rows.in_memory and problem.rows.shape[0] > 4 * ROWS
    if many and span is not None and not _seems_to_curve_upwards(problem, U, span):
        return None
    here = problem.evaluate(U)
    rounding = ROUNDING * float(np.finfo(here.U.dtype).eps)
    # No subspace is better than one that contains all rows.
    if here.cosines >= (1.0 - rounding) * problem.rows.totals.weight or here.value <= 0:
        return None
    model = Model(problem, here)
    direction = _upwards(model, U.shape, rounding, np.sqrt(rounding))
    lengths = () if direction is None else 0.5 ** np.arange(12)
    trials = (problem.evaluate(model.moved(length * direction)) for length in lengths)
    return next((t.U for t in trials if t.value > here.value * (1.0 + rounding)), None)


def _seems_to_curve_upwards(problem: Problem, U: Array, span: Array) -> bool:
    """Whether the model of a sample bends upwards by more than sampling explains."""
    Z, weight = problem.sample(span, ROWS)
    small = Problem(as_rows(Z.astype(np.float64), weight=weight, normalize=False))
    model = Model(small, small.evaluate(polar(inner_products(span, U)).factor))
    by_chance = 2.0 * np.sqrt(span.shape[1] / len(Z))
    rounding = float(np.finfo(U.dtype).eps)
    return _upwards(model, (span.shape[1], U.shape[1]), rounding, by_chance) is not None


def _upwards(model: Model, shape: tuple[int, int], rounding: float, least: float) -> Array | None:
    """A unit direction in which the model bends upwards; None if Lanczos' method finds none."""
    U = np.asarray(model.point.U, dtype=np.float64)
    direction = np.random.default_rng(0).standard_normal(shape)
    basis = np.empty((0, U.size))
    bent = np.empty((0, U.size))
    for _ in range(min(LOOKS, (shape[0] - shape[1]) * shape[1])):
        for _ in range(2):  # once more, for what rounding left
            direction = direction - U @ (U.T @ direction)
            flat = direction.ravel()
            direction = (flat - (basis @ flat) @ basis).reshape(shape)
        length = np.linalg.norm(direction)
        if length <= rounding:
            break
        basis = np.vstack([basis, direction.ravel() / length])
        bent = np.vstack([bent, model.bend(direction / length).ravel()])
        values, vectors = np.linalg.eigh(symmetric(basis @ bent.T))
        if values[0] < -least:
            return np.asarray((vectors[:, 0] @ basis).reshape(shape))
        direction = bent[-1].reshape(shape)
    return None
