"""The one place where data from outside are checked."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array
from sphericalpca.rows.block import Matrix

__all__ = ["check_components", "check_matrix", "check_weights"]

# scikit-learn's messages name the value and the rule; these add what to do about it.
_REMEDIES = {
    r"0 sample\(s\)": "Pass at least one row.",
    r"0 feature\(s\)": "Pass at least one column.",
    r"Found array with dim": "Reshape X to (n_samples, n_features).",
    r"Complex data not supported": "Take the real part, the modulus, or stack real and imaginary "
    "parts as separate columns.",
    r"could not convert string|argument must be a string or a": "X must hold numbers only: encode "
    "text with a vectorizer and categories with an encoder, or drop those columns.",
    r"features, but \w+ is expecting": "Pass the columns that the model was fitted on.",
}


def check_matrix(estimator: Any, X: Any, *, reset: bool) -> Matrix:
    """A float32 or float64 array, or a CSR matrix in canonical form, all finite.

    Nothing is copied that need not be: other types are converted, CSC becomes CSR,
    unsorted or repeated indices are put in order in a copy.
    """
    _refuse_text(X)
    # float16 is computed in float32; everything else that is not float32 in float64.
    half = getattr(X, "dtype", None) == np.float16
    try:
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float32] if half else [np.float64, np.float32],
            ensure_all_finite=False,
        )
    except (ValueError, TypeError) as error:
        message = str(error)
        remedy = next((r for pattern, r in _REMEDIES.items() if re.search(pattern, message)), "")
        raise (DataError if isinstance(error, ValueError) else TypeError)(
            f"{message} {remedy}".strip()
        ) from None
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    _refuse_non_finite(X)
    return X


def check_weights(sample_weight: Any, n: int) -> Array | None:
    """Non-negative finite weights in float64, not all zero; None stays None."""
    if sample_weight is None:
        return None
    try:
        weight = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("sample_weight must hold numbers: pass an array of floats.") from None
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.shape != (n,):
        raise DataError(
            f"sample_weight has shape {weight.shape}, but X has {n} rows: "
            f"pass one weight per row, shape ({n},)."
        )
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        raise DataError(
            f"sample_weight[{wrong[0]}] is {weight[wrong[0]]}, but weights must be finite and "
            "non-negative: use 0 to leave a row out."
        )
    if not weight.any():
        raise DataError("All sample weights are zero: give at least one row a positive weight.")
    return weight


def check_components(V: Any, n_components: int) -> Array:
    """Components to be mapped back: a finite float array with n_components columns."""
    V = np.asarray(V)
    if V.dtype not in (np.float32, np.float64):
        V = V.astype(np.float64)
    if V.ndim != 2 or V.shape[1] != n_components:
        raise DataError(
            f"The components have shape {V.shape}, but the model has n_components={n_components}: "
            f"pass an array of shape (n_samples, {n_components}), as transform returns it."
        )
    _refuse_non_finite(V)
    return np.asarray(V)


def _refuse_text(X: Any) -> None:
    dtype = getattr(X, "dtype", None)
    kind = getattr(dtype, "kind", "")
    if kind in "USMmV" and kind:
        raise DataError(
            f"X has dtype {dtype}, but must hold numbers: encode text with a vectorizer and "
            "categories or dates with an encoder first."
        )


def _refuse_non_finite(X: Matrix) -> None:
    """Say where the first NaN or infinity is."""
    values = X.data if sparse.issparse(X) else X
    # A sum is one fast read; it is not finite if any entry is not, or if it overflows.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return
    place = _first_non_finite(X)
    if place is not None:
        row, column, value = place
        name = "NaN" if np.isnan(value) else "infinity (inf)"
        raise DataError(
            f"X contains {name} in row {row}, column {column}, but every entry must be finite: "
            "impute or drop it, for example with sklearn.impute.SimpleImputer."
        )


def _first_non_finite(X: Matrix) -> tuple[int, int, float] | None:
    if sparse.issparse(X):
        for k in np.flatnonzero(~np.isfinite(X.data))[:1]:
            return int(np.searchsorted(X.indptr, k, "right")) - 1, int(X.indices[k]), X.data[k]
        return None
    for i, row in enumerate(X):
        for j in np.flatnonzero(~np.isfinite(row))[:1]:
            return i, int(j), row[j]
    return None
