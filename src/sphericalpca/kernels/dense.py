"""Dense products with few columns, in compiled code that is up to twice as fast as OpenBLAS.

A general library first packs both matrices into its own layout, which costs as much as a product
with few columns.  These kernels read the tall matrix in place.
"""

from __future__ import annotations

from ctypes import c_int64, c_void_p
from typing import Any

import numpy as np
import numpy.typing as npt

from sphericalpca.kernels.library import instruction_set, library

__all__ = ["dense_product"]

Array = npt.NDArray[np.floating[Any]]

# Bytes of a vector, for the instruction sets whose vectors are long enough to be faster.
VECTORS = {"avx512": 64, "avx2": 32}
# Smaller and wider products are left to BLAS.
LEAST_WORK, LEAST_SIDE, MOST_COLUMNS = 500_000, 64, 512


def dense_product(A: Array, B: Array, out: Array | None = None) -> Array | None:
    """A B for an array A, or its transpose; None, without writing anything, where BLAS is as fast.

    The numbers of a row of `out` must be next to each other, and the rows too.
    """
    if A.ndim != 2 or B.ndim != 2 or A.size * B.shape[1] < LEAST_WORK:
        return None
    turned = A.strides[1] != A.itemsize
    X = A.T if turned else A
    if not _suits(X, B):
        return None
    B = np.ascontiguousarray(B)
    found = np.empty((len(A), B.shape[1]), dtype=A.dtype) if out is None else out
    found[:] = 0
    name = f"{'correlate' if turned else 'project'}_{instruction_set()}_f{A.itemsize}"
    sizes = [c_int64(k) for k in (*X.shape, X.strides[0] // X.itemsize, B.shape[1])]
    getattr(library(), name)(*sizes, *(c_void_p(a.ctypes.data) for a in (X, B, found)))
    return found


def _suits(X: Array, B: Array) -> bool:
    """Whether there is a kernel that can read X and is faster."""
    vector = VECTORS.get(instruction_set())
    if vector is None or X.dtype != B.dtype or X.dtype not in (np.float32, np.float64):
        return False
    gap, step = X.strides
    rows = X.flags.aligned and step == X.itemsize and gap >= X.itemsize * X.shape[1]
    readable = rows and gap % X.itemsize == 0 and B.flags.aligned
    # BLAS computes only half of X'X.
    is_square = X.ctypes.data == B.ctypes.data
    few = vector <= B.shape[1] * B.itemsize and B.shape[1] <= MOST_COLUMNS
    return readable and not is_square and few and min(X.shape) >= LEAST_SIDE
