"""Do rows still look like those that a model was fitted to?"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy import stats

from sphericalpca.estimators import SphericalPCA
from sphericalpca.estimators.fitted import model_on_host
from sphericalpca.evaluation.cosines import check_model, cosines_to
from sphericalpca.evaluation.optimism import optimism, rows_of_fit
from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array
from sphericalpca.metrics.significance import check_confidence

__all__ = ["NEGLIGIBLE", "Drift", "check_drift"]

# A difference below half a point is called none, however many rows show it.
NEGLIGIBLE = 0.005


@dataclass(frozen=True)
class Drift:
    """The mean cosine between rows and their images, at the fit and on other rows.

    Attributes
    ----------
    then : float
        At the fit, on the rows that it was fitted to; NaN for a truncated model, which does
        not know it.
    now : float
        On the rows at hand.
    low, high : float
        Ends of the confidence interval of `now` (Student's t over rows).
    n_samples : int
        Rows at hand that have a direction.
    cosines : array of shape (n_samples,)
        Of each row.
    margin : float
        How far `now` may be from what is expected by chance, if nothing has changed: the rows of
        the fit were a sample, too.
    optimism : float
        By how much rows of the same kind have less than those of the fit, which knows its own
        rows better, the more so the fewer there were and the flatter the spectrum: as seen in
        fits to halves of the rows at hand.  NaN where it was not looked for, because the mean
        has not fallen, or where there are too few rows for that.
    """

    then: float
    now: float
    low: float
    high: float
    n_samples: int
    cosines: Array = field(repr=False)
    margin: float
    optimism: float = math.nan

    @property
    def verdict(self) -> Literal["none", "lower", "higher", "unknown"]:
        """Whether the mean has moved: half a point at least, and beyond chance.

        "Lower" is said of what optimism does not explain; rows that are new but of the same
        kind, and those of the fit itself, are "none" both.  "Unknown" is the verdict on truncated
        models, and on a mean that has fallen where the optimism is not known.
        """
        enough = max(self.margin, NEGLIGIBLE)
        fall = self.then - self.now
        if math.isnan(fall):
            return "unknown"
        if abs(fall) <= enough:
            return "none"
        if fall < 0:
            return "higher"
        if math.isnan(self.optimism):
            return "unknown"
        return "lower" if fall - self.optimism > enough else "none"


def check_drift(model: SphericalPCA, X: Any, *, confidence: float = 0.95) -> Drift:
    """Compare the mean cosine of rows with that of the rows that the model was fitted to.

    Rows that a model was not fitted to have a lower one, even if nothing has changed.  Where
    it is lower, two models are therefore fitted to disjoint samples of X, to see how much lower
    that is to be expected (`Drift.optimism`).

    Parameters
    ----------
    model : fitted SphericalPCA
    X : array, sparse matrix or rows in files, shape (n_samples, n_features)
    confidence : float, default=0.95

    Returns
    -------
    drift : Drift
        With `then`, `now`, the interval of `now`, `optimism`, and a `verdict`.

    Raises
    ------
    DataError
        If X does not suit the model, or no row has a direction.
    ValueError
        If `confidence` is not between 0 and 1.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sphericalpca import SphericalPCA
    >>> from sphericalpca.evaluation import check_drift
    >>> X = load_digits().data
    >>> model = SphericalPCA(10).fit(X[:1000])
    >>> check_drift(model, X[:1000]).verdict, check_drift(model, X[:, ::-1]).verdict
    ('none', 'lower')
    """
    check_model(model, "check_drift")
    check_confidence(confidence)
    model = model_on_host(model)
    everywhere = cosines_to(model, X)
    counted = np.isfinite(everywhere)
    if not counted.any():
        raise DataError("No row of X has a direction, so no cosine can be measured: pass others.")
    cosines = everywhere[counted]
    n, now, n_fit = len(cosines), float(cosines.mean()), rows_of_fit(model) or len(cosines)
    quantile = float(stats.t.ppf((1 + confidence) / 2, n - 1)) if n > 1 else math.inf
    deviation = float(cosines.std(ddof=1)) if n > 1 else math.inf
    error, error_then = deviation / math.sqrt(n), deviation / math.sqrt(n_fit)
    half, margin = quantile * error, quantile * math.hypot(error, error_then)
    then = float(model.mean_cosine_)
    found = Drift(then, now, max(now - half, 0.0), min(now + half, 1.0), n, cosines, margin)
    if math.isnan(then) or found.verdict != "unknown":
        return found
    # The mean has fallen: now it matters what new rows lose in any case.
    expected, error_expected = optimism(model, X, counted)
    margin = quantile * math.hypot(error, error_then, error_expected)
    return replace(found, margin=margin, optimism=expected)
