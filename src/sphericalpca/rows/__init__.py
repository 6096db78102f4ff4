"""The data: weighted rows, read in blocks, whatever holds them."""

from typing import Any

from sphericalpca.linalg import Array
from sphericalpca.rows.base import Kernel, Rows, Watch
from sphericalpca.rows.block import Block, Matrix
from sphericalpca.rows.cluster import ClusterMatrix, ClusterRows
from sphericalpca.rows.csr import SparseRows
from sphericalpca.rows.dense import DenseRows
from sphericalpca.rows.facts import Facts, Totals
from sphericalpca.rows.finite import first_non_finite
from sphericalpca.rows.inmemory import in_memory
from sphericalpca.rows.mean import weighted_mean
from sphericalpca.rows.source import RowSource
from sphericalpca.rows.sources import open_rows
from sphericalpca.rows.streamed import StreamedRows

__all__ = [
    "Block",
    "ClusterMatrix",
    "ClusterRows",
    "DenseRows",
    "Facts",
    "Kernel",
    "Matrix",
    "RowSource",
    "Rows",
    "SparseRows",
    "StreamedRows",
    "Totals",
    "as_rows",
    "first_non_finite",
    "in_memory",
    "mean_of_rows",
    "open_rows",
    "weighted_mean",
]


def mean_of_rows(
    X: Matrix | RowSource | ClusterMatrix,
    weight: Array | None = None,
    watch: Watch | None = None,
) -> Array:
    """Weighted mean of all rows, zero rows included, in float64, wherever they are."""
    if isinstance(X, ClusterMatrix):
        return X.weighted_mean(weight, watch)
    return weighted_mean(X, weight, watch)


def as_rows(X: Matrix | RowSource | ClusterMatrix, **options: Any) -> Rows:
    """Wrap validated data: an array or CSR matrix, files, or what a cluster holds.

    The options are those of `MemoryRows`.
    """
    if isinstance(X, ClusterMatrix):
        return ClusterRows(X, **options)
    return StreamedRows(X, **options) if isinstance(X, RowSource) else in_memory(X, **options)
