"""Rows on a Dask cluster: chunks stay with the workers, and only sums are transferred."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.rows.base import Watch
from sphericalpca.rows.cluster.chunks import DaskSource, checked_chunk
from sphericalpca.rows.cluster.client import ClusterClient, active_client
from sphericalpca.rows.cluster.matrix import ClusterMatrix
from sphericalpca.rows.cluster.rows import ClusterRows

__all__ = [
    "ClusterMatrix",
    "ClusterRows",
    "DaskSource",
    "checked_chunk",
    "fetched",
    "from_dask",
    "is_frame",
]


def from_dask(
    X: Any, dtype: np.dtype[Any], watch: Watch | None = None
) -> ClusterMatrix | DaskSource:
    """The rows of a Dask collection in `dtype`: kept by its workers, or computed in each pass."""
    columns = len(X.columns) if is_frame(X) else X.shape[1]
    chunks = [list(np.atleast_1d(row)) for row in X.to_delayed()]
    announced = [math.nan] * len(chunks) if is_frame(X) else X.chunks[0]
    heights = [None if math.isnan(rows) else int(rows) for rows in announced]
    client = active_client()
    if client is not None:
        return ClusterMatrix(chunks, columns, dtype, heights, client, watch=watch)
    dense = not is_frame(X) and type(X._meta) is np.ndarray
    known = [rows for rows in heights if rows is not None] if dense else []
    sizes = known if len(known) == len(chunks) else None
    return DaskSource(chunks, columns, dtype, sizes, watch)


def fetched(values: Any) -> Array:
    """All of a one-dimensional Dask array or series, in this process."""
    lazy = list(np.ravel(values.to_delayed()))
    client = active_client()
    if client is None:
        parts = importlib.import_module("dask").compute(*lazy, scheduler="threads")
    else:
        cluster = ClusterClient(client)
        parts = cluster.gather(cluster.compute(lazy))
    return np.concatenate([np.asarray(part) for part in parts])


def is_frame(X: Any) -> bool:
    """Whether X is a data frame rather than an array."""
    return hasattr(X, "columns")
