"""The one place where data and seeds from outside are checked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from sphericalpca.estimators.columns import check_source, column_names, where_not_a_number
from sphericalpca.estimators.kinds import (
    is_single,
    refuse_kinds,
    refuse_plans,
    refuse_repeated_names,
)
from sphericalpca.estimators.lazy import check_lazy, is_dask
from sphericalpca.estimators.namespaces import brought, is_foreign
from sphericalpca.estimators.remedies import IMPUTE, is_about_text, with_remedy
from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array, real_array
from sphericalpca.parallel import equal_ends, spread, workers
from sphericalpca.rows import (
    Matrix,
    NamespaceMatrix,
    RowSource,
    Watch,
    column_words,
    first_non_finite,
)
from sphericalpca.rows import on_host as fetched_from_device
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


def check_matrix(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    in_memory: bool = False,
    on_host: bool = False,
    watch: Watch | None = None,
) -> Any:
    """A float32 or float64 array, or a CSR matrix without repeated indices, all finite.

    Nothing is copied that need not be: other types are converted, CSC becomes CSR,
    repeated indices are added up in a copy.  Unsorted ones do no harm.  Rows in files and
    on clusters are checked when they are read; an estimator that wants its data
    `in_memory` refuses them.  Arrays of other libraries that NumPy cannot address stay what
    they are, as a `NamespaceMatrix`; who wants data `on_host` refuses them.  The `watch` is told
    of rows that are read for that, as in `Rows`.
    """
    given = X
    try:
        refuse_plans(X)
        refuse_repeated_names(X)
        if isinstance(X, RowSource) or is_dask(X):
            return _checked_elsewhere(estimator, X, watch, reset=reset, in_memory=in_memory)
        X = np.asarray(X) if isinstance(X, (list, tuple)) else X
        X = brought(X) if is_foreign(X) else X
        if isinstance(X, NamespaceMatrix):
            refused = in_memory or on_host
            return _checked_on_device(estimator, X, watch, reset=reset, refused=refused)
        refuse_kinds(X)
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float32] if is_single(X) else [np.float64, np.float32],
            ensure_all_finite=False,
        )
    except DataError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else DataError
        where = where_not_a_number(given) if is_about_text(str(error)) else ""
        raise kind(with_remedy(f"{error}{where}")) from None
    if sparse.issparse(X) and _repeats_indices(X):
        X = X.copy()
        X.sum_duplicates()
    _refuse_non_finite("X", first_non_finite(X, watch), IMPUTE, column_names(given))
    return X


def _checked_on_device(
    estimator: Any, X: NamespaceMatrix, watch: Watch | None, *, reset: bool, refused: bool
) -> NamespaceMatrix:
    if refused:
        raise DataError(
            f"X is on {X.backend.device}, where SphericalPCA's fit, transform, inverse_transform, "
            "score and certify can read it, but nothing else: move X to the host."
        )
    validate_data(estimator, X.array, reset=reset, dtype=None, ensure_all_finite=False)
    _refuse_non_finite("X", X.first_non_finite(watch), IMPUTE)
    return X


def _checked_elsewhere(
    estimator: Any, X: Any, watch: Watch | None, *, reset: bool, in_memory: bool
) -> Any:
    if in_memory:
        what = X.name if isinstance(X, RowSource) else f"a Dask {type(X).__name__}"
        raise DataError(
            f"X is {what}, but {type(estimator).__name__} wants its data in memory: load them, or "
            "use SphericalPCA."
        )
    if is_dask(X):
        return check_lazy(estimator, X, watch, reset=reset)
    check_source(estimator, X, reset=reset)
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
    if is_foreign(sample_weight):
        sample_weight = fetched_from_device(sample_weight)
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


def check_components(V: Any, n_components: int) -> Any:
    """Components to be mapped back: a finite float array with n_components columns."""
    rule = f"pass an array of shape (n_samples, {n_components}), as transform returns it."
    V = brought(V) if is_foreign(V) else V
    if sparse.issparse(V):
        raise DataError(f"The components are sparse, but must be dense (call toarray()): {rule}")
    there = isinstance(V, NamespaceMatrix)
    single = not there and is_single(V)
    V = V if there else _real_array("The array of components", V)
    if len(V.shape) != 2 or V.shape[1] != n_components:
        raise DataError(
            f"The components have shape {V.shape}, but the model has n_components={n_components}: "
            f"{rule}"
        )
    place = V.first_non_finite() if there else first_non_finite(V)
    _refuse_non_finite("The array of components", place, rule)
    return V if there else np.asarray(V, dtype=np.float32 if single else np.float64)


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


def _real_array(name: str, values: Any) -> Array:
    try:
        return real_array(values)
    except TypeError as error:
        raise DataError(f"{name} must hold real numbers, got {error}: pass floats.") from None


def _refuse_non_finite(
    name: str,
    place: tuple[int, int, str] | None,
    remedy: str,
    columns: Sequence[str] | None = None,
) -> None:
    """Say where the first NaN or infinity is."""
    if place is not None:
        row, column, value = place
        raise DataError(
            f"{name} contains {value} in row {row}, {column_words(column, columns)}, but every "
            f"entry must be finite: {remedy}"
        )
