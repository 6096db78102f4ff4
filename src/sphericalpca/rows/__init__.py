"""Weighted rows of data, read in blocks wherever they are stored."""

from typing import Any

from sphericalpca.linalg import Array
from sphericalpca.rows.backend import Backend, host_view, on_host
from sphericalpca.rows.base import Rows, Watch
from sphericalpca.rows.block import Block, Matrix, dense
from sphericalpca.rows.cluster import ClusterMatrix, ClusterRows
from sphericalpca.rows.double import DoubleRows
from sphericalpca.rows.finite import column_words, first_non_finite
from sphericalpca.rows.mean import weighted_mean
from sphericalpca.rows.memory import in_memory
from sphericalpca.rows.namespace import NamespaceMatrix, NamespaceRows
from sphericalpca.rows.reading import RowSource
from sphericalpca.rows.sources import open_rows
from sphericalpca.rows.streamed import StreamedRows

__all__ = [
    "Backend",
    "Block",
    "ClusterMatrix",
    "ClusterRows",
    "DoubleRows",
    "Matrix",
    "NamespaceMatrix",
    "RowSource",
    "Rows",
    "Watch",
    "as_rows",
    "column_words",
    "dense",
    "first_non_finite",
    "host_view",
    "in_memory",
    "mean_of_rows",
    "on_host",
    "open_rows",
    "weighted_mean",
]


def mean_of_rows(
    X: Matrix | RowSource | ClusterMatrix | NamespaceMatrix,
    weight: Array | None = None,
    watch: Watch | None = None,
) -> Array:
    """Weighted mean of all rows, zero rows included, in float64, wherever they are."""
    if isinstance(X, (ClusterMatrix, NamespaceMatrix)):
        return X.weighted_mean(weight, watch)
    return weighted_mean(X, weight, watch)


def as_rows(X: Matrix | RowSource | ClusterMatrix | NamespaceMatrix, **options: Any) -> Rows:
    """Wrap validated data: an array or CSR matrix, files, or data on a cluster or a device.

    The options are those of `MemoryRows`.
    """
    if isinstance(X, ClusterMatrix):
        return ClusterRows(X, **options)
    if isinstance(X, NamespaceMatrix):
        return NamespaceRows(X, **options)
    return StreamedRows(X, **options) if isinstance(X, RowSource) else in_memory(X, **options)
