"""The smallest number of components that keeps the neighbours of held-out queries."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from math import nan
from numbers import Integral
from typing import Any, cast

import numpy as np

from sphericalpca.dimensions.choice import CurvePoint, DimensionChoice, warn_if_short
from sphericalpca.dimensions.subspaces import Ladder, SvdProjections
from sphericalpca.estimators import SphericalPCA
from sphericalpca.estimators.fit import checked_problem, fitted_to
from sphericalpca.estimators.monitoring import report_fit
from sphericalpca.estimators.validation import check_matrix, generator
from sphericalpca.exceptions import Parameter, ParameterError
from sphericalpca.linalg import Array, canonical_rotation, polar, row_norms
from sphericalpca.metrics.heldout import HeldOut, Share, bisected, mean_share, smallest
from sphericalpca.metrics.significance import check_confidence
from sphericalpca.parallel import parallel
from sphericalpca.problem import Problem
from sphericalpca.products import product
from sphericalpca.rows import as_rows

__all__ = ["choose_components", "geometric_sizes"]

SMALLEST = 8
FLOAT32 = 4  # bytes
# The approximate fit that guides the search ends at this residual,
DRAFT = 1e-3
# or a single step from the SVD, if the residual there is below this.
NEAR = 1e-2


def choose_components(
    X: Any,
    *,
    recall: float = 0.95,
    k: int = 10,
    queries: int = 1000,
    largest: int | None = None,
    confidence: float = 0.95,
    tol: float = 1e-4,
    random_state: Any = None,
    progress: Callable[[CurvePoint], Any] | None = None,
) -> DimensionChoice:
    """Find the smallest number of components that keeps the nearest neighbours by cosine.

    Rows are held out as queries, and the model is fitted to the others.  A query's true
    neighbours are its k nearest rows by cosine in the full space; recall is the share of
    them that are among the k nearest of the reduced rows.  The choice is conservative:
    the lower end of the recall's confidence interval must reach the target.

    The SVD with unit rows gives a first estimate.  A coarse fit refines it and gives the rest of
    the curve; usually only one more fit is needed, with the chosen number.

    Parameters
    ----------
    X : array, sparse matrix or rows in files, shape (n_samples, n_features)
    recall : float, default=0.95
        The target, between 0 and 1.
    k : int, default=10
        Neighbours of each query.
    queries : int, default=1000
        Rows to hold out, at most a fifth of all.
    largest : int, optional
        The largest number of components to consider; unlimited by default.
    confidence : float, default=0.95
        Confidence level of the intervals.
    tol : float, default=1e-4
        Tolerance of the fits, as in `SphericalPCA`.
    random_state : int, RandomState or None, default=None
        Seed of the draw of queries.
    progress : callable, optional
        Called with each `CurvePoint` when it is measured.

    Returns
    -------
    choice : DimensionChoice
        With `n_components`, the fitted `model`, the `curve` and `plot()`.

    Raises
    ------
    DataError
        If X cannot be used, or has too few rows to hold queries out.
    ParameterError
        If `recall` or `confidence` is not between 0 and 1, or a count is not a positive integer.

    Warns
    -----
    ShortfallWarning
        If no allowed number of components reaches the target recall.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sphericalpca import choose_components
    >>> choice = choose_components(load_digits().data, recall=0.8, random_state=0)
    >>> bool(8 < choice.n_components < 64)
    True
    """
    check_confidence(recall, "recall")
    check_confidence(confidence)
    for name, count in (("k", k), ("queries", queries)):
        if not isinstance(count, Integral) or count < 1:
            raise ParameterError(Parameter(name, count), "must be a positive integer")
    # Plain numbers can be written as JSON.
    recall, k, queries, confidence = float(recall), int(k), int(queries), float(confidence)
    template = SphericalPCA(tol=tol, random_state=0)
    template._validate_params()
    X = check_matrix(template, X, reset=True, on_host=True)
    limit = _checked_limit(largest, X.shape)
    rng, began = generator(random_state), time.perf_counter()
    held = HeldOut.draw(X, queries, k, rng)
    drawn = time.perf_counter() - began
    with parallel():
        problem = checked_problem(as_rows(X, weight=held.weight))
        known = problem, SvdProjections(problem, rng), template, held
        search = _Search(*known, recall, confidence, limit, progress)
        model = search.run()
    searching = drawn + search.seconds
    fitting = time.perf_counter() - began - searching
    report_fit(model, problem.rows, only_tol=True)
    choice = DimensionChoice(
        n_components=model.n_components_,
        reached=search.points[model.n_components_].low >= recall,
        model=model,
        curve=[search.points[r] for r in sorted(search.points)],
        recall=recall,
        k=k,
        n_queries=len(held.ids),
        n_base=held.n_base,
        n_features=X.shape[1],
        confidence=confidence,
        fit_seconds=fitting,
        search_seconds=searching,
    )
    warn_if_short(choice, limit < min(X.shape))
    return choice


def geometric_sizes(largest: int) -> list[int]:
    """8, 11, 16, 23, 32, ... and the largest."""
    steps = np.arange(2 * np.log2(max(largest / SMALLEST, 1)))
    sizes = np.rint(SMALLEST * 2 ** (steps / 2)).astype(int)
    return [*(int(size) for size in sizes if size < largest), largest]


@dataclass
class _Search:
    """The state of a search: the points measured so far, and the data for further ones."""

    problem: Problem
    svd: SvdProjections
    template: SphericalPCA
    held: HeldOut
    target: float
    confidence: float
    limit: int
    tell: Callable[[CurvePoint], Any] | None
    points: dict[int, CurvePoint] = field(default_factory=dict)
    svd_recalls: dict[int, float] = field(default_factory=dict)
    seconds: float = 0.0  # of searches

    def run(self) -> SphericalPCA:
        """The model with the smallest number of components that reaches the target."""
        first = ladder = self._ladder(self._draft(self._svd_size()))
        size = self._smallest(ladder, 0)
        model = self._fit_and_measure(ladder, size)
        while self.points[size].low < self.target and size < self.limit:
            ladder = self._ladder(np.ascontiguousarray(model.components_.T))
            size = self._smallest(ladder, size)
            model = self._fit_and_measure(ladder, size)
        for rung in geometric_sizes(self.limit):
            if rung <= first.highest and rung not in self.points:
                self._reaches(first, rung)
        self._svd_reaches(size)
        self.points = {
            size: replace(point, svd_recall=self.svd_recalls.get(size, nan))
            for size, point in self.points.items()
        }
        return model

    def _svd_size(self) -> int:
        """The smallest number of singular vectors that reaches the target."""
        return smallest(self._svd_reaches, SMALLEST, self.limit)

    def _smallest(self, ladder: Ladder, low: int) -> int:
        """The smallest number of components above `low` that reaches the target on the ladder."""
        high, step, limit = ladder.size, 1, min(ladder.highest, self.limit)
        if high > low and self._reaches(ladder, high):
            while high - low > 1:
                size = max(high - step, low + 1)
                if self._reaches(ladder, size):
                    high, step = size, 2 * step
                else:
                    low, step = size, max(step // 2, 1)
            return high
        low, high = high, min(high + step, self.limit)
        while high < limit and not self._reaches(ladder, high):
            low, step = high, 2 * step
            high = min(low + step, self.limit)
        return bisected(low, high, partial(self._reaches, ladder))

    def _fit_and_measure(self, ladder: Ladder, size: int) -> SphericalPCA:
        start = self.svd.vectors(size) if size > ladder.highest else ladder.start(size)
        model = self._fit(size, start, tol=self.template.tol)
        self._record(self.problem.rows.project(model.components_.T))
        return model

    def _draft(self, size: int) -> Array:
        """Approximate the components of a fit, strongest first; one step if the SVD is close."""
        start = self.svd.start(self.svd.vectors(size))
        if start.curvature is not None:
            here = self.problem.evaluate(start.U)
            step = start.curvature.step(here)
            if step is not None and here.residual < NEAR:
                assert here.moment is not None
                Q = canonical_rotation(here.moment)[0].astype(step.dtype)
                return polar(product(here.U + step, Q)).factor
        draft = self._fit(size, start.U, tol=max(self.template.tol, DRAFT))
        return np.ascontiguousarray(draft.components_.T)

    def _fit(self, size: int, start: Array, tol: float) -> SphericalPCA:
        options = {"n_components": size, "init": self.svd.start(start), "tol": tol}
        model = fitted_to(self.problem, self.template, **options)
        return cast(SphericalPCA, model.set_params(init="auto"))  # in place of the start used here

    def _ladder(self, U: Array) -> Ladder:
        size = U.shape[1]
        further = self.svd.vectors(max(self.svd.projected, size))[:, size:]
        return Ladder(U, self.problem.rows, self.held.weight, further)

    def _svd_reaches(self, size: int) -> bool:
        share = self._recall(self.svd.project(size))
        self.svd_recalls[size] = share.mean
        return share.low >= self.target

    def _reaches(self, ladder: Ladder, size: int) -> bool:
        """Measure a subspace of the ladder; return whether it reaches the target."""
        return self._record(ladder.project(size))

    def _record(self, Z: Array) -> bool:
        """Measure projections of the rows; return whether they reach the target."""
        share, r = self._recall(Z), Z.shape[1]
        cosine = float(np.average(row_norms(Z), weights=self.problem.rows.stats.weight))
        size, interval = FLOAT32 * r, (share.mean, share.low, share.high)
        point = CurvePoint(r, *interval, min(cosine, 1.0), size, size * self.held.n_base)
        self.points[r] = point
        if self.tell is not None:
            self.tell(point)
        return point.low >= self.target

    def _recall(self, Z: Array) -> Share:
        """The mean recall of a search by cosine among the rows of Z, shape (n, r)."""
        k, began = self.held.k, time.perf_counter()
        found = self.held.recall(self.held.search(Z, k), k)
        self.seconds += time.perf_counter() - began
        return mean_share(found, k, self.confidence)


def _checked_limit(largest: int | None, shape: tuple[int, int]) -> int:
    limit = min(shape)
    if largest is not None and not (isinstance(largest, Integral) and 1 <= largest <= limit):
        rule = f"must be an integer from 1 to min(n_samples, n_features)={limit}"
        raise ParameterError(Parameter("largest", largest), rule)
    return limit if largest is None else int(largest)
