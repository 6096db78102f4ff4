"""Arrays and CSR matrices alike."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from sphericalpca.rows.block import Matrix
from sphericalpca.rows.csr import SparseRows
from sphericalpca.rows.dense import DenseRows
from sphericalpca.rows.memory import MemoryRows

__all__ = ["in_memory"]


def in_memory(X: Matrix, **options: Any) -> MemoryRows:
    """Wrap a validated array or CSR matrix; the options are those of `MemoryRows`."""
    return SparseRows(X, **options) if sparse.issparse(X) else DenseRows(X, **options)
