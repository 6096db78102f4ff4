"""The one place where data and seeds from outside are checked."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from sphericalpca.estimators.lazy import check_lazy, is_dask
from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array, real_array
from sphericalpca.parallel import equal_ends, spread, workers
from sphericalpca.rows import Matrix, RowSource, first_non_finite
from sphericalpca.rows.cluster import fetched

__all__ = [
    "check_components",
    "check_count",
    "check_lengths",
    "check_matrix",
    "check_weights",
    "generator",
    "keeping_the_last_fit",
]

# Sums of weights stay in range with these, also when they are multiplied or divided by.
TOTAL_WEIGHT = (1e-100, 1e100)

_NUMBERS_ONLY = (
    "X must hold numbers only: encode text with a vectorizer and categories or dates with an "
    "encoder, or drop those columns."
)
_REAL_ONLY = "Pass the real part or the modulus, or real and imaginary parts as separate columns."
_SAME_COLUMNS = "Pass the columns that the model was fitted on, in their order."
_RESHAPE = (
    "Reshape your data to (n_samples, n_features): X.reshape(1, -1) if it is a single sample, "
    "X.reshape(-1, 1) if it is a single feature."
)

# scikit-learn's messages name the value and the rule, sometimes at length; these say what
# to do about it: (pattern, what to say in place of the message if anything, remedy).
_REMEDIES = (
    (r"0 sample\(s\)", None, "Pass at least one row."),
    (r"0 feature\(s\)", None, "Pass at least one column."),
    (r"got 1D array", "Expected 2D array, got 1D array instead", _RESHAPE),
    (r"array with dim|got scalar", None, "Reshape your data to (n_samples, n_features)."),
    (r"Complex data", "Complex data not supported: X holds complex numbers", _REAL_ONLY),
    (r"'complex'", None, _REAL_ONLY),
    (r"inhomogeneous", "X has an inhomogeneous shape", "Give all rows the same length."),
    (r"could not be promoted", "X holds dates or times", _NUMBERS_ONLY),
    (r"could not convert string|must be a string or a|with a sequence", None, _NUMBERS_ONLY),
    (r"too large to convert", "X holds integers too large for float64", "Rescale them."),
    (r"features, but|feature names should", None, _SAME_COLUMNS),
)


def check_matrix(estimator: Any, X: Any, *, reset: bool, in_memory: bool = False) -> Any:
    """A float32 or float64 array, or a CSR matrix without repeated indices, all finite.

    Nothing is copied that need not be: other types are converted, CSC becomes CSR,
    repeated indices are added up in a copy.  Unsorted ones do no harm.  Rows in files and
    on clusters are checked when they are read; an estimator that wants its data
    `in_memory` refuses them.
    """
    try:
        if isinstance(X, RowSource) or is_dask(X):
            return _checked_elsewhere(estimator, X, reset=reset, in_memory=in_memory)
        X = np.asarray(X) if isinstance(X, (list, tuple)) else X
        _refuse_kinds(X)
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float32] if _is_single(X) else [np.float64, np.float32],
            ensure_all_finite=False,
        )
    except DataError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else DataError
        raise kind(_with_remedy(str(error))) from None
    if sparse.issparse(X) and _repeats_indices(X):
        X = X.copy()
        X.sum_duplicates()
    _refuse_non_finite("X", X, "impute or drop it, for example with sklearn's SimpleImputer.")
    return X


def _checked_elsewhere(estimator: Any, X: Any, *, reset: bool, in_memory: bool) -> Any:
    if in_memory:
        what = X.name if isinstance(X, RowSource) else f"a Dask {type(X).__name__}"
        raise DataError(
            f"X is {what}, but {type(estimator).__name__} wants its data in memory: load them, or "
            "use SphericalPCA."
        )
    if is_dask(X):
        return check_lazy(estimator, X, reset=reset)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return X


def _repeats_indices(X: Matrix) -> bool:
    # Sorting the rows would tell too, and takes three times as long as turning X around,
    # which brings the entries of a column together in the order of their rows.
    if X.has_canonical_format:
        return False
    ends = itertools.pairwise(equal_ends(X.shape[0], workers()))
    return not all(spread(lambda part: X[slice(*part)].tocsc().has_canonical_format, list(ends)))


def check_weights(sample_weight: Any, n: int) -> Array | None:
    """Non-negative finite weights in float64, their sum within range; None stays None."""
    if sample_weight is None:
        return None
    if is_dask(sample_weight):
        sample_weight = fetched(sample_weight)
    weight = _real_array("sample_weight", sample_weight)
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
    low, high = TOTAL_WEIGHT
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if not low <= total <= high:
        raise DataError(
            f"The sample weights sum to {total:.3g}, but must sum to {low:g} at least and {high:g} "
            "at most: rescale them."
        )
    return weight


def check_components(V: Any, n_components: int) -> Array:
    """Components to be mapped back: a finite float array with n_components columns."""
    rule = f"pass an array of shape (n_samples, {n_components}), as transform returns it."
    if sparse.issparse(V):
        raise DataError(f"The components are sparse, but must be dense (call toarray()): {rule}")
    single = _is_single(V)
    V = _real_array("The array of components", V)
    if V.ndim != 2 or V.shape[1] != n_components:
        raise DataError(
            f"The components have shape {V.shape}, but the model has n_components={n_components}: "
            f"{rule}"
        )
    _refuse_non_finite("The array of components", V, rule)
    return np.asarray(V, dtype=np.float32 if single else np.float64)


def check_count(name: str, count: int, rule: str, limit: int, shape: tuple[int, int]) -> None:
    """Refuse more components or clusters than the data have room for."""
    if count > limit:
        raise DataError(
            f"{name}={count} must be at most {rule}, here {limit} (n_samples = {shape[0]}, "
            f"n_features = {shape[1]}): lower it."
        )


def check_lengths(lengths: Array, empty: str = "zero", *, dtype: Any = np.float64) -> None:
    """Refuse rows that are all empty, or whose squared lengths leave the range of `dtype`."""
    with np.errstate(over="ignore", under="ignore"):
        energy = float(lengths @ lengths)
    if not lengths.any():
        raise DataError(
            f"All rows of X (n_samples = {len(lengths)}) are {empty}, so there is nothing to fit: "
            "pass at least one row that is not."
        )
    info = np.finfo(dtype)
    low, high = float(info.tiny / info.eps), float(info.max / 10)
    if not low < energy < high:
        raise DataError(
            f"The squared lengths of the rows of X sum to {energy:.3g}, but must be between "
            f"{low:.1g} and {high:.1g}: rescale X."
        )


def generator(random_state: Any) -> np.random.Generator:
    """Numpy's Generator inside, scikit-learn's random_state at the door."""
    return np.random.default_rng(check_random_state(random_state).randint(0, 2**31, size=4))


@contextmanager
def keeping_the_last_fit(estimator: Any) -> Iterator[None]:
    """If a fit fails, the estimator keeps what it had learned before."""
    before = _fitted_attributes(estimator)
    try:
        yield
    except BaseException:
        for name in _fitted_attributes(estimator):
            delattr(estimator, name)
        for name, value in before.items():
            setattr(estimator, name, value)
        raise


def _fitted_attributes(estimator: Any) -> dict[str, Any]:
    """By scikit-learn's convention their names end, and do not begin, with a bar."""
    own = vars(estimator).items()
    return {k: v for k, v in own if k.endswith("_") and not k.startswith("_")}


def _is_single(X: Any) -> bool:
    """float32, and float16, which is computed in float32, in any byte order."""
    return all(
        isinstance(dtype, np.dtype) and dtype.kind == "f" and dtype.itemsize <= 4
        for dtype in _types(X)
    )


def _types(X: Any) -> list[Any]:
    """The type of an array, or of each column of a data frame."""
    return list(getattr(X, "dtypes", [getattr(X, "dtype", None)]))


def _real_array(name: str, values: Any) -> Array:
    try:
        return real_array(values)
    except TypeError as error:
        raise DataError(f"{name} must hold real numbers, got {error}: pass floats.") from None


def _refuse_kinds(X: Any) -> None:
    """Kinds that scikit-learn would convert, or refuse at great length."""
    if X is None or (isinstance(X, np.ndarray) and X.shape == (0,)):
        what = "None" if X is None else "empty"
        raise DataError(f"X is {what}. Pass at least one row, as a 2D array.")
    if isinstance(X, (str, bytes, os.PathLike)):
        raise DataError(
            f"X is text, {str(X)[:100]!r}: if it names a file, pass open_rows(X). {_NUMBERS_ONLY}"
        )
    for dtype in _types(X):
        kind = dtype.kind if isinstance(dtype, np.dtype) else ""
        if kind == "c":
            raise DataError(f"Complex data not supported: X has dtype {dtype}. {_REAL_ONLY}")
        if kind in {"U", "S", "M", "m", "V"}:
            raise DataError(f"X has dtype {dtype}. {_NUMBERS_ONLY}")
        if kind == "O" and isinstance(X, np.ndarray) and any(map(_is_text, X.flat)):
            raise DataError(f"X has dtype object and holds text. {_NUMBERS_ONLY}")


def _is_text(value: Any) -> bool:
    return isinstance(value, (str, bytes))


def _with_remedy(message: str) -> str:
    for pattern, rule, remedy in _REMEDIES:
        if re.search(pattern, message):
            sentence = (rule or message).rstrip(" .:\n")
            return f"{sentence}\n{remedy}" if "\n" in sentence else f"{sentence}. {remedy}"
    return message


def _refuse_non_finite(name: str, X: Matrix, remedy: str) -> None:
    """Say where the first NaN or infinity is."""
    place = first_non_finite(X)
    if place is not None:
        row, column, value = place
        raise DataError(
            f"{name} contains {value} in row {row}, column {column}, but every entry must be "
            f"finite: {remedy}"
        )
