"""Find a better start than the SVD, within the span in which the SVD was computed.

For U = S C with an orthonormal basis S, the problem is the same for the small rows Z = X S.
A sample of these rows decides which of several starts leads highest.  In coordinates of the rows
all of Z is known, so the problem is solved further without reading the data.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sphericalpca.iterate import Start, iterate
from sphericalpca.linalg import Array, in_range, polar
from sphericalpca.problem import Problem, lengths_of_projections
from sphericalpca.products import product
from sphericalpca.solvers.anderson import Anderson

__all__ = ["improved", "with_best_start"]

# Iterations and residual at which the small problem is left to fits on the data.
ITERATIONS, ENOUGH = 10, 1e-3
# Starts besides the SVD, exact steps from each, and the largest sample of rows.
OTHERS, STEPS, ROWS = 23, 10, 4096
# The cost limit: this many multiplications, or this share of a pass over the data.
LITTLE_WORK, SHARE_OF_PASS = 4e7, 0.15
# Numbers of projections kept at a time.
AT_ONCE = 1 << 15
# Another start must increase f by this share: on all rows, or on a sample, which may mislead.
HIGHER, HIGHER_ON_SOME = 1e-6, 1e-4


def with_best_start(problem: Problem, start: Start) -> Start:
    """Return the SVD, or another start within its span that leads to a larger f, if affordable.

    The others are spanned by random directions, scaled by the spread of the data along them,
    and are the same in every run.
    """
    S, C = start.span, start.coordinates
    if S is None or C is None or not problem.rows.in_memory:
        return start
    others = _affordable(problem, *C.shape)
    if others < 1:
        return start
    Z, weight = problem.sample(S, ROWS)
    if not (weight > 0).any():  # the sample consists of zero rows
        return start
    Z, weight = in_range(Z[weight > 0])[0], in_range(weight[weight > 0])[0]
    drawn = np.random.default_rng(0).standard_normal((others, *C.shape))
    drawn = _orthonormal(_spread(Z, weight) @ drawn).astype(Z.dtype)
    some = max(1, AT_ONCE // (len(Z) * C.shape[1]))
    ends = [_after_steps(Z, weight, C[None])]
    ends += [_after_steps(Z, weight, drawn[i : i + some]) for i in range(0, others, some)]
    found, values = (np.concatenate(parts) for parts in zip(*ends, strict=True))
    best = int(values.argmax())
    enough = HIGHER if problem.rows.shape[0] <= ROWS else HIGHER_ON_SOME
    if not values[best] > values[0] * (1.0 + enough):
        return start
    C = polar(np.asarray(found[best], dtype=np.float64)).factor.astype(S.dtype)
    value = float(problem.rows.stats.weight @ lengths_of_projections(problem, start.U))
    return replace(start, U=product(S, C), coordinates=C, svd_value=value)


def improved(problem: Problem, start: Start) -> Start:
    """The best start within the span of the SVD, near it; it records f at the SVD."""
    if start.span is None or start.coordinates is None or not problem.knows_projections:
        return start
    small = problem.restrict(problem.projections(start.span))
    options: dict[str, Any] = {"tol": ENOUGH, "max_iter": ITERATIONS, "small_promise": np.inf}
    found = iterate(small, Anderson(), Start(start.coordinates), **options)
    U = product(start.span, found.U.astype(start.U.dtype))
    value = found.start_value if start.svd_value is None else start.svd_value
    return replace(start, U=U, svd_value=value, span=None, coordinates=None)


def _affordable(problem: Problem, k: int, r: int) -> int:
    """Number of starts besides the SVD."""
    n, stored = problem.rows.shape[0], problem.rows.stored
    asked = min(n, ROWS)
    projections = 0.0 if problem.knows_projections else asked * stored / n * k
    budget = max(LITTLE_WORK, SHARE_OF_PASS * 2 * stored * r) - projections
    return min(OTHERS, int(budget / (2 * (STEPS + 1) * asked * k * r)) - 1)


def _spread(Z: Array, weight: Array) -> Array:
    """Eigenvectors of Z'WZ, times the roots of their eigenvalues.

    They do not depend on the basis of the span, which rounding may turn, nor on how rows are
    repeated or ordered: the cubes of the projections have positive sums.
    """
    squares, Q = np.linalg.eigh(np.asarray(Z.T @ (Z * weight.astype(Z.dtype)[:, None]), np.float64))
    sides = np.where(weight @ (Z @ Q.astype(Z.dtype)) ** 3 < 0, -1.0, 1.0)
    return np.asarray(Q * (sides * np.sqrt(np.maximum(squares, 0.0))))


def _after_steps(Z: Array, weight: Array, C: Array) -> tuple[Array, Array]:
    """The result of exact alternation from each C (s x k x r), and f there."""
    small = float(np.finfo(Z.dtype).tiny)
    for _ in range(STEPS):
        Y = Z @ C
        lengths = np.maximum(np.linalg.norm(Y, axis=2), small)
        C = _orthonormal(Z.T @ (Y * (weight / lengths).astype(Z.dtype)[:, :, None]))
    return C, np.linalg.norm(Z @ C, axis=2).astype(np.float64) @ weight


def _orthonormal(G: Array) -> Array:
    """The polar factor of each matrix, where it has full rank."""
    squares, Q = np.linalg.eigh(G.swapaxes(1, 2) @ G)
    least = np.finfo(G.dtype).eps * squares[:, -1:] + np.finfo(G.dtype).tiny
    return np.asarray(G @ ((Q / np.sqrt(np.maximum(squares, least))[:, None]) @ Q.swapaxes(1, 2)))
