"""How much nearer a fit's own rows lie to its subspace than others of the same kind.

A fit finds the subspace that is best for its rows, their accidents included.  Where the
spectrum is flat that is most of what it finds: the rows of a fit to 5,000 isotropic rows of 384
features have a mean cosine that new rows miss by several points, though nothing has changed.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sphericalpca.estimators import SphericalPCA
from sphericalpca.estimators.fitted import model_on_host
from sphericalpca.evaluation.cosines import cosines_to
from sphericalpca.exceptions import NoDirectionWarning
from sphericalpca.linalg import Array

__all__ = ["optimism", "rows_of_fit"]

# Cosines are known to six digits then, long before the subspace is.
TOL, MAX_ITER = 1e-3, 100
# With n rows it falls like one over n where the components stand out, and like one over the root
# of n on isotropic rows, there a little slower while rows are hardly more than features: this
# power is below what was seen in all cases.
POWER = 1 / 3


def optimism(model: SphericalPCA, X: Any, counted: Array) -> tuple[float, float]:
    """What a fit as large as the model's would lose on new rows like those of X.

    Two models are fitted to two disjoint random samples of the rows, of as many rows as the
    model's fit had, or of half of those at hand.  Each row of a sample has a cosine to the
    subspace that was fitted to it and one to the other subspace; their mean difference is the
    optimism.  If the model's fit had more rows, that is too much: it is lowered, with care.

    Parameters
    ----------
    model : fitted SphericalPCA
    X : what may be fitted
    counted : array of bool, shape (n_samples,)
        Which rows have a direction.

    Returns
    -------
    optimism, error : float
        With its standard error over rows; NaN if there are too few rows for two fits.
    """
    there = np.flatnonzero(counted)
    n_fit = rows_of_fit(model)
    size = min(n_fit or len(there), len(there) // 2)
    if size < model.n_components_:
        return math.nan, math.nan
    drawn = np.random.default_rng(0).permutation(there)
    samples = drawn[:size], drawn[size : 2 * size]
    first, second = (_cosines_to_fit(model, X, len(counted), sample) for sample in samples)
    lost = np.concatenate([(first - second)[samples[0]], (second - first)[samples[1]]])
    share = (size / n_fit) ** POWER if n_fit > size >= model.n_features_in_ else 1.0
    return share * float(lost.mean()), share * float(lost.std()) / math.sqrt(len(lost))


def rows_of_fit(model: SphericalPCA) -> int:
    """How many rows the model has learned from; 0 if it is from a file that does not tell."""
    return 0 if math.isnan(model.n_samples_) else int(model.n_samples_)


def _cosines_to_fit(model: SphericalPCA, X: Any, n: int, sample: Array) -> Array:
    """Cosines of all rows to a subspace that was fitted to some of them."""
    weight = np.zeros(n)
    weight[sample] = 1.0
    fitted = SphericalPCA(
        model.n_components_,
        normalize=model.normalize,
        center=model.center,
        tol=TOL,
        max_iter=MAX_ITER,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", NoDirectionWarning)
        fitted.fit(X, sample_weight=weight)
    return cosines_to(model_on_host(fitted), X)
