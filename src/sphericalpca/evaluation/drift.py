"""Compare rows with those that a model was fitted to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from sphericalpca.estimators import SphericalPCA
from sphericalpca.estimators.fitted import model_on_host
from sphericalpca.estimators.validation import check_matrix
from sphericalpca.exceptions import DataError, NoDirectionWarning, silently
from sphericalpca.linalg import Array
from sphericalpca.metrics.significance import check_confidence
from sphericalpca.problem import Problem, lengths_of_projections
from sphericalpca.rows import as_rows

__all__ = ["NEGLIGIBLE", "Drift", "check_drift", "check_model"]

# Smaller differences are ignored, however significant.
NEGLIGIBLE = 0.005

# Tolerance of fits that measure optimism: cosines converge long before the subspace does.
TOL, MAX_ITER = 1e-3, 100
# With n rows optimism falls like 1 / n for well-separated components, and like 1 / sqrt(n), or a
# little slower, on isotropic rows: this power is below those observed in all cases.
POWER = 1 / 3


@dataclass(frozen=True)
class Drift:
    """The mean cosine between rows and their projections, on training rows and on other rows.

    Attributes
    ----------
    then : float
        On the training rows; NaN for a truncated model.
    now : float
        On the given rows.
    low, high : float
        Ends of the confidence interval of `now` (Student's t over rows).
    n_samples : int
        Number of given rows that are not zero.
    cosines : array of shape (n_samples,)
        Cosine of each row.
    margin : float
        How much `now` may differ by chance without drift.
    optimism : float
        Expected decrease on new rows of the same kind, estimated by fits to halves of the given
        rows; larger for few rows and flat spectra.  NaN if it was not measured, because the mean
        has not decreased or there are too few rows.
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
        """Whether the mean has moved, by at least half a point and beyond chance.

        "lower" is a decrease that optimism does not explain: training rows and new ones of the
        same kind are both "none".  "unknown" is for truncated models, and for a decrease if the
        optimism is not known.
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
    """Compare the mean cosine of rows with that of the training rows of the model.

    New rows have a lower mean cosine than training rows, even without drift.  If it is lower, two
    models are therefore fitted to disjoint samples of X, to estimate the expected decrease
    (`Drift.optimism`).  Changes within the fitted subspace, such as a rotation of the rows inside
    it, do not change the cosines and are not detected.

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
    everywhere = _cosines_to(model, X)
    counted = np.isfinite(everywhere)
    if not counted.any():
        value = "No row of X has a direction, so no cosine can be measured"
        raise DataError(value, remedy="pass rows that are not zero")
    cosines = everywhere[counted]
    n, now, n_fit = len(cosines), float(cosines.mean()), _rows_of_fit(model) or len(cosines)
    quantile = float(stats.t.ppf((1 + confidence) / 2, n - 1)) if n > 1 else math.inf
    deviation = float(cosines.std(ddof=1)) if n > 1 else math.inf
    error, error_then = deviation / math.sqrt(n), deviation / math.sqrt(n_fit)
    half, margin = quantile * error, quantile * math.hypot(error, error_then)
    then = float(model.mean_cosine_)
    found = Drift(then, now, max(now - half, 0.0), min(now + half, 1.0), n, cosines, margin)
    if math.isnan(then) or found.verdict != "unknown":
        return found
    # The mean has decreased: estimate the expected decrease on new rows.
    expected, error_expected = _optimism(model, X, counted)
    margin = quantile * math.hypot(error, error_then, error_expected)
    return replace(found, margin=margin, optimism=expected)


def check_model(model: Any, caller: str) -> None:
    """Raise an error unless `model` is a fitted SphericalPCA."""
    if not isinstance(model, SphericalPCA):
        found = f"model is of type {type(model).__name__}"
        raise TypeError(f"{found}, but must be a fitted SphericalPCA: call {caller}(model, X).")
    check_is_fitted(model)


def _cosines_to(model: SphericalPCA, X: Any) -> Array:
    """Cosine between each row and its projection; NaN for rows without a direction."""
    X = check_matrix(model, X, reset=False)
    rows = as_rows(X, normalize=model.normalize, mean=model.mean_)
    norm = rows.stats.norm
    cosines: Array = np.full(len(norm), np.nan)
    if norm.any():
        lengths = lengths_of_projections(Problem(rows), model.components_.T)
        np.divide(lengths, norm, out=cosines, where=norm > 0)
    np.minimum(cosines, 1.0, out=cosines)
    return cosines


def _optimism(model: SphericalPCA, X: Any, counted: Array) -> tuple[float, float]:
    """Expected decrease on new rows for a fit as large as the model's, and its standard error.

    Two models are fitted to disjoint samples of the rows that have a direction (`counted`).  The
    optimism is the mean difference between a row's cosines to its own subspace and to the other.
    It is reduced, conservatively, if the model was fitted to more rows.  NaN if rows are too few.
    """
    there = np.flatnonzero(counted)
    n_fit = _rows_of_fit(model)
    size = min(n_fit or len(there), len(there) // 2)
    if size < model.n_components_:
        return math.nan, math.nan
    drawn = np.random.default_rng(0).permutation(there)
    samples = drawn[:size], drawn[size : 2 * size]
    first, second = (_cosines_to_fit(model, X, len(counted), sample) for sample in samples)
    lost = np.concatenate([(first - second)[samples[0]], (second - first)[samples[1]]])
    share = (size / n_fit) ** POWER if n_fit > size >= model.n_features_in_ else 1.0
    return share * float(lost.mean()), share * float(lost.std()) / math.sqrt(len(lost))


def _rows_of_fit(model: SphericalPCA) -> int:
    """Number of training rows; 0 if a model file does not record it."""
    return 0 if math.isnan(model.n_samples_) else int(model.n_samples_)


def _cosines_to_fit(model: SphericalPCA, X: Any, n: int, sample: Array) -> Array:
    """Cosines of all rows to a subspace fitted to a sample of them."""
    weight = np.zeros(n)
    weight[sample] = 1.0
    how = {"normalize": model.normalize, "center": model.center}
    fitted = SphericalPCA(model.n_components_, **how, tol=TOL, max_iter=MAX_ITER, random_state=0)
    with silently(ConvergenceWarning, NoDirectionWarning):
        fitted.fit(X, sample_weight=weight)
    return _cosines_to(model_on_host(fitted), X)
