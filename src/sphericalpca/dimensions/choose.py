"""The smallest number of components that keeps the neighbours of held-out queries."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from math import nan
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from sphericalpca.dimensions.choice import CurvePoint, DimensionChoice
from sphericalpca.dimensions.ladder import Ladder, silently
from sphericalpca.dimensions.measure import Clock, Measure
from sphericalpca.dimensions.svd import SvdProjections
from sphericalpca.estimators import SphericalPCA
from sphericalpca.estimators.door import check_matrix, generator
from sphericalpca.estimators.fitting import checked_problem
from sphericalpca.exceptions import NoDirectionWarning
from sphericalpca.linalg import Array
from sphericalpca.metrics import HeldOut
from sphericalpca.rows import Matrix, RowSource, as_rows

__all__ = ["choose_components", "geometric_sizes"]

SMALLEST = 8


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
    """The smallest number of components that keeps the nearest neighbours by cosine.

    Rows are held out as queries, and the model is fitted to the others.  A query's true
    neighbours are its k nearest rows by cosine in the full space; recall is the share of
    them that are among the k nearest of the reduced rows.  The choice is conservative:
    the lower end of the recall's confidence interval must reach the target.

    The SVD with unit rows tells where to look; as a rule one or two fits follow, and the
    rest of the curve is made from them.

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
        The largest number of components to consider; all by default.
    confidence : float, default=0.95
        Of the intervals.
    tol : float, default=1e-4
        Of the fits, as in `SphericalPCA`.
    random_state : int, RandomState or None, default=None
        Seed of the draw of queries.
    progress : callable, optional
        Given each `CurvePoint` when it is measured.

    Returns
    -------
    choice : DimensionChoice
        With `n_components`, the fitted `model`, the `curve` and `plot()`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sphericalpca import choose_components
    >>> choice = choose_components(load_digits().data, recall=0.8, random_state=0)
    >>> bool(8 < choice.n_components < 64)
    True
    """
    _check_options(recall, k, queries, confidence)
    X = check_matrix(SphericalPCA(), X, reset=True, on_host=True)
    limit = _checked_limit(largest, X.shape)
    rng, clock = generator(random_state), Clock()
    with clock.running("search"):
        held = HeldOut.draw(X, queries, k, rng)
    aim, measure = _Aim(recall, limit, tol), Measure(held, confidence, clock)
    search = _Search(X, measure, clock, aim=aim, rng=rng, tell=progress)
    model = search.run()
    return DimensionChoice(
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
        fit_seconds=clock.seconds["fit"],
        search_seconds=clock.seconds["search"],
    )


def geometric_sizes(largest: int) -> list[int]:
    """8, 11, 16, 23, 32, ... and the largest."""
    steps = np.arange(2 * np.log2(max(largest / SMALLEST, 1)))
    sizes = np.rint(SMALLEST * 2 ** (steps / 2)).astype(int)
    return [*(int(size) for size in sizes if size < largest), largest]


class _Aim(NamedTuple):
    """The recall wanted, the largest number of components, and the tolerance of fits."""

    recall: float
    limit: int
    tol: float


class _Search:
    """The points measured so far, and what is needed to measure more."""

    def __init__(
        self,
        X: Matrix | RowSource,
        measure: Measure,
        clock: Clock,
        *,
        aim: _Aim,
        rng: np.random.Generator,
        tell: Callable[[CurvePoint], Any] | None,
    ) -> None:
        self._X, self._measure, self._clock = X, measure, clock
        self._aim, self._tell = aim, tell
        self._weight = measure.held.weight
        self._svd_recalls: dict[int, float] = {}
        self.points: dict[int, CurvePoint] = {}
        with clock.fitting():
            self._problem = checked_problem(as_rows(X, weight=self._weight))
            self._svd = SvdProjections(self._problem, rng)

    def run(self) -> SphericalPCA:
        """The model with the smallest number of components that reaches the target."""
        ladder = self._up(self._svd_size())
        model = self._down(ladder)
        for size in geometric_sizes(self._aim.limit):
            if size <= ladder.highest and size not in self.points:
                self._reaches(ladder, size)
        self._svd_reaches(model.n_components_)
        self.points = {
            size: replace(point, svd_recall=self._svd_recalls.get(size, nan))
            for size, point in self.points.items()
        }
        return model

    def _svd_size(self) -> int:
        """The smallest number of singular vectors that reaches the target."""
        low, high = 0, min(SMALLEST, self._aim.limit)
        while high < self._aim.limit and not self._svd_reaches(high):
            low, high = high, min(2 * high, self._aim.limit)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._svd_reaches(middle) else (middle, high)
        return high

    def _up(self, size: int) -> Ladder:
        """A fit that reaches the target: of this size, or of the next that does."""
        ladder = self._ladder(self._fit(size, self._svd.vectors(size)))
        while not self._reaches(ladder, size) and size < self._aim.limit:
            size = self._enough_above(ladder)
            start = self._svd.vectors(size) if size > ladder.highest else ladder.start(size)
            ladder = self._ladder(self._fit(size, start))
        return ladder

    def _enough_above(self, ladder: Ladder) -> int:
        """How many components reach the target, if the fit falls short and singular vectors join.

        That takes searches only, where a fit of every size in turn would take as many fits.
        """
        low, step = ladder.size, 1
        high = min(low + step, self._aim.limit)
        while high < min(ladder.highest, self._aim.limit) and not self._reaches(ladder, high):
            low, step = high, 2 * step
            high = min(low + step, self._aim.limit)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._reaches(ladder, middle) else (middle, high)
        return high

    def _down(self, ladder: Ladder) -> SphericalPCA:
        """The fit, or one with fewer components if leading ones reach the target already."""
        high, low, step = ladder.size, 0, 1
        if not self._reached(high):
            return ladder.model
        while high - low > 1:
            size = max(high - step, low + 1)
            if self._reaches(ladder, size):
                high, step = size, 2 * step
            else:
                low, step = size, max(step // 2, 1)
        if high == ladder.size:
            return ladder.model
        model = self._fit(high, ladder.start(high))
        with self._clock.fitting():
            Z = self._problem.rows.project(model.components_.T)
        return model if self._record(Z) else ladder.model

    def _fit(self, size: int, start: Array) -> SphericalPCA:
        model = SphericalPCA(size, init=start, tol=self._aim.tol, random_state=0)
        # The first fit warns of rows without a direction; once is enough.
        quiet = silently(NoDirectionWarning) if self.points else nullcontext()
        with self._clock.fitting(), quiet:
            model.fit(self._X, sample_weight=self._weight)
        model.init = "auto"  # where it began is not part of a model
        return model

    def _ladder(self, model: SphericalPCA) -> Ladder:
        with self._clock.fitting():
            size = model.n_components_
            further = self._svd.vectors(max(self._svd.projected, size))[:, size:]
            return Ladder(model, self._problem.rows, self._weight, further)

    def _svd_reaches(self, size: int) -> bool:
        with self._clock.fitting():
            Z = self._svd.project(size)
        share = self._measure.recall(Z)
        self._svd_recalls[size] = share.mean
        return share.low >= self._aim.recall

    def _reaches(self, ladder: Ladder, size: int) -> bool:
        """Measure a subspace of the ladder."""
        with self._clock.fitting():
            Z = ladder.project(size)
        return self._record(Z)

    def _record(self, Z: Array) -> bool:
        """Measure reduced rows; whether they reach the target."""
        point = self._measure.point(Z)
        self.points[point.n_components] = point
        if self._tell is not None:
            self._tell(point)
        return self._reached(point.n_components)

    def _reached(self, size: int) -> bool:
        return self.points[size].low >= self._aim.recall


def _check_options(recall: float, k: int, queries: int, confidence: float) -> None:
    for name, value in (("recall", recall), ("confidence", confidence)):
        if not isinstance(value, Real) or not 0 < value < 1:
            raise ValueError(f"{name}={value!r} must lie between 0 and 1, such as 0.95.")
    for name, value in (("k", k), ("queries", queries)):
        if not isinstance(value, Integral) or value < 1:
            raise ValueError(f"{name}={value!r} must be a whole number of at least 1.")


def _checked_limit(largest: int | None, shape: tuple[int, int]) -> int:
    limit = min(shape)
    if largest is None:
        return limit
    if not isinstance(largest, Integral) or not 1 <= largest <= limit:
        raise ValueError(
            f"largest={largest!r} must be a whole number from 1 to min(n_samples, n_features)="
            f"{limit}."
        )
    return int(largest)
