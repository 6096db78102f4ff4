"""The map of a fitted model (subtract, multiply, scale), and files that store it."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sphericalpca.estimators import SphericalPCA
from sphericalpca.estimators.fitted import model_on_host
from sphericalpca.exceptions import ArgumentTypeError, DataError
from sphericalpca.linalg import Array

__all__ = ["UnitMap", "matrix_record", "npy_bytes", "npz_bytes", "unit_map"]

# First by the largest entry, because squares of very long or short rows leave the range of float;
# then the length is at least 1, unless the row is zero, which stays zero.
SCALE = (
    "Y = Y / np.maximum(np.abs(Y).max(axis=1, keepdims=True), np.finfo(Y.dtype).tiny); "
    "V = Y / np.maximum(np.linalg.norm(Y, axis=1, keepdims=True), 1)"
)


@dataclass(frozen=True)
class UnitMap:
    """The map ``x -> U'(x - mean) / ||U'(x - mean)||``.

    For a row orthogonal to the subspace `transform` returns zeros; targets do so only if the
    product is exactly zero, and otherwise scale its rounding errors.  faiss (lengths 1e-19 to 1e19)
    and sentence-transformers (from 1e-12) square in float32: other rows do not become unit vectors.

    Attributes
    ----------
    U : ndarray of shape (n_features, n_components)
        Orthonormal columns.
    mean : ndarray of shape (n_features,) or None
        Subtracted first; None without centring.
    """

    U: Array
    mean: Array | None

    @property
    def n_features(self) -> int:
        """Length of the input vectors."""
        return int(self.U.shape[0])

    @property
    def n_components(self) -> int:
        """Length of the unit vectors."""
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
        """``-U' mean`` in float32, the bias of a layer; subtracting `centre` is more accurate."""
        if (centre := self.centre) is None:
            return None
        return -(centre.astype(np.float64) @ self.matrix.T).astype(np.float32)


def unit_map(model: Any) -> UnitMap:
    """The map of a fitted SphericalPCA; `normalize` affects only the fit, not the map."""
    if not isinstance(model, SphericalPCA):
        remedy = "pass a fitted SphericalPCA, which is one matrix and a normalisation"
        raise ArgumentTypeError(f"A {type(model).__name__} cannot be exported", remedy=remedy)
    check_is_fitted(model)
    model = model_on_host(model)
    return UnitMap(U=model.components_.T, mean=model.mean_)


def matrix_record(model: Any) -> dict[str, Any]:
    """The map as plain values; "apply" is a line of Python from X, U and mean to V."""
    reducer = unit_map(model)
    return {
        "about": "Spherical PCA: rows of X to rows of V, of unit length",
        "n_features": reducer.n_features,
        "n_components": reducer.n_components,
        "dtype": str(reducer.U.dtype),
        "normalise": True,
        "apply": _apply(reducer),
        "mean": None if reducer.mean is None else reducer.mean.tolist(),
        "U": reducer.U.tolist(),
    }


def npz_bytes(model: Any) -> bytes:
    """Arrays "U", "mean" (if centred), "normalise" and "apply" for ``numpy.load``."""
    reducer = unit_map(model)
    arrays: dict[str, Any] = {"U": reducer.U, "normalise": True, "apply": _apply(reducer)}
    if reducer.mean is not None:
        arrays["mean"] = reducer.mean
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


def npy_bytes(model: Any) -> bytes:
    """U alone; only for models without a mean."""
    reducer = unit_map(model)
    if reducer.mean is not None:
        found = "This model is centred, so it has a mean and a matrix"
        raise DataError(found, "a .npy file holds one array", "export it to npz or json")
    content = io.BytesIO()
    np.save(content, reducer.U, allow_pickle=False)
    return content.getvalue()


def _apply(reducer: UnitMap) -> str:
    return f"Y = {'X' if reducer.mean is None else '(X - mean)'} @ U; {SCALE}"
