"""Newton's method with a trust region, for tolerances that alternation does not reach.

Near a maximiser f(U + D) is f + <G, D> + <D, Hess[D]> / 2 to third order, for D with
U'D = 0.  A = U'G = sum_j w_j ||U'x_j|| v_j v_j' is symmetric positive semidefinite, and

    -Hess[D] = D A - (I - UU') H[D],

where H, the Euclidean Hessian, is positive semidefinite too.  Without H the model has its
maximum at D = (I - UU') G A^-1, and U + D then spans what G spans: that is the step of
exact alternation.  So A is the natural scale.  In coordinates E = D A^1/2 the first
conjugate gradient step points along the step of alternation, and the others add what
alternation omits.  Each of them takes one Hessian product, one pass over the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from sphericalpca.curvature import Model
from sphericalpca.exceptions import Parameter, ParameterError
from sphericalpca.iterate import Start
from sphericalpca.linalg import Array, polar
from sphericalpca.problem import Point, Problem
from sphericalpca.solvers.base import PointState, check_count, is_number
from sphericalpca.solvers.start import start_of_U

__all__ = ["ModelStep", "Newton", "maximise_model"]

# Lengths of steps are root mean squares of tangents of angles: 1 means 45 degrees.
FIRST_RADIUS = 0.1
LARGEST_RADIUS = 1.0

# The model is solved to min(forcing, residual^ORDER): the residuals then fall with power
# 1 + ORDER.  A larger one solves early models more accurately than is useful.
ORDER = 1 / 3

# A change of f, or a residual, below this many rounding errors counts as zero.
ROUNDING = 16.0


@dataclass(frozen=True)
class NewtonState(PointState):
    """The point at U, the trust region, and the Hessian products of the last step."""

    radius: float
    products: int = 0

    @property
    def measures(self) -> Mapping[str, float]:
        return {"hessian_products": float(self.products), "radius": self.radius}


@dataclass(frozen=True)
class ModelStep:
    """A step in the model's coordinates."""

    E: Array  # float64, shape (m, r)
    gain: float  # increase of the model, relative to f
    products: int  # Hessian products spent
    on_edge: bool  # whether the trust region cut the step short

    @property
    def length(self) -> float:
        """Length in the model's coordinates."""
        return float(np.linalg.norm(self.E))


def maximise_model(
    bend: Callable[[Array], Array],
    slope: Array,
    radius: float,
    *,
    accuracy: float,
    max_products: int,
) -> ModelStep:
    """Maximise <slope, E> - <E, bend(E)> / 2 over ||E|| <= radius, roughly.

    Conjugate gradients after Steihaug and Toint: they end when ||slope - bend(E)|| is at most
    `accuracy` times ||slope||, or at the boundary, along a direction that leaves the region or
    in which the model curves upwards.
    """
    E, rest, direction = np.zeros_like(slope), slope, slope
    square = first = _inner(slope, slope)
    on_edge, products = False, 0
    while not on_edge and products < max_products and square > accuracy**2 * first:
        bent = bend(direction)
        products += 1
        curvature = _inner(direction, bent)
        to_edge = _to_edge(E, direction, radius)
        on_edge = curvature * to_edge <= square
        length = to_edge if on_edge else square / curvature
        E, rest = E + length * direction, rest - length * bent
        last, square = square, _inner(rest, rest)
        direction = rest + (square / last) * direction
    return ModelStep(E, 0.5 * _inner(slope + rest, E), products, on_edge)


def _to_edge(E: Array, direction: Array, radius: float) -> float:
    """The t >= 0 with ||E + t direction|| = radius."""
    square, middle = _inner(direction, direction), _inner(E, direction)
    space = max(0.0, radius**2 - _inner(E, E))
    return (math.sqrt(middle**2 + square * space) - middle) / square


def _inner(A: Array, B: Array) -> float:
    return float(np.vdot(A, B))


@dataclass(frozen=True)
class Newton:
    """Trust-region Newton on the Grassmannian, after a few exact alternation steps.

    An iteration is an alternation step, or a Newton step with several Hessian products;
    a Newton step that fails is replaced by an alternation step, so the loss never rises.
    It is meant for residuals down to 1e-10 in float64; float32 ends near 1e-6, where
    alternation steps of one pass each continue.

    Parameters
    ----------
    switch : float, default=1e-2
        Residual at which alternation ends and Newton begins.
    forcing : float, default=0.1
        Largest relative error that a solved model may have, above 0 and below 1.  It
        falls with the residual, which makes the convergence superlinear.
    max_products : int, default=500
        Maximum number of Hessian products in one iteration.
    """

    switch: float = 1e-2
    forcing: float = 0.1
    max_products: int = 500

    def __post_init__(self) -> None:
        if not (is_number(self.switch) and self.switch >= 0):
            rule = "must be a number >= 0, the residual at which Newton begins"
            raise ParameterError(Parameter("switch", self.switch), rule, "1e-2 is a good choice")
        if not (is_number(self.forcing) and 0 < self.forcing < 1):
            rule = "must be a number between 0 and 1, both excluded"
            raise ParameterError(Parameter("forcing", self.forcing), rule, "0.1 is a good choice")
        check_count("max_products", self.max_products, "to use none, pass solver='alternating'")

    def init(self, problem: Problem, start: Start) -> NewtonState:
        """The state at the start's U."""
        point = problem.evaluate(start_of_U(start, type(self).__name__))
        return NewtonState(point, FIRST_RADIUS)

    def step(self, problem: Problem, state: NewtonState) -> NewtonState:
        """A Newton step where it promises more than alternation, else an alternation step."""
        radius, products = state.radius, 0
        if state.value > 0 and _rounding(state.U) < state.residual <= self.switch:
            model = Model(problem, state.point)
            if np.linalg.norm(model.slope) >= radius:
                # The trust region is too small for a step longer than that of alternation.
                radius = min(2.0 * radius, LARGEST_RADIUS)
            else:
                step = maximise_model(
                    model.bend,
                    model.slope,
                    radius,
                    accuracy=min(self.forcing, state.residual**ORDER),
                    max_products=self.max_products,
                )
                trial = problem.evaluate(model.moved(step.E))
                quality = _quality(state.point, trial, step)
                radius, products = _next_radius(radius, step, quality), step.products
                if quality >= 0.1:
                    return NewtonState(trial, radius, products)
        exact = problem.evaluate(polar(state.point.gradient).factor)
        return NewtonState(exact, radius, products)

    def saved(self, state: NewtonState) -> dict[str, Array]:
        """A state as arrays."""
        return {"U": state.U, "radius": np.array(state.radius)}

    def resume(self, problem: Problem, saved: Mapping[str, Array]) -> NewtonState:
        """The state that was saved."""
        return NewtonState(problem.evaluate(saved["U"]), float(saved["radius"]))


def _quality(here: Point, there: Point, step: ModelStep) -> float:
    """Ratio of the actual to the predicted gain; 0 or 1 where rounding of f hides it.

    A gain is of the order of the squared residual: at residuals below 1e-8 it is lost in the
    rounding errors of f, while the gradient still has half its digits.  There a step is
    good if it lowers the residual and f is unchanged up to rounding.  A step to the boundary
    may lead away from a saddle, where the residual must rise: f decides there, unless the
    predicted gain is negligible.
    """
    rounding = _rounding(here.U)
    risen = (there.value - here.value) / here.value
    if step.gain > (rounding / 64 if step.on_edge else rounding):
        return (risen + rounding) / (step.gain + rounding)
    return float(there.residual < here.residual and there.not_below(here, ROUNDING))


def _rounding(U: Array) -> float:
    return ROUNDING * float(np.finfo(U.dtype).eps)


def _next_radius(radius: float, step: ModelStep, quality: float) -> float:
    if quality < 0.25:
        return 0.25 * step.length
    if quality > 0.75 and step.on_edge:
        return min(2.0 * radius, LARGEST_RADIUS)
    return radius
