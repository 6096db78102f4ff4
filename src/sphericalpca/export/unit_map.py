"""What a fitted model does to a row: subtract, multiply, scale to unit length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sphericalpca.estimators import SphericalPCA
from sphericalpca.estimators.fitted import model_on_host
from sphericalpca.exceptions import ArgumentTypeError, DataError
from sphericalpca.linalg import Array

__all__ = ["UnitMap", "unit_map"]


@dataclass(frozen=True)
class UnitMap:
    """The map ``x -> U'(x - mean) / ||U'(x - mean)||``.

    `transform` returns a row that has nothing in the subspace as zeros.  Targets do so where the
    product is zero, and else scale what rounding left of it.  faiss (lengths from 1e-19 to 1e19)
    and sentence-transformers (from 1e-12) square in float32: other rows do not become unit vectors.

    Attributes
    ----------
    U : ndarray of shape (n_features, n_components)
        Orthonormal columns.
    mean : ndarray of shape (n_features,) or None
        What is subtracted first; None if nothing is.
    """

    U: Array
    mean: Array | None

    @property
    def n_features(self) -> int:
        """Length of the vectors that go in."""
        return int(self.U.shape[0])

    @property
    def n_components(self) -> int:
        """Length of the unit vectors that come out."""
        return int(self.U.shape[1])

    @property
    def matrix(self) -> Array:
        """U' in float32, rows one after another: the weight of a linear layer."""
        return np.ascontiguousarray(self.U.T, dtype=np.float32)

    @property
    def centre(self) -> Array | None:
        """The mean in float32."""
        if self.mean is None:
            return None
        with np.errstate(over="ignore"):
            centre = self.mean.astype(np.float32)
        if not np.isfinite(centre).all():
            found = f"The mean has an entry of {np.abs(self.mean).max():.1e}"
            rule = "the target computes in float32, up to 3e38"
            raise DataError(found, rule, "scale the data before fitting")
        return centre

    @property
    def offset(self) -> Array | None:
        """``-U' mean`` in float32: the bias of a linear layer.

        It loses digits where the mean is much longer than centred rows, which `centre` does not.
        """
        if (centre := self.centre) is None:
            return None
        return -(centre.astype(np.float64) @ self.matrix.T).astype(np.float32)


def unit_map(model: Any) -> UnitMap:
    """The map of a fitted SphericalPCA; the same whether or not `normalize` was set.

    Only the fit depends on it: `transform` gives unit vectors, whatever the lengths of rows.

    Parameters
    ----------
    model : SphericalPCA
        Fitted.

    Returns
    -------
    reducer : UnitMap

    Raises
    ------
    ArgumentTypeError
        If it is another estimator; a ``TypeError``.

    Examples
    --------
    >>> import numpy as np
    >>> from sphericalpca import SphericalPCA
    >>> from sphericalpca.export import unit_map
    >>> model = SphericalPCA(n_components=2).fit(np.random.default_rng(0).normal(size=(100, 6)))
    >>> unit_map(model).U.shape
    (6, 2)
    """
    if not isinstance(model, SphericalPCA):
        remedy = "pass a fitted SphericalPCA, which is one matrix and a normalisation"
        raise ArgumentTypeError(f"A {type(model).__name__} cannot be exported", remedy=remedy)
    check_is_fitted(model)
    model = model_on_host(model)
    return UnitMap(U=model.components_.T, mean=model.mean_)
