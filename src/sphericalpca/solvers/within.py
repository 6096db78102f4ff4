"""A better start than the SVD, from within the span that the SVD was found in.

For U = S C with an orthonormal basis S the problem is the same one for the small rows Z = X S.  So
it can be solved there without a look at the data: from the SVD and, where that is cheap, from
random starts as well, since the best local optimum need not be the one next to the SVD.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sphericalpca.iterate import Start, iterate
from sphericalpca.linalg import orthonormal
from sphericalpca.problem import Problem
from sphericalpca.products import product
from sphericalpca.rowspace import RowSpace
from sphericalpca.solvers.anderson import Anderson

__all__ = ["improved"]

# Iterations and residual of the small problem: what remains is for the data to tell.
ITERATIONS, ENOUGH = 10, 1e-3
# Random starts, as many as take less than so many multiplications for each iteration.
STARTS, WORK = 12, 2_000_000


def improved(problem: Problem, start: Start, rng: np.random.Generator) -> Start:
    """The best start within the span of the SVD; it remembers f at the SVD."""
    S, C = start.span, start.coordinates
    if S is None or C is None:
        return start
    start = replace(start, span=None, coordinates=None)
    k, r = C.shape
    more = min(STARTS, WORK // (problem.rows.shape[0] * k * r)) if r < k else 0
    if more == 0 and not isinstance(problem, RowSpace):
        return start
    small = problem.restrict(problem.projections(S))
    drawn = (orthonormal(rng.standard_normal((k, r))) for _ in range(more))
    found = [
        iterate(small, Anderson(), Start(C), tol=ENOUGH, max_iter=ITERATIONS, small_promise=np.inf)
        for C in (C, *drawn)
    ]
    best = max(found, key=lambda solution: solution.value)
    if best.value <= found[0].start_value:
        return start
    U = product(S, best.U.astype(S.dtype))
    return replace(start, U=U, svd_value=found[0].start_value)
