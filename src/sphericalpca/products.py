"""Products of tall matrices on all threads, without losing digits to long sums in float32."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sphericalpca.kernels import dense_product
from sphericalpca.parallel import equal_ends, spread, workers

__all__ = [
    "Array",
    "Labels",
    "combination",
    "inner_products",
    "pieces",
    "product",
    "scalar_products",
    "times",
]

# Below this many multiplications threads cost more than they save.
SMALL_PRODUCT = 4_000_000
# This many numbers fit in cache while others are added to them.
PIECE = 100_000
# This many products may be added up in the data type of the factors.
SHORT_SUM = 1024

Array = npt.NDArray[np.floating[Any]]
Labels = npt.NDArray[np.integer[Any]]


def times(A: Any, B: Any, out: Array | None = None) -> Any:
    """A B for finite factors, without NumPy's spurious warning "invalid value in matmul".

    Fast kernels of BLAS also compute in unused lanes, and set the flag of an invalid operation for
    whatever values are there.  OpenBLAS 0.3.31 with AVX-512 does so for float32 rows of five
    numbers times a vector.  The product itself is right.
    """
    if isinstance(A, np.ndarray) and isinstance(B, np.ndarray):
        found = dense_product(A, B, out)
        if found is not None:
            return found
    with np.errstate(invalid="ignore"):
        return A @ B if out is None else np.matmul(A, B, out=out)


def product(A: Array, B: Array) -> Array:
    """A B for a tall A, on all threads of the context."""
    parts = _row_parts(A, B.shape[1])
    if len(parts) == 1:
        return np.asarray(times(A, B))
    out = np.empty((len(A), B.shape[1]), dtype=np.result_type(A, B))

    def fill(part: slice) -> None:
        times(A[part], B, out[part])

    spread(fill, parts)
    return out


def inner_products(A: Array, B: Array) -> Array:
    """A'B for tall A and B, on all threads of the context.

    BLAS adds up one product after the other.  Over a hundred thousand rows in float32, with few
    columns, this loses half the digits.  So sums of short pieces are added in float64.
    """

    def products(part: slice) -> Array:
        total = np.zeros((A.shape[1], B.shape[1]))
        for piece in pieces(part.start, part.stop, SHORT_SUM):
            total += times(A[piece].T, B[piece])
        return total

    found = sum(spread(products, _row_parts(A, B.shape[1])))
    return np.asarray(found, dtype=np.result_type(A, B))


def combination(factors: Array, matrices: Sequence[Array]) -> Array:
    """The sum of matrices of one shape, each times its factor, on all threads."""
    out = np.empty_like(matrices[0])
    dtype = out.dtype.type

    def fill(part: slice) -> None:
        # Piece by piece, so that the sum stays in cache while the matrices stream by.
        for piece in pieces(part.start, part.stop, max(1, PIECE // out.shape[1])):
            np.multiply(matrices[0][piece], dtype(factors[0]), out=out[piece])
            term = np.empty_like(out[piece])
            for factor, matrix in zip(factors[1:], matrices[1:], strict=True):
                out[piece] += np.multiply(matrix[piece], dtype(factor), out=term)

    spread(fill, _row_parts(out, len(matrices)))
    return out


def scalar_products(A: Array, matrices: Sequence[Array]) -> Array:
    """<A, B> for every matrix B, in float64, on all threads."""

    def products(part: slice) -> Array:
        return np.array([np.vdot(A[part], B[part]) for B in matrices], dtype=np.float64)

    return np.asarray(sum(spread(products, _row_parts(A, len(matrices)))))


def pieces(first: int, last: int, length: int) -> list[slice]:
    """Slices of at most `length` that cover first to last, last excluded."""
    return _slices([*range(first, last, length), last])


def _row_parts(A: Array, columns: int) -> list[slice]:
    count = workers() if A.size * columns > SMALL_PRODUCT else 1
    return _slices(equal_ends(len(A), count))


def _slices(ends: Sequence[int]) -> list[slice]:
    return list(itertools.starmap(slice, itertools.pairwise(ends)))
