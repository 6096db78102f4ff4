"""Curvature of f: its second-order model, and an approximation from the eigenvectors of the SVD.

Minus the Hessian of f at U is D -> D A - (I - UU') sum_j w_j x_j x_j' D (I - v_j v_j') / l_j,
with A = U'G and the lengths l_j = ||U'x_j||.  The step of exact alternation omits the sum,
and is slow along directions in which the data are almost as strong as within U.  Where
the lengths differ little, and the v_j follow their mean, the sum is close to

    c X'WX D (I - A / f),        c = f / (the r leading eigenvalues of X'WX),

which is diagonal in the eigenvectors of X'WX and of A.  So Newton's step is a division.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sphericalpca.linalg import Array, polar
from sphericalpca.problem import Point, Problem, symmetric
from sphericalpca.products import inner_products, product

__all__ = ["Curvature", "Model"]

# An approximate Newton step is at most this many times as long as that of exact alternation.
LONGEST = 12.0


@dataclass(frozen=True)
class Curvature:
    """Leading eigenvectors of X'WX, at least r, and their eigenvalues up to a common factor."""

    vectors: Array  # shape (m, k)
    values: Array  # float64, decreasing

    def saved(self) -> dict[str, Array]:
        """Vectors and values as arrays."""
        return {"eigenvectors": self.vectors, "eigenvalues": self.values}

    @staticmethod
    def of(saved: Mapping[str, Array]) -> Curvature | None:
        """Restore what `saved` returned; None if there is nothing."""
        known = "eigenvectors" in saved
        return Curvature(saved["eigenvectors"], saved["eigenvalues"]) if known else None

    def step(self, here: Point) -> Array | None:
        """An approximate Newton step; None where A is nearly singular."""
        R, U = here.tangent, here.U
        own, Q = np.linalg.eigh(np.asarray(here.pull, dtype=np.float64))
        leading = self.values[: len(own)].sum()
        if leading <= 0 or own[0] <= np.sqrt(np.finfo(R.dtype).eps) * own[-1]:
            return None
        outside = self.values[:, None] * ((own.sum() - own) / leading)
        divisor = np.maximum(own - outside, own / LONGEST)
        # In coordinates Q, divide by `own`; within the span of the eigenvectors, by `divisor`.
        known = (inner_products(self.vectors, R) @ Q * (1.0 / divisor - 1.0 / own)) @ Q.T
        step = product(R, ((Q / own) @ Q.T).astype(R.dtype))
        step += product(self.vectors, known.astype(R.dtype))
        return np.subtract(step, product(U, inner_products(U, step)), dtype=U.dtype)


class Model:
    """The second-order model of f / f(U) at U: 1 + <slope, E> - <E, bend(E)> / 2.

    Dividing by f(U) removes the units of weights and rows.  The slope (m x r, float64)
    is as long as the step of exact alternation.
    """

    def __init__(self, problem: Problem, point: Point) -> None:
        self.problem = problem
        self.point = point
        self._U = np.asarray(point.U, dtype=np.float64)
        G = np.asarray(point.gradient, dtype=np.float64) / point.value
        A = self._U.T @ G
        self._scale = _inverse_root(symmetric(A), float(np.finfo(point.U.dtype).eps))
        self.slope = np.asarray((G - self._U @ A) @ self._scale)

    def bend(self, E: Array) -> Array:
        """Minus the Hessian applied to E; one pass."""
        H = self.problem.riemannian_hessian_product(self.point, E @ self._scale)
        return np.asarray(-(H / self.point.value) @ self._scale)

    def moved(self, E: Array) -> Array:
        """The subspace at E: the polar factor of U + D, a second-order retraction."""
        return polar(self._U + E @ self._scale).factor


def _inverse_root(A: Array, eps: float) -> Array:
    """A^-1/2; eigenvalues of directions that hardly any row uses are raised."""
    eigenvalues, Q = np.linalg.eigh(A)
    eigenvalues = np.maximum(eigenvalues, math.sqrt(eps) * eigenvalues[-1])
    return np.asarray((Q / np.sqrt(eigenvalues)) @ Q.T)
