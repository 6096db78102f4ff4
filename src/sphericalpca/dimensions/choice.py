"""The result of a search for the number of dimensions."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from sphericalpca.estimators import SphericalPCA
from sphericalpca.estimators.fitted import plain
from sphericalpca.exceptions import Parameter, ShortfallWarning, warn_caller
from sphericalpca.linalg import Array

if TYPE_CHECKING:
    from sphericalpca.plotting import DimensionsDisplay

__all__ = ["CurvePoint", "DimensionChoice", "warn_if_short"]


@dataclass(frozen=True)
class CurvePoint:
    """Recall and cost of one number of components.

    Attributes
    ----------
    n_components : int
    recall : float
        Mean fraction of the k true neighbours found, over the held-out queries.
    low, high : float
        Ends of its confidence interval.
    mean_cosine : float
        Mean cosine between rows and their projections, over the rows that were not held out.
    bytes_per_vector : int
        Bytes of a vector in float32.
    index_bytes : int
        Bytes of all vectors of the base in float32, without an index structure.
    svd_recall : float
        Recall of the uncentred SVD with unit rows; NaN where it was not measured.
    """

    n_components: int
    recall: float
    low: float
    high: float
    mean_cosine: float
    bytes_per_vector: int
    index_bytes: int
    svd_recall: float = nan

    @property
    def interval(self) -> str:
        """Both ends as text; the lower end is rounded down, because .8997 does not reach .9."""
        return f"{floor(1000 * self.low) / 1000:.3f} to {self.high:.3f}"


@dataclass(frozen=True)
class DimensionChoice:
    """The smallest number of components that keeps the neighbours, and the whole curve.

    Attributes
    ----------
    n_components : int
        The number chosen: the lower end of its interval reaches the target.
    reached : bool
        False if no number of components did; then the largest is chosen.
    model : SphericalPCA
        Fitted with that number to the rows that were not held out.
    curve : list of CurvePoint
        By increasing number of components.  The chosen point is measured on the model.  Points
        below use leading components of a fit, improved if they are few; points above add
        singular vectors.  Both are close to separate fits.
    recall : float
        The target.
    k, n_queries, n_base, n_features : int
        Number of neighbours, held-out queries, other rows and columns.
    confidence : float
        Confidence level of the intervals.
    fit_seconds, search_seconds : float
        Seconds spent on fits and searches.
    """

    n_components: int
    reached: bool
    model: SphericalPCA
    curve: list[CurvePoint] = field(repr=False)
    recall: float
    k: int
    n_queries: int
    n_base: int
    n_features: int
    confidence: float
    fit_seconds: float
    search_seconds: float

    @property
    def chosen(self) -> CurvePoint:
        """The point of the curve that was chosen."""
        return next(p for p in self.curve if p.n_components == self.n_components)

    def column(self, name: str) -> Array:
        """Return one attribute of all points of the curve.

        Parameters
        ----------
        name : str
            An attribute of `CurvePoint`, such as "recall".

        Returns
        -------
        values : ndarray of shape (n_points,)
        """
        return np.array([getattr(point, name) for point in self.curve])

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as a dict for JSON; NaN becomes None.

        Returns
        -------
        numbers : dict
            The attributes except the model; "curve" is a list of dicts.
        """
        found = {name: value for name, value in vars(self).items() if name != "model"}
        curve = [{name: plain(value) for name, value in vars(p).items()} for p in self.curve]
        return found | {"curve": curve}

    def plot(self, ax: Any = None) -> DimensionsDisplay:
        """Draw recall and mean cosine by number of components, on `ax` or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        display : DimensionsDisplay
        """
        from sphericalpca.plotting import DimensionsDisplay  # noqa: PLC0415 - for pictures only

        return DimensionsDisplay.from_choice(self, ax=ax)

    def __str__(self) -> str:
        point = self.chosen
        return (
            f"{self.n_components} of {self.n_features} components "
            f"{'keeps' if self.n_components == 1 else 'keep'} {point.recall:.3f} of the "
            f"{self.k} nearest neighbours by cosine ({self.confidence:.0%} interval "
            f"{point.interval}, {self.n_queries:,} held-out queries, "
            f"{self.n_base:,} other rows) in {point.bytes_per_vector:,} bytes per vector. "
            f"The target {self.recall:g} {'is' if self.reached else 'was not'} reached by the "
            "lower end of the interval."
        )


def warn_if_short(choice: DimensionChoice, more_are_possible: bool) -> None:
    """Warn if the target was not reached, with a remedy."""
    if choice.reached:
        return
    point, remedy = choice.chosen, list[str | Parameter]()
    if more_are_possible:
        remedy += ["raise ", Parameter("largest"), " or "]
    if choice.n_queries < (choice.n_base + choice.n_queries) // 5:  # the maximum
        remedy += ["raise ", Parameter("queries"), " or "]
    elif point.recall >= choice.recall:  # only the interval misses it: more queries narrow it
        remedy += ["pass more rows or "]
    value = (
        f"No number of components up to {point.n_components} reliably keeps a recall of "
        f"{choice.recall:g}; {point.n_components} keep {point.recall:.3f} "
        f"({choice.confidence:.0%} interval {point.interval}) and are used"
    )
    warn_caller(ShortfallWarning(value, remedy=(*remedy, "lower ", Parameter("recall"))))
