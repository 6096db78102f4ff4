"""Compiled products, if a compiler was available; otherwise NumPy and scipy compute them."""

from sphericalpca.kernels.dense import dense_product
from sphericalpca.kernels.library import instruction_set, instruction_sets, library
from sphericalpca.kernels.rows import CompressedRows, csr_view

__all__ = [
    "CompressedRows",
    "csr_view",
    "dense_product",
    "instruction_set",
    "instruction_sets",
    "library",
]
