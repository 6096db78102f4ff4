"""Compare Spherical PCA with scikit-learn's TruncatedSVD and PCA: seconds and mean cosines."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from sphericalpca.estimators import SphericalPCA
from sphericalpca.estimators.monitoring import warn_short_of_tol
from sphericalpca.estimators.validation import check_matrix, check_rank
from sphericalpca.exceptions import DataError, NoDirectionWarning, silently
from sphericalpca.linalg import orthonormal
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows

__all__ = ["Lap", "race"]

OURS = SphericalPCA.__name__


@dataclass(frozen=True)
class Lap:
    """The result of one method.

    Attributes
    ----------
    method : str
    seconds : float
        Median time of a fit over the rounds.
    passes : float or None
        Passes over the data, if the method counts them.
    mean_cosine : float
        Between rows and their projections on its subspace.
    ratio : float
        Seconds of Spherical PCA divided by those of the method.
    """

    method: str
    seconds: float
    passes: float | None
    mean_cosine: float
    ratio: float


def race(
    X: Any, n_components: int, *, tol: float = 1e-4, rounds: int = 3, random_state: Any = 0
) -> list[Lap]:
    """Fit each method several times, in turn, to the same unit rows.

    Rows are scaled before the clock starts.  scikit-learn's methods use their default settings;
    its PCA, which is centred, is fitted to dense data only.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        The data, in memory.
    n_components : int
    tol : float, default=1e-4
        Tolerance of Spherical PCA.
    rounds : int, default=3
    random_state : int, default=0

    Returns
    -------
    laps : list of Lap
        Spherical PCA first.

    Raises
    ------
    DataError
        If X cannot be used, or has fewer than 2 rows or columns.

    Examples
    --------
    >>> from sphericalpca.datasets import make_embeddings
    >>> from sphericalpca.evaluation import race
    >>> X, _ = make_embeddings(500, 32, random_state=0)
    >>> ours, *rivals = race(X, 8, rounds=1)
    >>> all(ours.mean_cosine > rival.mean_cosine - 1e-6 for rival in rivals)
    True
    """
    X = check_matrix(SphericalPCA(), X, reset=True, in_memory=True)
    check_rank(n_components, X.shape)
    if min(X.shape) < 2:
        rule = "scikit-learn's methods need at least 2 rows and 2 columns"
        raise DataError(f"X has shape {X.shape}", rule, "pass a larger matrix")
    X = normalize(X)
    kinds: dict[Any, Any] = {SphericalPCA: {"tol": tol}, TruncatedSVD: {}}
    kinds |= {} if sparse.issparse(X) else {PCA: {}}
    methods = {
        kind.__name__: kind(n_components, random_state=random_state, **options)
        for kind, options in kinds.items()
    }
    models: dict[str, Any] = {}
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    with silently(NoDirectionWarning, ConvergenceWarning):
        for _ in range(rounds):
            for name, method in methods.items():
                model, began = clone(method), time.perf_counter()
                # Equal rows have no variance about their mean, and PCA divides by it.
                with np.errstate(divide="ignore", invalid="ignore"):
                    models[name] = model.fit(X)
                seconds[name].append(time.perf_counter() - began)
    warn_short_of_tol(models[OURS], X.dtype, only_tol=True)  # once, not in every round
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    problem = Problem(as_rows(X))
    return [
        Lap(
            name,
            medians[name],
            getattr(model, "n_passes_", None),
            problem.canonical(orthonormal(model.components_.T)).mean_cosine,
            medians[OURS] / medians[name],
        )
        for name, model in models.items()
    ]
