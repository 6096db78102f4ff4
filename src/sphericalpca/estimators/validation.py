"""All checks of data, weights and seeds from users."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence, Set
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval as SklearnInterval
from sklearn.utils.validation import check_is_fitted

from sphericalpca.estimators.columns import (
    DataTypeError,
    check_source,
    column_names,
    is_table,
    learn_columns,
)
from sphericalpca.estimators.fitted import keep_last_fit
from sphericalpca.estimators.foreign import as_numpy_or_namespace, check_dask, is_dask, is_foreign
from sphericalpca.estimators.monitoring import warn_unfinished
from sphericalpca.exceptions import DataError, Parameter, printable
from sphericalpca.linalg import Array, real_array
from sphericalpca.products import times
from sphericalpca.rows import NamespaceMatrix, RowSource, Watch, column_words, first_non_finite
from sphericalpca.rows import on_host as fetched_from_device
from sphericalpca.rows.cluster import fetched, from_dask
from sphericalpca.rows.structure import sound, summed

__all__ = [
    "Interval",
    "LinearModel",
    "MatrixTransformer",
    "check_at_most",
    "check_components",
    "check_lengths",
    "check_matrix",
    "check_rank",
    "check_weights",
    "generator",
]

DEVICE = "which only SphericalPCA's fit, transform, inverse_transform, score and certify can read"

# Within these, sums of weights stay in range, also as factors and divisors.
TOTAL_WEIGHT = (1e-100, 1e100)

NUMBERS_ONLY = "must hold numbers only"
ENCODE = "encode text with a vectorizer, categories or dates with an encoder, or drop those columns"
STACK = "if these are the rows, pass np.stack(column), which is 2D; else drop that column"
REAL_ONLY = "pass the real part or the modulus, or real and imaginary parts as separate columns"
IMPUTE = "impute or drop it, for example with sklearn's SimpleImputer"
ONE_ROW = "pass a 2D array with at least one row"
RESHAPE = "reshape your data to (n_samples, n_features)"
ONE_OF_BOTH = f"{RESHAPE}, X.reshape(1, -1) if it is one sample, X.reshape(-1, 1) if one feature"


class Interval(SklearnInterval):
    """scikit-learn's check, extended to numbers that NumPy does not support, such as fractions."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Whether a value is a number in the interval."""
        try:
            return bool(super().is_satisfied_by(val))
        except TypeError:
            return False


class MatrixTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of the estimators, for dense and sparse data in float32 or float64."""

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's name and form
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    _n_features_out = property(lambda self: len(self.components_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _loaded(self, X: Any, *, reset: bool = False) -> Any:
        """X checked and in memory; the model must be fitted unless a fit is about to `reset` it."""
        if not reset:
            check_is_fitted(self)
        return check_matrix(self, X, reset=reset, in_memory=True)


class LinearModel(MatrixTransformer):
    """Base class of the estimators whose `components_` map results of `transform` back."""

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's name and form
        **MatrixTransformer._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left")],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn passes it
        """Learn the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self : estimator

        Raises
        ------
        DataError
            If X cannot be used.  The message names the row.
        """
        with keep_last_fit(self):
            unfinished = self._learn(self._loaded(X, reset=True))
        if unfinished is not None:
            warn_unfinished(self, *unfinished)
        return self

    @abstractmethod
    def _learn(self, X: Any) -> tuple[str, float] | None:
        """Set the fitted attributes; return a measure and its name if the fit did not converge."""

    def inverse_transform(self, X: Any) -> Array:
        """Map coordinates or codes back to the original space.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            As `transform` returns them.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            ``X components_``, plus ``mean_`` if the model is centred.
        """
        check_is_fitted(self)
        image = times(check_components(X, len(self.components_)), self.components_)
        mean = getattr(self, "mean_", None)
        return np.asarray(image if mean is None else image + mean)


def check_matrix(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    in_memory: bool = False,
    on_host: bool = False,
    watch: Watch | None = None,
) -> Any:
    """Convert X to a finite float32 or float64 array, or CSR matrix without repeated indices.

    Copies only if necessary.  Rows in files and on clusters, which `in_memory` refuses,
    are checked when they are read.  Arrays that NumPy cannot address, which `in_memory` and
    `on_host` refuse, become a `NamespaceMatrix`.  The `watch` counts the rows that are read.
    """
    _refuse_other_things(X)
    if isinstance(X, RowSource) or is_dask(X):
        return _checked_elsewhere(estimator, X, watch, reset=reset, in_memory=in_memory)
    X = as_numpy_or_namespace(X) if is_foreign(X) else _as_array(X)
    if isinstance(X, NamespaceMatrix):
        if in_memory or on_host:
            raise DataError(f"X is on {X.backend.device}, {DEVICE}", remedy="move X to the host")
        _check_shape(X.shape)
        learn_columns(estimator, X.array, reset=reset, dtype=None, ensure_all_finite=False)
        _refuse_non_finite("X", X.first_non_finite(watch), IMPUTE)
        return X
    X = sound(X) if sparse.issparse(X) else X
    names = column_names(X)
    _check_types(X, names)
    if is_table(X) and any(getattr(dtype, "fill_value", 0) != 0 for dtype in X.dtypes):
        X = X.astype(np.float64)  # only zeros can be implicit in a sparse matrix
    dtype = [np.float32] if _is_single(X) else [np.float64, np.float32]
    _check_shape(X.shape)
    X = learn_columns(
        estimator, X, reset=reset, accept_sparse="csr", dtype=dtype, ensure_all_finite=False
    )
    X = X.astype(np.float64) if X.dtype.kind == "b" else X  # of a sparse data frame
    X = summed(X) if sparse.issparse(X) else X
    _refuse_non_finite("X", first_non_finite(X, watch), IMPUTE, names)
    return X


def _checked_elsewhere(estimator: Any, X: Any, watch: Any, *, reset: bool, in_memory: bool) -> Any:
    if in_memory:
        what = X.name if isinstance(X, RowSource) else f"a Dask {type(X).__name__}"
        rule = f"{type(estimator).__name__} needs its data in memory"
        raise DataError(f"X is {what}", rule, "load them, or use SphericalPCA")
    if is_dask(X):
        # Numbers are checked as they are loaded.
        return from_dask(X, check_dask(estimator, X, reset=reset), watch)
    check_source(estimator, X, reset=reset)
    return X


def _as_array(X: Any) -> Any:
    """Return X itself, or a NumPy array if X has no shape or types, such as a list."""
    is_frame = hasattr(X, "dtypes") or hasattr(X, "__dataframe__")
    if isinstance(X, np.ndarray) or sparse.issparse(X) or is_frame:
        return X
    try:
        return np.asarray(X)
    except ValueError:
        found, remedy = "X has an inhomogeneous shape", "give all rows the same length"
        raise DataError(found, "it must be a matrix", remedy) from None


def _refuse_other_things(X: Any) -> None:
    """Refuse None, lazy frames, text, dicts, masked entries and the like."""
    if X is None:
        raise DataError("X is None", remedy=ONE_ROW)
    if callable(getattr(type(X), "collect", None)) and not hasattr(X, "shape"):
        found = f"X is a {type(X).__name__}, which describes rows but holds none"
        raise DataError(found, remedy="pass X.collect()")
    if isinstance(X, (str, bytes, os.PathLike)):
        remedy = f"pass open_rows(X) if it names a file, else {ENCODE}"
        raise DataError(f"X is text, {str(X)[:100]!r}", NUMBERS_ONLY, remedy)
    # DOK matrices have a shape, and are dicts as well.
    if isinstance(X, (Iterator, Mapping, Set)) and not hasattr(X, "shape"):
        keyed = "one of its entries, or np.column_stack(list(X.values())) if these are the columns"
        rows = keyed if isinstance(X, Mapping) else "list(X)"
        raise DataError(f"X is a {type(X).__name__}, not an array of rows", remedy=f"pass {rows}")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        count = int(np.ma.getmaskarray(X).sum())
        found = f"X is a masked array, masked at {count} of {X.size} entries"
        remedy = "impute or drop them, or pass X.data to use the masked values"
        raise DataError(found, "no entry may be missing", remedy)


def _check_types(X: Any, names: list[str] | None) -> None:
    """Refuse complex numbers, dates, text and anything else that is not a number."""
    if not is_table(X):
        values = X if sparse.issparse(X) else np.asarray(X)
        _check_type(values.dtype, "", values)
        return
    for k, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True)):
        if getattr(dtype, "kind", "O") not in "fiub" and not _are_numbers(X[name]):
            where = "" if names is None else f" in {column_words(k, names)}"
            _check_type(dtype, where, np.asarray(X[name]))


def _are_numbers(column: Any) -> bool:
    """Whether a column of objects can be converted, also from text, as scikit-learn does."""
    values = np.asarray(column)
    try:
        return values.dtype.kind in "fiubO" and values.astype(np.float64).ndim == 1
    except (TypeError, ValueError, OverflowError):
        return False


def _check_type(dtype: Any, where: str, values: Any) -> None:
    kind = getattr(dtype, "kind", "O")
    kind = values.dtype.kind if kind == "O" else kind
    if kind == "c":
        raise DataError(f"Complex data not supported: X has dtype {dtype}{where}", "", REAL_ONLY)
    if kind in {"U", "S", "M", "m", "V"}:
        raise DataError(f"X has dtype {dtype}{where}", NUMBERS_ONLY, ENCODE)
    if kind != "O" or sparse.issparse(values):
        return
    for entry in values.flat:
        if isinstance(entry, (str, bytes)):
            raise DataError(f"X holds text, {str(entry)[:50]!r}{where}", NUMBERS_ONLY, ENCODE)
        if isinstance(entry, (complex, np.complexfloating)):
            raise DataError(f"Complex data not supported: X holds {entry}{where}", "", REAL_ONLY)
    try:
        values.astype(np.float64)
    except OverflowError:
        found = f"X holds integers too large for float64{where}"
        raise DataError(found, remedy="rescale them") from None
    except TypeError as error:
        raise DataTypeError(f"{printable(error)}{where}", f"X {NUMBERS_ONLY}", ENCODE) from None
    except ValueError:
        raise DataError(f"X has lists or vectors for entries{where}", NUMBERS_ONLY, STACK) from None


def _is_single(X: Any) -> bool:
    """Whether a type is computed in float32: float32 or float16, in any byte order."""
    dtypes = list(X.dtypes) if is_table(X) else [getattr(X, "dtype", None)]
    return all(isinstance(d, np.dtype) and d.kind == "f" and d.itemsize <= 4 for d in dtypes)


def _check_shape(shape: tuple[int, ...]) -> None:
    if shape == (0,):
        raise DataError("X is empty", remedy=ONE_ROW)
    if len(shape) < 2:
        found, remedy = ("1D", ONE_OF_BOTH) if shape else ("scalar", RESHAPE)
        raise DataError(f"Expected 2D array, got {found} array instead.", remedy=remedy)
    if len(shape) > 2:
        raise DataError(f"Found array with dim {len(shape)}", "expected <= 2.", RESHAPE)
    if 0 in shape:
        what, one = ("sample", "row") if shape[0] == 0 else ("feature", "column")
        found = f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required"
        raise DataError(found, remedy=f"pass at least one {one}")


def check_weights(sample_weight: Any, n: int) -> Array | None:
    """Check weights: float64, finite, non-negative, with a sum in range; None stays None."""
    if sample_weight is None:
        return None
    if is_dask(sample_weight):
        sample_weight = fetched(sample_weight)
    if is_foreign(sample_weight):
        sample_weight = fetched_from_device(sample_weight)
    name = Parameter("sample_weight")
    weight = _real_array(name, sample_weight)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.shape != (n,):
        remedy = f"pass one weight per row, shape ({n},)"
        raise DataError((name, f" has shape {weight.shape}"), f"X has {n} rows", remedy)
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        found = (name, f"[{wrong[0]}] is {weight[wrong[0]]}")
        rule = "weights must be finite and non-negative"
        raise DataError(found, rule, "use 0 to leave a row out")
    if not weight.any():
        remedy = "give at least one row a positive weight"
        raise DataError("All sample weights are zero", remedy=remedy)
    low, high = TOTAL_WEIGHT
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if not low <= total <= high:
        rule = f"must sum to at least {low:g} and at most {high:g}"
        raise DataError(f"The sample weights sum to {total:.3g}", rule, "rescale them")
    return weight


def check_components(V: Any, n_components: int) -> Any:
    """Check components to be mapped back: a finite float array with n_components columns."""
    remedy = f"pass an array of shape (n_samples, {n_components}), as transform returns it"
    V = as_numpy_or_namespace(V) if is_foreign(V) else V
    if sparse.issparse(V):
        raise DataError("The components are sparse", "must be dense (call toarray())", remedy)
    there = isinstance(V, NamespaceMatrix)
    single = not there and _is_single(V)
    V = V if there else _real_array("The array of components", V)
    if len(V.shape) != 2 or V.shape[1] != n_components:
        rule = ("the model has ", Parameter("n_components", n_components))
        raise DataError(f"The components have shape {V.shape}", rule, remedy)
    place = V.first_non_finite() if there else first_non_finite(V)
    _refuse_non_finite("The array of components", place, remedy)
    return V if there else np.asarray(V, dtype=np.float32 if single else np.float64)


def check_at_most(name: str, count: int, limit: int, meaning: str) -> None:
    """Refuse more components or clusters than the data allow."""
    if count > limit:
        rule = f"must be at most {limit}, the {meaning}"
        raise DataError(Parameter(name, int(count)), rule, "lower it")


def check_rank(count: int, shape: tuple[int, int]) -> None:
    """Refuse more components than a subspace of the rows can have."""
    n, m = shape
    rows, columns = "row" if n == 1 else "rows", "column" if m == 1 else "columns"
    check_at_most("n_components", count, min(n, m), f"smaller of {n} {rows} and {m} {columns}")


def check_lengths(lengths: Array, empty: str = "zero", *, dtype: Any = np.float64) -> None:
    """Refuse rows that are all empty, or whose squared lengths overflow `dtype`."""
    with np.errstate(over="ignore", under="ignore"):
        energy = float(lengths @ lengths)
    if not lengths.any():
        found = f"All rows of X (n_samples = {len(lengths)}) are {empty}"
        remedy = "pass at least one row with a direction"
        raise DataError(f"{found}, so there is nothing to fit", remedy=remedy)
    info = np.finfo(dtype)
    low, high = float(info.tiny / info.eps), float(info.max / 10)
    if not low < energy < high:
        found = f"The squared lengths of the rows of X sum to {energy:.3g}"
        raise DataError(found, f"must be between {low:.1g} and {high:.1g}", "rescale X")


def generator(random_state: Any) -> np.random.Generator:
    """NumPy's Generator from scikit-learn's random_state."""
    return np.random.default_rng(check_random_state(random_state).randint(0, 2**31, size=4))


def _real_array(name: str | Parameter, values: Any) -> Array:
    try:
        return real_array(values)
    except TypeError as error:
        raise DataError((name, f" is {error}"), "must hold real numbers", "pass floats") from None


def _refuse_non_finite(
    name: str, place: tuple[int, int, str] | None, remedy: str, columns: Sequence[str] | None = None
) -> None:
    if place is not None:
        row, column, value = place
        found = f"{name} contains {value} in row {row}, {column_words(column, columns)}"
        raise DataError(found, "every entry must be finite", remedy)
