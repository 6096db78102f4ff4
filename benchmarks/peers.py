"""scikit-learn's linear reductions; none maximises this f, so only their span is judged."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import NMF, PCA, IncrementalPCA, TruncatedSVD
from sklearn.exceptions import ConvergenceWarning

from benchmarks.task import Contender, Fit, Task
from sphericalpca.linalg import orthonormal
from sphericalpca.rows import Matrix

__all__ = ["COVARIANCE_EIGH", "INCREMENTAL_PCA", "NMF_PEER", "RANDOMIZED_PCA", "TRUNCATED_SVD"]

# NMF cannot be stopped by the clock.  Its 200 rounds over this many numbers times components
# take about a minute.
NMF_LIMIT = 3e7

# Beyond this an m x m matrix is not what anybody would decompose.
MOST_FEATURES = 5000


def _refuse_sparse(X: Matrix, _r: int) -> str:
    return "does not take sparse data" if sparse.issparse(X) else ""


def _refuse_wide(X: Matrix, r: int) -> str:
    if sparse.issparse(X):
        return "would fill sparse data"
    return "too many features" if X.shape[1] > MOST_FEATURES else _refuse_sparse(X, r)


def _refuse_negative(X: Matrix, r: int) -> str:
    values = X.data if sparse.issparse(X) else X
    if values.min() < 0:
        return "data are negative"
    return "would take more than a minute" if np.count_nonzero(values) * r > NMF_LIMIT else ""


def _peer(
    name: str, make: Callable[[int], Any], refusal: Callable[[Matrix, int], str]
) -> Contender:
    def fit(X: Matrix, task: Task) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return make(task.n_components).fit(X)

    return Contender(name, fit, lambda model: Fit(orthonormal(model.components_.T)), refusal)


TRUNCATED_SVD = _peer("TruncatedSVD", lambda r: TruncatedSVD(r, random_state=0), lambda _X, _r: "")
RANDOMIZED_PCA = _peer(
    "PCA, randomized",
    lambda r: PCA(r, svd_solver="randomized", random_state=0),
    _refuse_sparse,
)
COVARIANCE_EIGH = _peer(
    "PCA, covariance_eigh", lambda r: PCA(r, svd_solver="covariance_eigh"), _refuse_wide
)
INCREMENTAL_PCA = _peer("IncrementalPCA", IncrementalPCA, _refuse_wide)
NMF_PEER = _peer("NMF", lambda r: NMF(r, init="nndsvda", random_state=0), _refuse_negative)
