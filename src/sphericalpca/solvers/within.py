"""A better start than the SVD, from within the span that the SVD was found in.

For U = S C with an orthonormal basis S the problem is the same one for the small rows Z = X S.  In
coordinates of the rows Z is at hand, so it can be solved there without a look at the data.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sphericalpca.iterate import Start, iterate
from sphericalpca.problem import Problem
from sphericalpca.products import product
from sphericalpca.solvers.anderson import Anderson

__all__ = ["improved"]

# Iterations and residual of the small problem: what remains is for the data to tell.
ITERATIONS, ENOUGH = 10, 1e-3


def improved(problem: Problem, start: Start) -> Start:
    """The best start within the span of the SVD, next to it; it remembers f at the SVD."""
    if start.span is None or start.coordinates is None:
        return start
    small = problem.restrict(problem.projections(start.span))
    options: dict[str, Any] = {"tol": ENOUGH, "max_iter": ITERATIONS, "small_promise": np.inf}
    found = iterate(small, Anderson(), Start(start.coordinates), **options)
    U = product(start.span, found.U.astype(start.U.dtype))
    return replace(start, U=U, svd_value=found.start_value, span=None, coordinates=None)
