"""Rows on a Dask cluster: chunks stay with the workers, and sums travel."""

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
    """The rows of a Dask array or data frame, converted to `dtype`.

    With a client they are loaded into the memory of its cluster.  Without one they are
    computed in this process, chunk by chunk, anew in every pass.  The watch is told of rows that
    are loaded, or computed to learn how many there are.
    """
    columns = len(X.columns) if is_frame(X) else X.shape[1]
    chunks = [list(np.atleast_1d(row)) for row in X.to_delayed()]
    client = active_client()
    if client is None:
        return DaskSource(chunks, columns, dtype, _known_heights(X), watch)
    heights = [None] * len(chunks) if is_frame(X) else [_number(rows) for rows in X.chunks[0]]
    return ClusterMatrix(chunks, columns, dtype, heights, client, watch=watch)


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


def _known_heights(X: Any) -> list[int] | None:
    """Rows of each chunk of a dense array, if Dask knows them; None if it does not."""
    if is_frame(X) or type(X._meta) is not np.ndarray or any(map(math.isnan, X.chunks[0])):
        return None
    return [int(height) for height in X.chunks[0]]


def _number(rows: float) -> int | None:
    """How many rows, where Dask knows it."""
    return None if math.isnan(rows) else int(rows)
