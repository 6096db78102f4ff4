"""Anderson acceleration of exact alternation.

Exact alternation is a fixed-point iteration U -> T(U) = polar(X'WV).  Where it is slow, its
last few steps show how the error shrinks: the combination of past images whose combined
step is shortest is far ahead.  This needs one pass per iteration and some m x r matrices,
but nothing of length n, so it suits rows in files or on a cluster.

The shortest combined step may lead to a saddle, where U = T(U) too.  An accelerated
point is kept only if f does not fall.  Otherwise its mirror image is tried, which leads
away from a saddle.  If that fails too, the history is cleared and the exact step is
taken, which cannot lower f.

If the start has the curvature of f (see `sphericalpca.curvature`), an approximate Newton iteration
is accelerated instead of exact alternation.  It needs at most half the passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sphericalpca.curvature import Curvature
from sphericalpca.iterate import Start
from sphericalpca.linalg import Array, frobenius, polar
from sphericalpca.problem import Point, Problem
from sphericalpca.products import combination, product
from sphericalpca.solvers.base import PointState, check_count
from sphericalpca.solvers.start import start_of_U

__all__ = ["Anderson"]

# Steps up to this length keep U orthonormal enough.
SHORT_STEP = 0.5
# Up to this length an approximate Newton step is tried.
SHORT_GUESS = 1.0


@dataclass(frozen=True)
class _History:
    """Differences between consecutive images T and steps F = T - U, the latest last."""

    images: tuple[Array, ...] = ()
    steps: tuple[Array, ...] = ()
    products: Array = field(default_factory=lambda: np.empty((0, 0)))  # <steps_i, steps_j>
    last_image: Array | None = None
    last_step: Array | None = None
    guessed: bool = False

    def after(
        self, problem: Problem, image: Array, step: Array, memory: int, *, guessed: bool = False
    ) -> _History:
        """The history with `image` and `step` added; the oldest is dropped.

        Approximate Newton and exact steps are different iterations: a change clears the history.
        """
        if self.last_image is None or self.last_step is None or guessed != self.guessed:
            return _History(last_image=image, last_step=step, guessed=guessed)
        change = step - self.last_step
        steps = (*self.steps, change)[-memory:]
        images = (*self.images, image - self.last_image)[-memory:]
        products = np.empty((len(steps), len(steps)))
        kept = len(steps) - 1
        products[:kept, :kept] = self.products[len(self.steps) - kept :, len(self.steps) - kept :]
        products[kept, :] = products[:, kept] = problem.scalar_products(change, steps)
        return _History(images, steps, products, image, step, guessed)

    def candidates(self, problem: Problem) -> Iterator[Array]:
        """Candidates in place of the exact step, the longest step first."""
        assert self.last_image is not None
        if self.steps:
            correction = self.correction(problem)
            yield self.last_image - correction
            yield self.last_image + correction
        elif self.guessed:
            yield self.last_image

    def saved(self) -> dict[str, Array]:
        """The history as arrays."""
        if self.last_image is None or self.last_step is None:
            return {}
        empty = self.last_image[None][:0]
        return {
            "images": np.stack(self.images) if self.images else empty,
            "steps": np.stack(self.steps) if self.steps else empty,
            "products": self.products,
            "last_image": self.last_image,
            "last_step": self.last_step,
            "guessed": np.array(self.guessed),
        }

    @staticmethod
    def of(saved: Mapping[str, Array]) -> _History:
        """Restore what `saved` returned."""
        if "last_image" not in saved:
            return _History()
        past = tuple(saved["images"]), tuple(saved["steps"]), saved["products"]
        guessed = bool(saved.get("guessed", False))
        return _History(*past, saved["last_image"], saved["last_step"], guessed)

    def forgotten(self) -> _History:
        """An empty history at the latest step, after the past has misled."""
        return replace(self, images=(), steps=(), products=np.empty((0, 0)))

    def correction(self, problem: Problem) -> Array:
        """The latest image minus the combination whose combined step is shortest."""
        assert self.last_step is not None
        right = problem.scalar_products(self.last_step, self.steps)
        size = np.sqrt(np.diag(self.products))
        # Steps that differ only by rounding, or are parallel, add no information.
        eps = float(np.finfo(self.last_step.dtype).eps)
        informative = size > eps * size.max()
        scale = np.divide(1.0, size, out=np.zeros_like(size), where=informative)
        scaled = self.products * scale[:, None] * scale
        factors = np.linalg.lstsq(scaled, right * scale, rcond=eps**0.75)[0] * scale
        return combination(factors, self.images)


@dataclass(frozen=True)
class AndersonState(PointState):
    """The point at U, and the history."""

    history: _History = field(default_factory=_History)
    curvature: Curvature | None = None

    @property
    def promise(self) -> float:
        """The least relative decrease of the loss by the exact step."""
        return 2.0 * self.point.delta / self.loss if self.loss > 0 else 0.0


@dataclass(frozen=True)
class Anderson:
    """Exact alternation, accelerated from its own history.

    Parameters
    ----------
    memory : int, default=8
        Number of past steps to combine.  2 x `memory` + 2 matrices of shape (m, r) are kept, and
        two more of eigenvectors where the start has them.
    """

    memory: int = 8

    def __post_init__(self) -> None:
        check_count("memory", self.memory, "8 is a good choice")

    def init(self, problem: Problem, start: Start) -> AndersonState:
        """The state at the start's U."""
        point = problem.evaluate(start_of_U(start, type(self).__name__))
        return AndersonState(point, curvature=start.curvature)

    def saved(self, state: AndersonState) -> dict[str, Array]:
        """A state as arrays."""
        curvature = {} if state.curvature is None else state.curvature.saved()
        return {"U": state.U, **state.history.saved(), **curvature}

    def resume(self, problem: Problem, saved: Mapping[str, Array]) -> AndersonState:
        """The state that was saved."""
        point = problem.evaluate(saved["U"])
        return AndersonState(point, _History.of(saved), Curvature.of(saved))

    def step(self, problem: Problem, state: AndersonState) -> AndersonState:
        """An accelerated step if f does not fall, else the exact one."""
        here, curvature = state.point, state.curvature
        guess = None if curvature is None else curvature.step(here)
        if guess is not None and not frobenius(guess) < SHORT_GUESS:
            guess = None
        step, guessed = (_exact_step(problem, here), False) if guess is None else (guess, True)
        vars(here).pop("tangent", None)  # m x r float64 numbers, of no more use
        history = state.history.after(problem, here.U + step, step, self.memory, guessed=guessed)
        for candidate in history.candidates(problem):
            ahead = problem.evaluate(polar(candidate, problem.inner).factor)
            if ahead.not_below(here):
                return AndersonState(ahead, history, curvature)
        if history.guessed:
            # An approximate step that fails without a history would fail again.
            curvature = curvature if history.steps else None
            step = _exact_step(problem, here)
        exact = problem.evaluate(polar(here.U + step, problem.inner).factor)
        return AndersonState(exact, history.forgotten(), curvature)


def _exact_step(problem: Problem, here: Point) -> Array:
    """From U to a basis of the span of G, the next subspace of exact alternation.

    G H^-1 = U + R H^-1, with H = U'G and R the part of G outside U, has that span and is the
    basis nearest to U: the small R keeps its digits even in single precision, and steps
    from one iteration to the next can be compared.
    """
    R, H = here.tangent, here.pull
    eigenvalues, Q = np.linalg.eigh(np.asarray(H, dtype=np.float64))
    if eigenvalues[0] > np.sqrt(np.finfo(R.dtype).eps) * eigenvalues[-1]:
        step = product(R, ((Q / eigenvalues) @ Q.T).astype(R.dtype))
        if problem.scalar_products(step, [step])[0] < SHORT_STEP**2:
            return step.astype(here.U.dtype, copy=False)
    factor = polar(here.gradient, problem.inner).factor
    return np.subtract(factor, here.U, dtype=here.U.dtype)
