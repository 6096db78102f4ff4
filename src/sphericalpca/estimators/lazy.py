"""Dask collections at the door: what is checked at once, and what waits until it is computed."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from sphericalpca.estimators.columns import column_names
from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array
from sphericalpca.parallel import parallel
from sphericalpca.problem import components
from sphericalpca.rows import Watch, column_words, in_memory
from sphericalpca.rows.cluster import (
    ClusterMatrix,
    DaskSource,
    checked_chunk,
    from_dask,
    is_frame,
)

__all__ = ["check_lazy", "is_dask", "lazy_components"]


def is_dask(X: Any) -> bool:
    """Whether X is of Dask; Dask itself is not imported for the answer."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def check_lazy(
    estimator: Any, X: Any, watch: Watch | None = None, *, reset: bool
) -> ClusterMatrix | DaskSource:
    """A Dask array or data frame as rows: loaded by the cluster if there is one.

    Numbers are checked as they are loaded, and a chunk that is not finite is a `DataError`.  The
    watch is told of rows as they arrive.
    """
    return from_dask(X, _checked_type(estimator, X, reset=reset), watch)


def lazy_components(estimator: Any, X: Any) -> Any:
    """Components of the rows of a Dask array or data frame, as a Dask array, chunk by chunk.

    Nothing is computed yet.  Rows that point nowhere become zero rows, without a warning.
    """
    dtype = _checked_type(estimator, X, reset=False)
    array = _in_one_column(X.to_dask_array() if is_frame(X) else X)
    r = len(estimator.components_)
    return array.map_blocks(
        _chunk_components,
        # As a value of its own it is in the graph once, not once for every chunk.
        components_=importlib.import_module("dask").delayed(estimator.components_),
        normalize=estimator.normalize,
        mean=estimator.mean_,
        kind=dtype,
        dtype=dtype,
        chunks=(array.chunks[0], (r,)),
        meta=np.empty((0, r), dtype=dtype),
    )


def _checked_type(estimator: Any, X: Any, *, reset: bool) -> np.dtype[Any]:
    """The type to compute in, once kind, shape, columns and names of X were found right."""
    ndim = getattr(X, "ndim", None)
    if not isinstance(ndim, int) or ndim != 2:  # a Delayed has every attribute, all Delayed
        shape = f" of {ndim} dimensions" if isinstance(ndim, int) else ""
        raise DataError(
            f"X is a Dask {type(X).__name__}{shape}, but must be a Dask array of shape "
            "(n_samples, n_features) or a Dask data frame: convert or reshape it."
        )
    columns = len(X.columns) if is_frame(X) else X.shape[1]
    if not columns > 0 or math.isnan(columns):
        raise DataError(
            f"X has {columns} columns, but must have at least one, and their number must be known: "
            "call X.compute_chunk_sizes() if it is not."
        )
    dtype = _type_of(list(X.dtypes) if is_frame(X) else [X.dtype], column_names(X))
    try:
        likeness = X._meta if is_frame(X) else np.empty((0, columns))
        validate_data(estimator, likeness, reset=reset, skip_check_array=True)
    except ValueError as error:
        unique = "unique column names" in str(error)
        remedy = (
            "Give every column a name of its own."
            if unique
            else "Pass the columns that the model was fitted on, in their order."
        )
        raise DataError(f"{str(error).rstrip()}{'.' * unique} {remedy}") from None
    return dtype


def _type_of(dtypes: list[Any], names: list[str] | None) -> np.dtype[Any]:
    """float32 if nothing is wider, else float64."""
    for k, dtype in enumerate(dtypes):
        if getattr(dtype, "kind", "O") not in "fiub":
            where = "" if names is None else f" in {column_words(k, names)}"
            raise DataError(
                f"X has dtype {dtype}{where}, but must hold real numbers only: encode or drop "
                "columns of text, dates or categories, and convert others with astype(float)."
            )
    single = all(dtype.kind == "f" and dtype.itemsize <= 4 for dtype in dtypes)
    return np.dtype(np.float32 if single else np.float64)


def _in_one_column(array: Any) -> Any:
    """The array with all columns in each chunk, which may be sparse."""
    if array.numblocks[1] == 1:
        return array
    return importlib.import_module("dask.array").blockwise(
        *(_side_by_side, "ik", array, "ij"),
        new_axes={"k": array.shape[1]},
        concatenate=False,
        dtype=array.dtype,
        meta=array._meta,
    )


def _side_by_side(pieces: list[Any]) -> list[Any]:
    """A chunk in pieces, still to be joined."""
    return pieces


def _chunk_components(
    chunk: Any,
    *,
    components_: Array,
    normalize: bool,
    mean: Array | None,
    kind: np.dtype[Any],
    block_id: tuple[int, ...] = (0, 0),
) -> Array:
    r, m = components_.shape
    pieces = chunk if isinstance(chunk, list) else [chunk]
    matrix = checked_chunk(pieces, m, kind, block_id[0], None)
    if matrix.shape[0] == 0:
        return np.empty((0, r), dtype=kind)
    with parallel(1):  # Dask runs chunks side by side
        return components(in_memory(matrix, normalize=normalize, mean=mean), components_.T)
