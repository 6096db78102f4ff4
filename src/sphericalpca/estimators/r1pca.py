"""Rotational invariant L1 PCA as a scikit-learn transformer."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from sphericalpca.baselines.reweighted import Reweighted, canonical, median_distance
from sphericalpca.estimators.validation import LinearModel, check_lengths, check_rank, generator
from sphericalpca.iterate import StopReason, iterate
from sphericalpca.linalg import Array
from sphericalpca.problem import Problem
from sphericalpca.rows import Matrix, Rows, as_rows, weighted_mean
from sphericalpca.solvers.start import svd_start

__all__ = ["R1PCA"]


class R1PCA(LinearModel):
    """Robust PCA in which distant rows count by their distance, not by its square.

    Ding, Zhou, He and Zha (2006).  With ``s_i = ||x_i - U U'x_i||``, the distance of a row from the
    subspace, it minimises Huber's loss ``sum_i rho(s_i)``, where ``rho(s) = s^2`` up to a cutoff c
    and ``2 c s - c^2`` beyond.  Distances do not depend on the axes, hence the name.  Each
    iteration weights the rows by ``min(1, c / s_i)`` and takes one step of subspace iteration with
    the weighted covariance, ``U <- orth(C_w U)``, starting at PCA.  The loss never increases.

    Parameters
    ----------
    n_components : int, default=2
        Dimension r of the subspace, at most ``min(n_samples, n_features)``.
    cutoff : "median" or float > 0, default="median"
        The distance c beyond which the weight of a row decreases; "median" is the median distance
        from the PCA subspace, as in the paper, of the rows not within it.  With infinity this is
        PCA.
    center : bool, default=True
        Subtract the mean.  The paper assumes centred data.  A sparse X stays sparse.
    tol : float, default=1e-4
        Stop when an iteration rotates the subspace by at most this: the root of the sum of the
        squared sines of the principal angles.
    max_iter : int, default=1000
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed of the randomized SVD used for the PCA start beyond 1024 features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows, the eigenvectors of the weighted covariance within the subspace, ordered
        by eigenvalue, with the largest loading of each positive.
    weights_ : ndarray of shape (n_samples,)
        Weight ``min(1, c / s_i)`` of every row in the weighted covariance.
    cutoff_ : float
        The cutoff c used.
    mean_ : ndarray of shape (n_features,) or None
        The mean that was subtracted, if `center` is True.
    loss_ : float
        Huber's loss.
    n_iter_ : int
        Number of iterations.
    stop_reason_ : {"converged", "max_iter"}
    history_ : dict of ndarray of shape (n_iter_,)
        "loss", "residual" (rotation of the subspace), "passes", "flops" (of products with X) and
        "seconds".
    n_features_in_, feature_names_in_ : int and ndarray of str
        Names only if X had column names.

    Notes
    -----
    The loss is not convex, and the iteration starts at PCA.  Outliers that determine a component of
    PCA are within that subspace, and remain there.

    References
    ----------
    C. Ding, D. Zhou, X. He and H. Zha: R1-PCA, rotational invariant L1-norm principal
    component analysis for robust subspace factorization.  ICML 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from sphericalpca import R1PCA
    >>> X = np.random.default_rng(0).standard_normal((100, 3)) * [5, 1, 1]
    >>> X[:3] = [20, 20, 0]  # PCA turns towards these three, by 20 degrees
    >>> bool(R1PCA(1).fit(X).components_[0, 0] > 0.99)
    True
    """

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's name and form
        **LinearModel._parameter_constraints,
        "cutoff": [StrOptions({"median"}), Interval(Real, 0, None, closed="right")],
        "center": ["boolean"],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        cutoff: Any = "median",
        center: bool = True,
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.cutoff = cutoff
        self.center = center
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _learn(self, X: Any) -> tuple[str, float] | None:
        check_rank(self.n_components, X.shape)
        self.mean_ = weighted_mean(X).astype(X.dtype) if self.center else None
        rows = self._rows(X)
        empty = "zero after centring" if self.center else "zero"
        check_lengths(rows.stats.norm, empty, dtype=X.dtype)
        problem, rng = Problem(rows), generator(self.random_state)
        start = svd_start(problem, int(self.n_components), rng)
        given = self.cutoff != "median"
        self.cutoff_ = float(self.cutoff) if given else median_distance(rows, start.U)
        solver, most = Reweighted(self.cutoff_), self.max_iter
        found = iterate(problem, solver, start, tol=self.tol, max_iter=most)
        U, self.weights_ = canonical(rows, found.U, self.cutoff_)
        self.components_ = np.ascontiguousarray(U.T, dtype=rows.dtype)
        self.loss_, self.n_iter_, self.history_ = -found.value, found.n_iter, found.history
        self.stop_reason_ = str(found.stop_reason)
        if found.stop_reason is not StopReason.MAX_ITER:
            return None
        return "rotation of the subspace", self.history_["residual"][-1]

    def transform(self, X: Any) -> Array:
        """Compute the coordinates of the rows of X within the subspace.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        Y : ndarray of shape (n_samples, n_components)
            ``(X - mean_) components_'``.
        """
        return self._rows(self._loaded(X)).project(self.components_.T)

    def _rows(self, X: Matrix) -> Rows:
        return as_rows(X, normalize=False, mean=self.mean_)
