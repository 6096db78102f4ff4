"""Small linear algebra: lengths, unit rows, polar factors, canonical rotation, angles.

Everything here survives extreme magnitudes: squares are taken only of numbers that
were first scaled near one, or repeated that way when they left the safe range.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from sphericalpca.products import Array, Labels, inner_products, pieces, product

__all__ = [
    "Array",
    "Inner",
    "Labels",
    "Polar",
    "canonical_rotation",
    "column_basis",
    "fix_signs",
    "frobenius",
    "in_range",
    "leading_eigenvectors",
    "orthonormal",
    "orthonormal_outside",
    "polar",
    "principal_angles",
    "real_array",
    "refined",
    "row_norms",
    "unit_rows",
]

# NumPy adds squares one after the other: this many may be added up in the data type of X.
SHORT_ROW = 1024


def real_array(values: Any) -> Array:
    """Copy real numbers to float64; for anything else raise a TypeError that names it."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "fiubO":
            return np.array(array, dtype=np.float64)
        given = "text" if array.dtype.kind in "US" else str(array.dtype)
    except (TypeError, ValueError):
        given = f"a {type(values).__name__} of other things"
    raise TypeError(given)


# Inner products A'B of columns; in coordinates of another basis they are not A.T @ B.
Inner = Callable[[Array, Array], Array]


class Polar(NamedTuple):
    """Orthonormal factor of a tall matrix, and its nuclear norm."""

    factor: Array
    nuclear_norm: float


def row_norms(A: Array) -> Array:
    """Euclidean length of every row in float64, from denormal numbers to near overflow.

    Computes a fast sum of squares first.  Only rows whose sum is out of the range in which
    squares are accurate are measured again, divided by their largest entry.
    """
    info = np.finfo(A.dtype)
    with np.errstate(over="ignore", under="ignore"):
        squares = _row_squares(A)
    # Below tiny/eps a sum of squares may have lost digits to underflow.
    low, high = info.tiny / info.eps, info.max
    if squares.size and squares.min() > low and squares.max() < high:
        return np.asarray(np.sqrt(squares, dtype=np.float64))
    doubtful = ~((squares > low) & (squares < high))
    norms = np.sqrt(np.where(doubtful, 0, squares)).astype(np.float64)
    rest = A[doubtful].astype(np.float64)
    peak = np.abs(rest).max(axis=1, initial=0.0)
    # Lengths beyond the range are infinite, those of infinite rows NaN: callers check for them.
    with np.errstate(over="ignore", invalid="ignore"):
        rest /= np.where(peak > 0, peak, 1)[:, None]
        norms[doubtful] = peak * np.sqrt(np.einsum("ij,ij->i", rest, rest))
    return norms


def _row_squares(A: Array) -> Array:
    """Sums of squares of the rows; long rows are summed in pieces, and these in float64.

    In one piece, a float32 row of a hundred thousand equal numbers would lose half its digits.
    """
    if A.shape[1] <= SHORT_ROW or A.dtype == np.float64:
        return np.asarray(np.einsum("ij,ij->i", A, A))
    total = np.zeros(len(A))
    for piece in pieces(0, A.shape[1], SHORT_ROW):
        total += np.einsum("ij,ij->i", A[:, piece], A[:, piece])
    return total


def unit_rows(A: Array, *, overwrite: bool = False) -> tuple[Array, Array]:
    """Rows scaled to unit length, and their lengths in float64; zero rows stay zero."""
    norms = row_norms(A)
    divisor = norms if norms.all() else np.where(norms > 0, norms, 1)
    column = divisor.astype(A.dtype, copy=False)[:, None]
    return np.divide(A, column, out=A if overwrite else None), norms


def frobenius(A: Array) -> float:
    """Frobenius norm that neither overflows nor underflows."""
    with np.errstate(over="ignore", under="ignore"):
        square = float(np.vdot(A, A))
    if 1e-20 < square < 1e20:
        return math.sqrt(square)
    A, size = in_range(A)
    return size * math.sqrt(float(np.vdot(A, A)))


def in_range(A: Array) -> tuple[Array, float]:
    """Scale a matrix so that squares are safe; also return the number that it was divided by.

    This number is 1, and nothing is copied, unless the largest entry is far from one.
    """
    peak = max(float(A.max(initial=0.0)), -float(A.min(initial=0.0)))
    if peak == 0.0 or 1e-8 < peak < 1e8 or not math.isfinite(peak):
        return A, 1.0
    return (np.asarray(A, dtype=np.float64) / peak).astype(A.dtype), peak


def polar(M: Array, inner: Inner = inner_products) -> Polar:
    """Orthonormal polar factor of M (m x r, m >= r): the U that maximises <U, M>.

    It is computed from the r x r matrix M'M, many times cheaper than an SVD of M.  This
    squares the condition number, so a nearly rank-deficient M is converted to float64, and
    then passed to the SVD, which also completes the factor to r orthonormal columns.

    Raises
    ------
    LinAlgError
        If M is rank-deficient up to rounding, and `inner` is not `inner_products`.
    """
    M, size = in_range(M)
    eigenvalues, Q = np.linalg.eigh(np.asarray(inner(M, M), dtype=np.float64))
    eps = float(np.finfo(M.dtype).eps)
    # Squares below this share of the largest leave too few digits for the factor.
    if inner is inner_products and eigenvalues[0] <= np.sqrt(eps) * eigenvalues[-1]:
        if M.dtype != np.float64:
            factor, nuclear_norm = polar(M.astype(np.float64))
            return Polar(factor.astype(M.dtype), size * nuclear_norm)
        A, singular, Bt = scipy.linalg.svd(M, full_matrices=False, check_finite=False)
        return Polar(A @ Bt, size * float(singular.sum()))
    if eigenvalues[0] <= 100 * eps * eigenvalues[-1]:
        raise np.linalg.LinAlgError("columns are linearly dependent up to rounding")
    singular = np.sqrt(eigenvalues)
    factor = product(M, ((Q / singular) @ Q.T).astype(M.dtype))
    if eigenvalues[0] < 0.1 * eigenvalues[-1]:
        factor = refined(factor, inner)
    if eigenvalues[0] <= np.sqrt(eps) * eigenvalues[-1]:
        factor = refined(factor, inner)
    return Polar(factor, size * float(singular.sum()))


def refined(Q: Array, inner: Inner = inner_products) -> Array:
    """One Newton-Schulz step: nearly orthonormal columns become orthonormal to rounding."""
    r = Q.shape[1]
    return product(Q, 1.5 * np.eye(r, dtype=Q.dtype) - 0.5 * inner(Q, Q))


def orthonormal_outside(
    S: Array, R: Array, inner: Inner = inner_products, harmless: float = 0.0
) -> Array:
    """An orthonormal basis of R - S S'R, for an R from which S S'R was subtracted once already.

    The subtraction left rounding errors within the span of S, which grow when columns are
    scaled up.  They are removed here, unless they are `harmless`; directions lost in them are
    dropped.  Squares of R must be safe: see `in_range`.
    """
    D = column_basis(R, float(np.finfo(R.dtype).eps) ** 0.75, inner)
    within = inner(S, D)
    if frobenius(within) <= harmless:
        return D
    D -= product(S, within)
    # Columns that lose half their length were within the span.
    D = column_basis(D, 0.25, inner, 1.0)
    if frobenius(within) > 0.1:
        # Much of R was rounding error.  If it were scaled up once more, what is left of it could
        # double from one call to the next.
        D -= product(S, inner(S, D))
        D = refined(D, inner)
    return D


def column_basis(R: Array, cutoff: float, inner: Inner, full: float = 0.0) -> Array:
    """An orthonormal basis of the columns' span through R'R, longest directions last.

    Directions with less than the share `cutoff` of the largest square, or of `full` if
    that is larger, are left out.
    """
    squares, Q = np.linalg.eigh(np.asarray(inner(R, R), dtype=np.float64))
    kept = squares > cutoff * max(squares[-1], full, np.finfo(np.float64).tiny)
    return product(R, (Q[:, kept] / np.sqrt(squares[kept])).astype(R.dtype))


def leading_eigenvectors(A: Array, count: int) -> tuple[Array, Array]:
    """The largest eigenvalues of a symmetric matrix, decreasing, and their vectors (m x count).

    If more than a quarter of them are needed, LAPACK is faster at computing all.  Its methods for
    a subset may silently return fewer if all are equal up to rounding, as for white data.
    """
    m, values = len(A), np.empty(0)
    options = {"check_finite": False}
    if 4 * count <= m:
        values, vectors = scipy.linalg.eigh(A, subset_by_index=(m - count, m - 1), **options)
    if len(values) < count:
        values, vectors = scipy.linalg.eigh(A, driver="evd", **options)
    return values[::-1][:count], np.ascontiguousarray(vectors[:, ::-1][:, :count])


def orthonormal(A: Array) -> Array:
    """Orthonormal basis (float64) of the column span of a tall matrix."""
    peak = float(np.abs(A).max(initial=0.0))
    Q: Array = np.linalg.qr(np.asarray(A, dtype=np.float64) / (peak if peak > 0 else 1.0))[0]
    return Q


def canonical_rotation(moment: Array) -> tuple[Array, Array]:
    """Rotation Q that makes a second moment V'WV diagonal and decreasing.

    Returns Q and the eigenvalues; U Q and V Q are then the canonical pair.
    """
    eigenvalues, Q = np.linalg.eigh(moment)
    return Q[:, ::-1], np.maximum(eigenvalues[::-1], 0.0)


def fix_signs(U: Array) -> Array:
    """Flip columns so that the largest |loading| of each is positive.

    Among loadings that are equal up to rounding the first decides, so that two runs that differ
    in the last digits still agree on the sign.
    """
    highest, lowest = U.max(axis=0), -U.min(axis=0)
    leading = np.maximum(highest, lowest) * (1 - 1e-5)
    flip = lowest >= leading
    for k in np.flatnonzero(flip & (highest >= leading)):
        flip[k] = U[np.argmax(np.abs(U[:, k]) >= leading[k]), k] < 0
    return U * np.where(flip, -1, 1).astype(U.dtype)


def principal_angles(A: Array, B: Array) -> Array:
    """Angles in radians, increasing, between the column spans of A and B.

    Computed from sines and cosines: cosines alone lose small angles, sines alone right angles.
    """
    Q, P = orthonormal(A), orthonormal(B)
    C = Q.T @ P
    cosines = np.linalg.svd(C, compute_uv=False)
    sines = np.linalg.svd(P - Q @ C, compute_uv=False)[::-1]
    return np.asarray(np.arctan2(sines[: len(cosines)], cosines))
