"""The data: weighted rows, read in blocks, whatever holds them."""

from typing import Any

from sphericalpca.rows.base import Kernel, Rows
from sphericalpca.rows.block import Block, Matrix
from sphericalpca.rows.csr import SparseRows
from sphericalpca.rows.dense import DenseRows
from sphericalpca.rows.facts import Facts, Totals
from sphericalpca.rows.finite import first_non_finite
from sphericalpca.rows.inmemory import in_memory
from sphericalpca.rows.mean import weighted_mean
from sphericalpca.rows.source import RowSource
from sphericalpca.rows.streamed import StreamedRows

__all__ = [
    "Block",
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
    "weighted_mean",
]


def as_rows(X: Matrix | RowSource, **options: Any) -> Rows:
    """Wrap a validated array or CSR matrix, or files; the options are those of `MemoryRows`."""
    return StreamedRows(X, **options) if isinstance(X, RowSource) else in_memory(X, **options)
