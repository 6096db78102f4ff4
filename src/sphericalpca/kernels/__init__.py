"""Products of sparse matrices: compiled where a compiler was at hand, scipy's elsewhere."""

from sphericalpca.kernels.library import instruction_set, instruction_sets, library
from sphericalpca.kernels.rows import CompressedRows

__all__ = ["CompressedRows", "instruction_set", "instruction_sets", "library"]
