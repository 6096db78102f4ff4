"""scikit-learn's linear reductions; none maximises this f, so only their span is judged."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds
from sklearn.decomposition import NMF, PCA, IncrementalPCA, TruncatedSVD
from sklearn.exceptions import ConvergenceWarning

from benchmarks.task import Contender, Fit, Task
from sphericalpca.linalg import Array, orthonormal
from sphericalpca.rows import Matrix

__all__ = [
    "COVARIANCE_EIGH",
    "INCREMENTAL_PCA",
    "NMF_PEER",
    "OTHER_SVDS",
    "RANDOMIZED_PCA",
    "TRUNCATED_SVD",
    "block_krylov",
    "shifted_powers",
]

# NMF cannot be stopped by the clock.  Its 200 rounds over this many numbers times components
# take about a minute.
NMF_LIMIT = 3e7

# Decomposing an m x m matrix is not practical beyond this.
MOST_FEATURES = 5000


def _refuse_sparse(X: Matrix, _r: int) -> str:
    return "does not take sparse data" if sparse.issparse(X) else ""


def _refuse_wide(X: Matrix, r: int) -> str:
    if sparse.issparse(X):
        return "would fill sparse data"
    return "too many features" if X.shape[1] > MOST_FEATURES else _refuse_sparse(X, r)


def block_krylov(X: Matrix, r: int, powers: int = 3) -> Array:
    """Right singular vectors by the block Krylov method of Musco and Musco, shape (m, r)."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(X @ rng.standard_normal((X.shape[1], r + 8)).astype(X.dtype))[0]
    blocks = [Q]
    for _ in range(powers):
        Q = np.linalg.qr(X @ (X.T @ Q))[0]
        blocks.append(Q)
    basis = np.linalg.qr(np.hstack(blocks))[0]
    return np.asarray(np.linalg.svd((X.T @ basis).T, full_matrices=False)[2][:r].T)


def shifted_powers(X: Matrix, r: int, powers: int = 6) -> Array:
    """Right singular vectors by power iterations with a shift that adapts, in the style of dashSVD.

    Half of the smallest known eigenvalue is subtracted from A'A, which speeds up the others.
    """
    rng, shift = np.random.default_rng(0), 0.0
    Q = np.linalg.qr(X.T @ rng.standard_normal((X.shape[0], r + r // 2)).astype(X.dtype))[0]
    for _ in range(powers):
        Q, values, _ = np.linalg.svd(X.T @ (X @ Q) - X.dtype.type(shift) * Q, full_matrices=False)
        shift = max(shift, 0.5 * (shift + float(values[-1])))
    turn = np.linalg.svd(X @ Q, full_matrices=False)[2]
    return np.asarray(Q @ turn[:r].T)


def _scipy_svd(solver: str) -> Callable[[Matrix, int], Array]:
    def vectors(X: Matrix, r: int) -> Array:
        start = np.random.default_rng(0)
        return np.asarray(svds(X, r, solver=solver, rng=start)[2].T)

    return vectors


def _svd_peer(name: str, vectors: Callable[[Matrix, int], Array]) -> Contender:
    def fit(X: Matrix, task: Task) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # from lobpcg, which stops early
            return vectors(X, task.n_components)

    return Contender(name, fit, lambda U: Fit(orthonormal(U)), _refuse_small)


def _refuse_small(X: Matrix, r: int) -> str:
    return "" if 2 * r < min(X.shape) else "too few rows or features"


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
OTHER_SVDS = (
    _svd_peer("block Krylov", block_krylov),
    _svd_peer("dashSVD style", shifted_powers),
    *(
        _svd_peer(f"svds, {solver}", _scipy_svd(solver))
        for solver in ("arpack", "lobpcg", "propack")
    ),
)
