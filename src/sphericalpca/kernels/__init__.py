"""Products of sparse matrices: compiled where a compiler was at hand, scipy's elsewhere."""

from sphericalpca.kernels.library import instruction_set, instruction_sets, library
from sphericalpca.kernels.rows import CompressedRows, csr_view

__all__ = ["CompressedRows", "csr_view", "instruction_set", "instruction_sets", "library"]
