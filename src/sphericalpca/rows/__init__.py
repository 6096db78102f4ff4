"""The data: weighted rows, read in blocks, whatever holds them."""

from typing import Any

from scipy import sparse

from sphericalpca.rows.base import Kernel, Rows
from sphericalpca.rows.block import Block, Matrix
from sphericalpca.rows.csr import SparseRows
from sphericalpca.rows.dense import DenseRows
from sphericalpca.rows.mean import weighted_mean

__all__ = [
    "Block",
    "DenseRows",
    "Kernel",
    "Matrix",
    "Rows",
    "SparseRows",
    "as_rows",
    "weighted_mean",
]


def as_rows(X: Matrix, **options: Any) -> Rows:
    """Wrap a validated array or CSR matrix; the options are those of `MemoryRows`."""
    return SparseRows(X, **options) if sparse.issparse(X) else DenseRows(X, **options)
