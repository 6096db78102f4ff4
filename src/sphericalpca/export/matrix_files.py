"""The matrix itself, in files that say how to use it."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np

from sphericalpca.exceptions import DataError
from sphericalpca.export.unit_map import UnitMap, unit_map

__all__ = ["json_text", "matrix_record", "npy_bytes", "npz_bytes"]

# First by the largest entry, as squares of very long or short rows leave the range; then the
# length is 1 at least, unless the row is zero: that stays zero.
SCALE = (
    "Y = Y / np.maximum(np.abs(Y).max(axis=1, keepdims=True), np.finfo(Y.dtype).tiny); "
    "V = Y / np.maximum(np.linalg.norm(Y, axis=1, keepdims=True), 1)"
)


def matrix_record(model: Any) -> dict[str, Any]:
    """The map as plain values: lists, numbers and text.

    Parameters
    ----------
    model : SphericalPCA
        Fitted.

    Returns
    -------
    record : dict
        "U" has a list of n_components numbers for each feature; "mean" is None unless the
        model is centred; "apply" is a line of Python from X, U and mean to V.

    Examples
    --------
    >>> import numpy as np
    >>> from sphericalpca import SphericalPCA
    >>> from sphericalpca.export import matrix_record
    >>> X = np.random.default_rng(0).standard_normal((100, 6))
    >>> model = SphericalPCA(n_components=2).fit(X)
    >>> Y = X @ np.array(matrix_record(model)["U"])
    >>> V = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    >>> bool(np.allclose(V, model.transform(X)))
    True
    """
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


def json_text(model: Any) -> str:
    """`matrix_record` with all digits of its numbers."""
    return json.dumps(matrix_record(model))


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
