"""Data of other libraries: arrays on devices, and Dask collections."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils._array_api import _max_precision_float_dtype, get_namespace_and_device

from sphericalpca.estimators.columns import DataTypeError, column_names, learn_columns
from sphericalpca.estimators.fitted import model_on_host
from sphericalpca.exceptions import DataError, printable
from sphericalpca.linalg import Array
from sphericalpca.parallel import parallel
from sphericalpca.rows import Backend, NamespaceMatrix, RowSource, as_rows, column_words, host_view
from sphericalpca.rows.cluster import checked_chunk, is_frame

__all__ = [
    "as_numpy_or_namespace",
    "backend_of",
    "check_dask",
    "check_same_backend",
    "is_dask",
    "is_foreign",
    "lazy_components",
]

# Types narrower than float32, computed in float32.
NARROW = ("float16", "bfloat16")


def is_foreign(X: Any) -> bool:
    """Whether X is an array of another library than NumPy."""
    # Columns of pyarrow support DLPack, too, but are not arrays.
    handed = hasattr(X, "__dlpack__") and hasattr(X, "dtype")
    return handed and not isinstance(X, (np.ndarray, np.generic))


def backend_of(X: Any) -> Backend:
    """The backend of X and of its results; NumPy's memory unless the dispatch is enabled."""
    if not (is_foreign(X) and get_config()["array_api_dispatch"]):
        return Backend()
    xp, _, device = get_namespace_and_device(X)
    return Backend(xp, device, double=_max_precision_float_dtype(xp, device) == xp.float64)


def as_numpy_or_namespace(X: Any) -> Any:
    """Convert a foreign X to a NumPy array without copying, else to a `NamespaceMatrix`."""
    kind, layout = str(X.dtype).rpartition(".")[2], str(getattr(X, "layout", "strided"))
    if getattr(X, "requires_grad", False):
        raise DataError("X requires gradients", "a fit is not differentiable", "pass X.detach()")
    if not layout.endswith("strided"):
        remedy = "pass X.to_dense(), or a scipy CSR matrix"
        raise DataError(f"X is a tensor of layout {layout}", "must be dense", remedy)
    if kind.startswith("complex"):
        remedy = "pass the real part or the modulus"
        raise DataError(f"Complex data not supported: X has dtype {X.dtype}", remedy=remedy)
    backend = backend_of(X)
    if backend.xp is np:
        return _as_numpy(X)
    xp = backend.xp
    if kind in NARROW:
        X = xp.astype(X, xp.float32)
    if (view := host_view(X)) is not None:
        return view
    if X.dtype not in (xp.float32, xp.float64):
        X = xp.astype(X, backend.wide)
    return NamespaceMatrix(X, backend)


def _as_numpy(X: Any) -> Any:
    """X as NumPy converts it without the dispatch."""
    if str(X.dtype).endswith("bfloat16"):
        remedy = "pass X.float(), or turn on scikit-learn's array_api_dispatch"
        raise DataTypeError("X has dtype bfloat16", "NumPy does not have it", remedy)
    try:
        return np.asarray(X)
    except TypeError as error:  # it is on a device
        dispatch = "or turn on scikit-learn's dispatch, sklearn.set_config(array_api_dispatch=True)"
        raise DataTypeError(printable(error), remedy=dispatch) from None


def check_same_backend(estimator: Any, X: Any, method: str) -> Backend:
    """The backend of results for X, which must be that of the data of the fit."""
    if isinstance(X, RowSource) or is_dask(X):
        return Backend()
    places = backend, fitted = backend_of(X), backend_of(estimator.components_)
    same = (backend.xp, backend.device) == (fitted.xp, fitted.device)
    if get_config()["array_api_dispatch"] and not same:
        rule = (
            f"inputs passed to {type(estimator).__name__}.{method}() must use the same namespace "
            "and the same device as those passed to fit()"
        )
        names = [place.xp.__name__.rpartition(".")[2] for place in places]
        devices = ["" if place.device is None else f" on {place.device}" for place in places]
        found = f"X is in {names[0]}{devices[0]}, the model in {names[1]}{devices[1]}"
        raise DataError(found, rule, "move X, or fit again")
    return backend


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection; Dask is not imported."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def check_dask(estimator: Any, X: Any, *, reset: bool) -> np.dtype[Any]:
    """Check kind, shape, columns and names of X; return the type to compute in."""
    ndim = getattr(X, "ndim", None)
    if not isinstance(ndim, int) or ndim != 2:  # a Delayed has every attribute, all Delayed
        shape = f" of {ndim} dimensions" if isinstance(ndim, int) else ""
        rule = "must be a Dask array of shape (n_samples, n_features) or a Dask data frame"
        raise DataError(f"X is a Dask {type(X).__name__}{shape}", rule, "convert or reshape it")
    columns = len(X.columns) if is_frame(X) else X.shape[1]
    if not columns > 0 or math.isnan(columns):
        rule = "must have at least one, and their number must be known"
        remedy = "call X.compute_chunk_sizes() if it is not"
        raise DataError(f"X has {columns} columns", rule, remedy)
    dtype = _type_of(list(X.dtypes) if is_frame(X) else [X.dtype], column_names(X))
    likeness = X._meta if is_frame(X) else np.empty((0, columns))
    learn_columns(estimator, likeness, reset=reset, skip_check_array=True)
    return dtype


def _type_of(dtypes: list[Any], names: list[str] | None) -> np.dtype[Any]:
    """float32 if nothing is wider, else float64."""
    for k, dtype in enumerate(dtypes):
        if getattr(dtype, "kind", "O") not in "fiub":
            where = "" if names is None else f" in {column_words(k, names)}"
            remedy = "encode or drop text, dates and categories, convert others by astype(float)"
            raise DataError(f"X has dtype {dtype}{where}", "must hold real numbers only", remedy)
    single = all(dtype.kind == "f" and dtype.itemsize <= 4 for dtype in dtypes)
    return np.dtype(np.float32 if single else np.float64)


def lazy_components(estimator: Any, X: Any) -> Any:
    """Components of the rows of a Dask array or data frame, as a lazy Dask array."""
    dtype = check_dask(estimator, X, reset=False)
    estimator = model_on_host(estimator)
    array = (X.to_dask_array() if is_frame(X) else X).rechunk({1: -1})
    r = len(estimator.components_)
    return array.map_blocks(
        _chunk_components,
        # Passed separately, it is in the graph once instead of once per chunk.
        components_=importlib.import_module("dask").delayed(estimator.components_),
        options={"normalize": estimator.normalize, "mean": estimator.mean_},
        kind=dtype,
        dtype=dtype,
        chunks=(array.chunks[0], (r,)),
        meta=np.empty((0, r), dtype=dtype),
    )


def _chunk_components(
    chunk: Any, components_: Array, options: Any, kind: Any, block_id: Sequence[int] = (0, 0)
) -> Array:
    r, m = components_.shape
    matrix = checked_chunk([chunk], m, kind, block_id[0], None)
    if matrix.shape[0] == 0:
        return np.empty((0, r), dtype=kind)
    with parallel(1):  # Dask processes chunks concurrently
        return as_rows(matrix, **options).components(components_.T)
