"""The smallest number of components that reaches a mean cosine.

The mean cosines of the leading q columns of a U, for all q, come from one read of the
data: they are means of cumulative lengths of its projections.  So the SVD tells how many
components are enough; a fit of as many, and fits of fewer, each started from the leading
components of the last, tell how many are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sphericalpca.estimators.fitting import closed
from sphericalpca.exceptions import DataError
from sphericalpca.iterate import Solution, State, StopReason
from sphericalpca.linalg import Array
from sphericalpca.problem import Problem
from sphericalpca.rows import Block
from sphericalpca.solvers import Outcome
from sphericalpca.solvers.start import GRAM_FEATURES, Start, leading, svd_start

__all__ = ["LeadingMeans", "check_share_options", "growing_svd", "leading_means", "solve_share"]

# So many singular vectors are looked at first; then twice as many, and so on.
FIRST_COLUMNS = 32

# A fit from a start, with as many components.
Fit = Callable[[Start], Outcome]


@dataclass(frozen=True)
class LeadingMeans:
    """What the leading q columns of a U reach, for q = 1, ..., r.

    Attributes
    ----------
    values : array of shape (r,)
        f of the leading q columns.
    cosines : array of shape (r,)
        Their weighted mean cosines.
    """

    values: Array
    cosines: Array

    def first_to_reach(self, cosine: float) -> int | None:
        """The smallest such q, None if all fall short."""
        reached = np.flatnonzero(self.cosines >= cosine)
        return int(reached[0]) + 1 if len(reached) else None


def leading_means(problem: Problem, U: Array) -> LeadingMeans:
    """Means over the rows for all leading columns of U, from half a pass."""
    U = np.ascontiguousarray(U, dtype=problem.rows.dtype)
    values, cosines = problem.rows.sweep(
        partial(_leading_sums, U=U), columns=U.shape[1], passes=0.5
    )
    return LeadingMeans(values, np.minimum(cosines / problem.rows.totals.weight, 1.0))


def growing_svd(problem: Problem, rng: np.random.Generator) -> Iterator[Start]:
    """Leading right singular vectors, twice as many each time, up to min(n, m)."""
    limit = min(problem.rows.shape)
    direct = problem.rows.shape[1] <= GRAM_FEATURES
    everything = svd_start(problem, limit, rng) if direct else None
    count = min(FIRST_COLUMNS, limit)
    while True:
        if everything is not None:
            yield leading(everything, count)
        else:
            yield svd_start(problem, count, rng)
        if count == limit:
            return
        count = min(2 * count, limit)


def check_share_options(init: Any, checkpoint: Any) -> None:
    """Refuse what needs a number of components that is known beforehand."""
    if not (isinstance(init, str) and init in ("auto", "svd")):
        given = f"init={init!r}" if isinstance(init, str) else "a given init"
        raise DataError(
            f"n_components as a mean cosine starts from the SVD, so {given} cannot be used: pass "
            "init='auto', or an integer n_components."
        )
    if checkpoint is not None:
        raise DataError(
            "n_components as a mean cosine makes several fits, of which no checkpoint is kept: "
            "leave the checkpoint out, or pass an integer n_components."
        )


def solve_share(problem: Problem, target: float, fit: Fit, rng: np.random.Generator) -> Outcome:
    """The fit with the smallest number of components whose mean cosine reaches `target`.

    It reaches the target, and a fit with one component less, started from its leading
    components, does not.  Where no fit reaches it (rounding aside only for a target that
    is 1 up to rounding), all min(n, m) components are taken.

    Parameters
    ----------
    problem : Problem
    target : float
        From 0 to 1.
    fit : callable
        Given a start whose U has the shape (m, r), returns the outcome of a fit.
    rng : Generator
        For the randomized SVD of wide data.
    """
    svd, start = _svd_to_reach(problem, target, rng)
    enough = start.U.shape[1]
    found = _Fitted.of(problem, fit(start))
    while not (found.reaches(target) or found.stopped) and enough < min(problem.rows.shape):
        # Lengths of rows, or a solver that does not climb, can lead below the SVD.
        enough = min(enough + max(1, enough // 8), *problem.rows.shape)
        start = svd_start(problem, enough, rng)
        found = _Fitted.of(problem, fit(start))
    best = _fewer(problem, target, lambda U: fit(replace(start, U=U, is_svd=False)), found)
    if best.size > len(svd.values):
        svd = leading_means(problem, start.U)
    ratio = svd.values[best.size - 1] / best.solution.value
    return Outcome(best.solution, float(ratio))


@dataclass(frozen=True)
class _Fitted:
    """A solution in its canonical form."""

    solution: Solution[State]
    U: Array
    cosine: float

    @staticmethod
    def of(problem: Problem, outcome: Outcome) -> _Fitted:
        form = closed(problem, outcome.solution)
        return _Fitted(outcome.solution, form.U, form.mean_cosine)

    @property
    def size(self) -> int:
        return int(self.U.shape[1])

    @property
    def stopped(self) -> bool:
        return self.solution.stop_reason is StopReason.CALLBACK

    def reaches(self, target: float) -> bool:
        return self.cosine >= target


def _svd_to_reach(
    problem: Problem, target: float, rng: np.random.Generator
) -> tuple[LeadingMeans, Start]:
    """Means of singular vectors, and as many of them as reach the target, or all."""
    for start in growing_svd(problem, rng):
        means = leading_means(problem, start.U)
        enough = means.first_to_reach(target)
        if enough is not None:
            return means, leading(start, enough)
    return means, start


def _fewer(
    problem: Problem, target: float, fit: Callable[[Array], Outcome], found: _Fitted
) -> _Fitted:
    """Down from a fit that reaches the target: single steps first, then longer ones."""
    if not found.reaches(target):
        return found
    enough, short, step = _enough(problem, target, found), 0, 1
    while found.size - short > 1 and not found.stopped:
        size = max(enough - step, short + 1) if enough - short > 1 else enough
        trial = _Fitted.of(problem, fit(found.U[:, :size]))
        if trial.reaches(target):
            found, step = trial, 2 * step
            enough = max(_enough(problem, target, found), short + 1)
        elif trial.stopped:
            break
        else:
            # Where long rows count more, a fit can fall below what it began with.
            enough = enough if size < enough else found.size
            short, step = size, max(step // 2, 1)
    return found


def _enough(problem: Problem, target: float, found: _Fitted) -> int:
    """How many of the leading components reach the target already, before any fit of them."""
    return leading_means(problem, found.U).first_to_reach(target) or found.size


def _leading_sums(block: Block, U: Array) -> tuple[Array, Array]:
    return block.leading_sums(U)
