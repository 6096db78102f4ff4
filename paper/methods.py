"""From features to a representation, one entry per method of the tables.

Each method gets unit rows (except "kmeans-raw", which gets the points as they are) and returns
what k-means then clusters.  No method sees a label.  A method "+ unit rows" is the same
representation with its rows scaled to length 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from scipy import sparse
from sklearn.decomposition import NMF, PCA, TruncatedSVD

from sphericalpca.estimators import KSVD, R1PCA, SphericalPCA
from sphericalpca.problem import Problem
from sphericalpca.rows import Matrix, as_rows
from sphericalpca.solvers import Linearized, lipschitz_constant

__all__ = ["METHODS", "DoesNotApplyError", "Representation", "RepresentationMethod"]


class DoesNotApplyError(ValueError):
    """The method does not apply to these data; the message says why."""


@dataclass(frozen=True)
class Representation:
    """The result of a method.

    Attributes
    ----------
    Z : array or CSR matrix with a row per sample
    parameters : dict
        Everything that varies between trials or may interest readers.
    facts : dict
        `svd_ratio`, `mean_cosine`, `iterations`, where the method has them.
    """

    Z: Matrix
    parameters: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, float] = field(default_factory=dict)


Represent = Callable[[Matrix, int, int, dict[str, Any]], Representation]


@dataclass(frozen=True)
class RepresentationMethod:
    """A line of the tables.

    Attributes
    ----------
    label : str
    represent : callable (X, r, seed, options) -> Representation
    in_paper : bool
    reduces : bool
        Whether it has a dimension r at all.
    raw : bool
        Whether it uses the points as they are instead of unit rows.
    spherical : bool
        Whether it clusters by itself, with unit centroids, instead of by k-means.
    unit : bool
        Whether the rows of the representation are scaled to length 1 before they are clustered.
    in_tables : bool
        Whether it has a column in Tables 1 and 2; others belong to an experiment of their own.
    """

    label: str
    represent: Represent
    in_paper: bool = False
    reduces: bool = True
    raw: bool = False
    spherical: bool = False
    unit: bool = False
    in_tables: bool = True


def _features(X: Matrix, *_: Any) -> Representation:
    return Representation(X)


def _nmf(X: Matrix, r: int, seed: int, options: dict[str, Any]) -> Representation:
    """Lee and Seung's multiplicative updates; the coefficients represent the rows."""
    if (X.data if sparse.issparse(X) else X).min(initial=0.0) < 0:
        raise DoesNotApplyError("X has negative entries")
    model = NMF(r, solver="mu", init="nndsvda", max_iter=500, random_state=seed, **options)
    Z = model.fit_transform(X)
    return Representation(Z, {"init": "nndsvda", "max_iter": 500}, {"iterations": model.n_iter_})


def _pca(X: Matrix, r: int, seed: int, options: dict[str, Any]) -> Representation:
    dense = X.toarray() if sparse.issparse(X) else X
    model = PCA(r, svd_solver="covariance_eigh", random_state=seed, **options)
    return Representation(model.fit_transform(dense), {"svd_solver": "covariance_eigh"})


def _svd(X: Matrix, r: int, seed: int, options: dict[str, Any]) -> Representation:
    """Uncentred; ARPACK's is exact, but cannot compute all singular vectors."""
    exact = {"algorithm": "arpack" if r < min(X.shape) else "randomized"}
    chosen = exact | options
    model = TruncatedSVD(r, random_state=seed, **chosen)
    return Representation(model.fit_transform(X), chosen)


def _r1_pca(X: Matrix, r: int, seed: int, options: dict[str, Any]) -> Representation:
    model = R1PCA(r, random_state=seed, **options)
    return Representation(model.fit_transform(X), {}, {"iterations": model.n_iter_})


def _k_svd(X: Matrix, r: int, seed: int, options: dict[str, Any]) -> Representation:
    """Sparse codes over `atoms` times r atoms, at most r // 2 of them in use per row."""
    atoms = options.get("atoms", 1) * r
    non_zeros = max(1, r // 2)
    model = KSVD(atoms, n_nonzero_coefs=non_zeros, max_iter=30, random_state=seed)
    Z = model.fit_transform(X)
    parameters = {"atoms": atoms, "n_nonzero_coefs": non_zeros, "max_iter": 30}
    return Representation(Z, parameters, {"iterations": model.n_iter_})


def _twice_the_atoms(X: Matrix, r: int, seed: int, options: dict[str, Any]) -> Representation:
    return _k_svd(X, r, seed, {**options, "atoms": 2})


def _spherical(X: Matrix, r: int, seed: int, options: dict[str, Any]) -> Representation:
    model = SphericalPCA(r, random_state=seed, **options)
    Z = model.fit_transform(X)
    facts = {
        "svd_ratio": model.svd_ratio_,
        "mean_cosine": model.mean_cosine_,
        "iterations": model.n_iter_,
    }
    return Representation(Z, {"tol": model.tol, **options}, facts)


def _spherical_centred(X: Matrix, r: int, seed: int, options: dict[str, Any]) -> Representation:
    return _spherical(X, r, seed, {**options, "center": True})


def _random_start(X: Matrix, r: int, seed: int, options: dict[str, Any]) -> Representation:
    return _spherical(X, r, seed, {**options, "init": "random"})


def _best_of_ten(X: Matrix, r: int, seed: int, options: dict[str, Any]) -> Representation:
    return _spherical(X, r, seed, {**options, "n_init": 10})


def _algorithm_1(X: Matrix, r: int, seed: int, options: dict[str, Any]) -> Representation:
    """Algorithm 1 from a random start; `lam` and `mu` are multiples of L_c."""
    bound = lipschitz_constant(Problem(as_rows(X)), r)
    constants = {name: options[name] * bound for name in ("lam", "mu")}
    model = SphericalPCA(
        r, solver=Linearized(**constants), init="random", max_iter=1000, random_state=seed
    )
    Z = model.fit_transform(X)
    facts = {"mean_cosine": model.mean_cosine_, "iterations": model.n_iter_}
    return Representation(Z, {**constants, "L_c": bound, "max_iter": 1000}, facts)


# In the order of the paper's tables, then the same reducers with unit rows, then ours.
METHODS: dict[str, RepresentationMethod] = {
    "kmeans-raw": RepresentationMethod(
        "K-means, raw points", _features, reduces=False, raw=True, in_tables=False
    ),
    "kmeans": RepresentationMethod("K-means", _features, in_paper=True, reduces=False),
    "mua": RepresentationMethod("MUA", _nmf, in_paper=True),
    "pca": RepresentationMethod("PCA", _pca, in_paper=True),
    "r1-pca": RepresentationMethod("R1-PCA", _r1_pca, in_paper=True),
    "k-svd": RepresentationMethod("K-SVD", _k_svd, in_paper=True),
    "spherical-pca": RepresentationMethod("Spherical PCA", _spherical, in_paper=True),
    "mua-unit": RepresentationMethod("MUA + unit rows", _nmf, unit=True),
    "pca-unit": RepresentationMethod("PCA + unit rows", _pca, unit=True),
    "r1-pca-unit": RepresentationMethod("R1-PCA + unit rows", _r1_pca, unit=True),
    "k-svd-unit": RepresentationMethod("K-SVD + unit rows", _k_svd, unit=True),
    "svd-unit": RepresentationMethod("SVD + unit rows", _svd, unit=True),
    "pca-uncentred": RepresentationMethod("PCA, uncentred", _svd),
    "spherical-kmeans": RepresentationMethod(
        "Spherical k-means", _features, reduces=False, spherical=True
    ),
    "spherical-pca-centred": RepresentationMethod("Spherical PCA, centred", _spherical_centred),
    "k-svd-2r": RepresentationMethod("K-SVD, 2r atoms", _twice_the_atoms),
    "spherical-pca-random": RepresentationMethod(
        "Spherical PCA, random start", _random_start, in_tables=False
    ),
    "spherical-pca-best": RepresentationMethod(
        "Spherical PCA, best of 10 starts", _best_of_ten, in_tables=False
    ),
    "algorithm-1": RepresentationMethod("Algorithm 1", _algorithm_1, in_tables=False),
}
