"""Starting points: the SVD, a random subspace, or a given one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from sphericalpca.curvature import Curvature
from sphericalpca.exceptions import DataError, Parameter
from sphericalpca.iterate import Start
from sphericalpca.linalg import (
    Array,
    column_basis,
    fix_signs,
    frobenius,
    in_range,
    leading_eigenvectors,
    orthonormal,
    orthonormal_outside,
    polar,
    real_array,
    refined,
)
from sphericalpca.problem import Problem
from sphericalpca.products import inner_products, product
from sphericalpca.rowspace import (
    EXACT_SIDE,
    GRAM_FEATURES,
    FewRows,
    LeavesRowSpace,
    RowSpace,
    suits_exact,
    suits_gram,
)

__all__ = [
    "GRAM_FEATURES",
    "Start",
    "given_start",
    "leading",
    "random_start",
    "start_of_U",
    "starts",
    "svd_start",
]

# Curvature is approximated along this many directions per component: others matter little.
# Other starts are drawn among at least this many directions.
KNOWN_DIRECTIONS, LEAST_DIRECTIONS = 2, 16

# Reads of the data for the SVD.  On text f is then accurate to 2e-4; that of scikit-learn's
# TruncatedSVD, from as many reads, is 2e-3 to 4e-3 too low.  Up to this many components every
# power joins the basis, beyond it every second one.
FEW_COMPONENTS = 40
KRYLOV_READS, MORE_READS = 6, 8
# Extra columns of a block, beyond the requested components.
OVERSAMPLING = 8
# With few rows or features blocks are added until further ones would rotate the SVD by no more
# than about this angle, up to this many times as many.  Then f is accurate to 1e-6.
MORE_BLOCKS, SMALL_ANGLE = 6, 0.001


def leading(start: Start, count: int) -> Start:
    """The start with its leading columns only."""
    return replace(start, U=start.U[:, :count])


def start_of_U(start: Start, solver: str) -> Array:
    """The start's U, for solvers that start from U alone."""
    if start.V is not None:
        raise DataError(
            "init=(U, V) is a start for Algorithm 1",
            f"{solver} starts from U alone",
            ("pass init=U, or ", Parameter("solver", "linearized")),
        )
    return start.U


def starts(
    problem: Problem, n_components: int, init: Any, n_init: int, rng: np.random.Generator
) -> Iterator[Start]:
    """The start given by `init`, then random ones, `n_init` in all."""
    if isinstance(init, str):
        svd = init in ("auto", "svd")
        yield (svd_start if svd else random_start)(problem, n_components, rng)
    elif isinstance(init, Start):
        given = init.U if init.V is None else (init.U, init.V)
        start = given_start(problem, n_components, given)
        yield replace(init, U=start.U, V=start.V)
    else:
        yield given_start(problem, n_components, init)
    for _ in range(n_init - 1):
        yield random_start(problem, n_components, rng)


def svd_start(problem: Problem, n_components: int, rng: np.random.Generator) -> Start:
    """Leading right singular vectors of the weighted, scaled, uncentred rows.

    For few features they come from the Gram matrix, together with the curvature; otherwise the
    SVD is randomized, and exact up to 2,048 rows or features.
    """
    rows, m = problem.rows, problem.rows.shape[1]
    enough = max(GRAM_FEATURES if rows.in_memory else EXACT_SIDE, 3 * n_components)
    if isinstance(problem, FewRows) or m <= enough or suits_gram(m, n_components):
        A = problem.gram().astype(problem.rows.dtype, copy=False)
        count = min(max(KNOWN_DIRECTIONS * n_components, LEAST_DIRECTIONS), len(A))
        values, vectors = leading_eigenvectors(A, count)
        vectors = fix_signs(vectors)  # so that other starts do not depend on rounding
        return Start(
            vectors[:, :n_components],
            is_svd=True,
            curvature=Curvature(vectors, values.astype(np.float64)),
            span=vectors,
            coordinates=np.eye(count, n_components, dtype=vectors.dtype),
        )
    return _krylov_svd(problem, n_components, rng)


def random_start(problem: Problem, n_components: int, rng: np.random.Generator) -> Start:
    """A subspace drawn uniformly; in the row space, the span of random sums of rows."""
    if isinstance(problem, RowSpace):
        return Start(polar(problem.random(n_components, rng), problem.inner).factor)
    return Start(orthonormal(rng.standard_normal((problem.rows.shape[1], n_components))))


def given_start(problem: Problem, n_components: int, init: Any) -> Start:
    """Check a user's U, or pair (U, V).  U is made orthonormal if it is not; V is not changed.

    Raises
    ------
    DataError
        If shapes or numbers are not valid for a start.
    """
    n, m = problem.rows.shape
    pair = isinstance(init, (tuple, list)) and len(init) == 2 and np.ndim(init[0]) == 2
    if isinstance(init, tuple) and not pair:
        raise DataError(
            f"init is a tuple of {len(init)}",
            f"a pair init=(U, V) has shapes ({m}, {n_components}) and ({n}, {n_components})",
            "pass init=U for U alone",
        )
    U, V = init if pair else (init, None)
    # Its scale does not matter; squares of very large numbers overflow.
    U, _ = in_range(_given_matrix("U", U, (m, n_components)))
    defect = frobenius(inner_products(U, U) - np.eye(n_components))
    if 1e-6 < defect < 1e-3:  # columns of a fit in float32
        U = refined(U)
    elif defect > 1e-6:
        if np.linalg.matrix_rank(U) < n_components:
            raise DataError(
                f"init: the given U has rank {np.linalg.matrix_rank(U)}",
                f"its {n_components} columns must be linearly independent",
                ("replace the dependent ones or use ", Parameter("init", "svd")),
            )
        U = polar(U).factor
    return Start(U, None if V is None else _given_matrix("V", V, (n, n_components)))


def _given_matrix(name: str, value: Any, shape: tuple[int, int]) -> Array:
    rule = f"must be a numeric array of finite real numbers, shape {shape}"
    remedy = "pass init=U, a pair init=(U, V), or 'svd'"
    try:
        matrix = real_array(value)
    except TypeError as error:
        raise DataError(f"init: {name} is {error}", rule, remedy) from None
    if matrix.shape != shape:
        wide = matrix.ndim == 2 and matrix.shape[1] == shape[0]
        hint = "pass its transpose" if matrix.shape == shape[::-1] else remedy
        hint = f"pass components_[:{shape[1]}].T" if wide and len(matrix) > shape[1] else hint
        raise DataError(f"init: {name} has shape {matrix.shape}", rule, hint)
    if not np.isfinite(matrix).all():
        raise DataError(f"init: {name} holds NaN or infinity", rule, "replace those entries")
    return matrix


def _krylov_svd(problem: Problem, n_components: int, rng: np.random.Generator) -> Start:
    """Block Lanczos: the best directions within the span of Q, AQ, A^2 Q, ..., for A = X'WX.

    Each power takes one read of the data.  All powers together are more accurate than the last one
    alone, for the same number of reads.  With many components only every second power joins the
    basis, because the cost grows with the square of its size.
    """
    n, m = problem.rows.shape
    inner, limit = problem.inner, n if isinstance(problem, RowSpace) else m
    few = n_components <= FEW_COMPONENTS
    stride, blocks = (1, KRYLOV_READS) if few else (2, MORE_READS // 2)
    width = min(n_components + OVERSAMPLING, limit)
    Q = _basis(problem, problem.random(width, rng))
    exact = _is_exact(problem)
    most = blocks * (MORE_BLOCKS if exact else 1)
    columns, ritz, turned = min(most * width, limit), None, 1.0
    for _ in range(stride - 1):
        Q = _basis(problem, problem.covariance_times(Q))
    basis = np.empty((len(Q), min(blocks * width, limit)), Q.dtype)
    T, k = np.zeros((columns, columns)), 0  # T = S'AS, of which the upper triangle is filled
    for block in range(most):
        last, k = k, k + Q.shape[1]
        if k > basis.shape[1]:
            more = np.empty((len(Q), min(blocks * width, columns - last)), Q.dtype)
            basis = np.hstack([basis, more])
        basis[:, last:k] = Q
        S, room = basis[:, :k], min(columns - k, width)
        if block == most - 1 or room == 0:
            T[:k, last:k] = problem.quadratic(S, Q)
            break
        Q = problem.covariance_times(Q)
        coordinates = inner(S, Q)
        T[:k, last:k] = coordinates
        if exact and block % 2:
            earlier, ritz = ritz, _eigenvectors(T[:k, :k])
            before, turned = turned, _angle(earlier, ritz, n_components) if earlier else 1.0
            # The remaining angle, if angles continue to shrink at this rate.
            if turned**2 <= SMALL_ANGLE * (before - turned):
                break
        for _ in range(stride - 1):
            Q = problem.covariance_times(_basis(problem, Q))
            coordinates = inner(S, Q)
        try:
            Q = _outside(problem, S, Q, coordinates)[:, -room:]
            Q = _filled(problem, Q, room, S, rng)
        except LeavesRowSpace:
            if block < blocks:
                raise
            break  # almost nothing is left
    ritz = ritz if ritz and len(ritz[0]) == k else _eigenvectors(T[:k, :k])
    return _start_along(problem, S, ritz, n_components)


def _start_along(problem: Problem, S: Array, ritz: tuple[Array, Array], r: int) -> Start:
    """The start spanned by the r leading Ritz vectors of S."""
    if isinstance(problem, RowSpace):
        C = ritz[1][:, :r].astype(S.dtype)
        U = refined(product(S, C), problem.inner)
        return Start(U, is_svd=True, span=S, coordinates=C)
    # If the SVD is exact, directions beyond the components are accurate too.
    count = (KNOWN_DIRECTIONS if _is_exact(problem) else 1) * r
    values, C = (found[..., :count] for found in ritz)
    vectors = refined(product(S, C.astype(S.dtype)))
    curvature = Curvature(vectors, values) if count > r else None
    return Start(vectors[:, :r], is_svd=True, curvature=curvature)


def _is_exact(problem: Problem) -> bool:
    """Whether to compute an exact SVD in these coordinates."""
    rows_span = isinstance(problem, RowSpace)
    return problem.rows.shape[0] <= EXACT_SIDE if rows_span else suits_exact(problem.rows)


def _outside(problem: Problem, S: Array, Q: Array, coordinates: Array) -> Array:
    """Orthonormal columns that Q, with these coordinates in S, adds to the span of S."""
    R = Q - product(S, coordinates)
    if isinstance(problem, RowSpace) and _is_rounding(problem, R, Q):
        raise LeavesRowSpace
    return _basis(problem, R, S)


def _eigenvectors(T: Array) -> tuple[Array, Array]:
    """Decreasing eigenvalues, and their vectors, of a matrix whose upper triangle is given."""
    values, vectors = np.linalg.eigh(T, UPLO="U")
    return values[::-1], vectors[:, ::-1]


def _angle(earlier: tuple[Array, Array], later: tuple[Array, Array], count: int) -> float:
    """The angle between the spans of that many leading vectors; later ones are longer."""
    more, D = len(later[1]) - len(earlier[1]), later[1][:, :count]
    C = np.pad(earlier[1][:, :count], ((0, more), (0, 0)))
    return frobenius(C - D @ (D.T @ C))


def _filled(problem: Problem, Q: Array, columns: int, S: Array, rng: np.random.Generator) -> Array:
    """Q, filled up to `columns` with random ones that are orthonormal to it and to S.

    A block that lost columns, because the data have few strong directions, would explore little.
    """
    missing = columns - Q.shape[1]
    if missing == 0:
        return Q
    if isinstance(problem, RowSpace):
        raise LeavesRowSpace
    SQ = np.hstack([S, Q])
    R = problem.random(missing, rng)
    R = orthonormal_outside(SQ, R - product(SQ, problem.inner(SQ, R)), problem.inner)
    return np.hstack([Q, R])


def _basis(problem: Problem, Q: Array, S: Array | None = None) -> Array:
    """An orthonormal basis of Q's columns, orthogonal also to S, which was projected out before."""
    Q, eps = Q.astype(problem.rows.dtype, copy=False), float(np.finfo(problem.rows.dtype).eps)
    if S is not None:  # 1e-5 in single precision is harmless
        return orthonormal_outside(S, Q, problem.inner, eps**0.7)
    return column_basis(Q, eps**0.75, problem.inner)


def _is_rounding(problem: Problem, R: Array, Q: Array) -> bool:
    """Whether only rounding errors are left of Q: the rows span no further direction."""
    (left,), (whole,) = problem.scalar_products(R, [R]), problem.scalar_products(Q, [Q])
    return not left > float(np.finfo(Q.dtype).eps) * whole
