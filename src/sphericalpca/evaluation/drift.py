"""Do rows still look like those that a model was fitted to?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from sphericalpca.estimators import SphericalPCA
from sphericalpca.estimators.door import check_matrix
from sphericalpca.estimators.namespaces import model_on_host
from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array
from sphericalpca.problem import Problem, lengths_of_projections
from sphericalpca.rows import as_rows

__all__ = ["NEGLIGIBLE", "Drift", "check_drift"]

# A difference below half a point is called none, however many rows show it: rows that a
# model was not fitted to have a slightly lower mean cosine even where nothing has changed.
NEGLIGIBLE = 0.005


@dataclass(frozen=True)
class Drift:
    """The mean cosine between rows and their images, at the fit and on other rows.

    Attributes
    ----------
    then : float
        At the fit, on the rows that it was fitted to; NaN for a truncated model, which does
        not know it.  Other rows of the same kind have less, the more so the fewer rows per
        feature there were: 5,000 of 384 nearly independent features lose .03.
    now : float
        On the rows at hand.
    low, high : float
        Ends of the confidence interval of `now` (Student's t over rows).
    n_samples : int
        Rows at hand that have a direction.
    cosines : array of shape (n_samples,)
        Of each row.
    """

    then: float
    now: float
    low: float
    high: float
    n_samples: int
    cosines: Array

    @property
    def verdict(self) -> Literal["none", "lower", "higher", "unknown"]:
        """Whether the mean has moved: half a point at least, beyond its interval."""
        if math.isnan(self.then):
            return "unknown"
        if self.low <= self.then <= self.high or abs(self.now - self.then) < NEGLIGIBLE:
            return "none"
        return "lower" if self.now < self.then else "higher"


def check_drift(model: SphericalPCA, X: Any, *, confidence: float = 0.95) -> Drift:
    """Compare the mean cosine of rows with that of the rows that the model was fitted to.

    Parameters
    ----------
    model : fitted SphericalPCA
    X : array, sparse matrix or rows in files, shape (n_samples, n_features)
    confidence : float, default=0.95

    Returns
    -------
    drift : Drift
        With `then`, `now`, the interval of `now`, and a `verdict`.

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
    check_is_fitted(model)
    model = model_on_host(model)
    X = check_matrix(model, X, reset=False)
    rows = as_rows(X, normalize=model.normalize, mean=model.mean_)
    norm = rows.facts.norm
    if not norm.any():
        raise DataError("No row of X has a direction, so no cosine can be measured: pass others.")
    lengths = lengths_of_projections(Problem(rows), model.components_.T)
    cosines = np.minimum(lengths[norm > 0] / norm[norm > 0], 1.0)
    n, now = len(cosines), float(cosines.mean())
    half = math.inf
    if n > 1:
        quantile = float(stats.t.ppf((1 + confidence) / 2, n - 1))
        half = quantile * float(cosines.std(ddof=1)) / math.sqrt(n)
    return Drift(model.mean_cosine_, now, max(now - half, 0.0), min(now + half, 1.0), n, cosines)
