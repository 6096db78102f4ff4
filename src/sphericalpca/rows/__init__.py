"""The data: weighted rows, read in blocks, whatever holds them."""

from sphericalpca.rows.base import Kernel, Rows
from sphericalpca.rows.block import Block
from sphericalpca.rows.memory import DenseRows, SparseRows, as_rows, weighted_mean

__all__ = [
    "Block",
    "DenseRows",
    "Kernel",
    "Rows",
    "SparseRows",
    "as_rows",
    "weighted_mean",
]
