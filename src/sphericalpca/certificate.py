"""An upper bound on f over all subspaces: how far from the optimum can U be?

For any numbers s_j > 0 the arithmetic-geometric mean inequality gives ::

    f* <= B(s) = 1/2 sum_j w_j s_j + 1/2 sum_{i <= r} lambda_i( sum_j w_j x_j x_j' / s_j ).

At s_j = ||U'x_j|| the bound meets f(U) exactly when U spans the leading eigenvectors of
its own weighted covariance; then U is a global maximiser.  Otherwise B is made smaller.
Its minimum over s is the maximum of the concave function F(P) = sum_j w_j sqrt(x_j'P x_j)
over the Fantope {0 <= P <= I, tr P = r}.  Each bound yields leading eigenvectors E, hence
a new vertex EE' of the Fantope, and F is maximised over the hull of all vertices so far;
s_j = sqrt(x_j'P x_j) there gives the next bound.  Only the numbers x_j'P x_j are stored.

The largest rounding errors are added to B, with eps that of the data's type and k = min(m, 1024)::

    (k / 4 + 4) eps sum_j w_j ||x_j||                     lengths: half the error of k squares
    1/2 sqrt(r) (n + m) eps64 sum_j w_j ||x_j||^2 / s_j   sums in float64, and r eigenvalues:
                                                          sqrt(r) times the Frobenius norm
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize
import scipy.sparse.linalg

from sphericalpca.linalg import SHORT_ROW, Array, leading_eigenvectors
from sphericalpca.problem import Problem, lengths_of_projections
from sphericalpca.rows import as_rows

__all__ = ["DIRECT_SIZE", "Certificate", "certify"]

# Up to this many features, or rows, all eigenvalues are computed: none can be missed.
DIRECT_SIZE = 2048

MAX_BOUNDS = 30
PATIENCE = 6


@dataclass(frozen=True)
class Certificate:
    """How good a subspace provably is.

    Attributes
    ----------
    value : float
        f(U) = sum_j w_j ||U'x_j||.
    bound : float
        No subspace of this dimension has a larger f.  Includes an allowance for rounding errors
        of the data's type: of float32 rows at most 4e-5 of sum_j w_j ||x_j||.
    gap : float
        bound / value - 1, at least that allowance; near it, U is optimal up to rounding.
    rigorous : bool
        Whether the bound rests on a full eigen-decomposition; it then holds for the rows as they
        are, rounding errors included.  Otherwise eigenvalues came from an iterative method, which
        may underestimate them, and the bound is an estimate.
    """

    value: float
    bound: float
    gap: float
    rigorous: bool


def certify(problem: Problem, U: Array, *, max_bounds: int = MAX_BOUNDS) -> Certificate:
    """Bound the optimum of `problem` from above, starting from the subspace U.

    Parameters
    ----------
    problem : Problem
    U : array of shape (m, r)
        Orthonormal columns.
    max_bounds : int, default=30
        Maximum number of eigen-decompositions; fewer are made when the gap is within a hundredth
        of the best that this kind of bound can do, or hardly shrinks any more.

    Returns
    -------
    certificate : Certificate

    Examples
    --------
    >>> import numpy as np
    >>> from sphericalpca.certificate import certify
    >>> from sphericalpca.problem import Problem
    >>> from sphericalpca.rows import as_rows
    >>> X = np.random.default_rng(0).standard_normal((200, 5)) * [9, 8, 1, 1, 1]
    >>> certify(Problem(as_rows(X)), np.eye(5)[:, :2]).gap < 0.1
    True
    """
    r, heaviest = U.shape[1], problem.rows.heaviest
    w, norm = problem.rows.stats.weight / heaviest, problem.rows.stats.norm
    reach = lengths_of_projections(problem, U)
    value = float(w @ reach)
    total, terms = float(w @ norm), min(problem.rows.shape[1], SHORT_ROW)
    allowance = (terms / 4 + 4) * float(np.finfo(problem.rows.dtype).eps) * total
    if r == problem.rows.shape[1]:  # there is no other subspace
        return _certificate(heaviest, value, max(total, value) + allowance, rigorous=True)
    of_sums = np.sqrt(r) * sum(problem.rows.shape) * float(np.finfo(np.float64).eps)
    if problem.rows.shape[1] > DIRECT_SIZE >= problem.rows.shape[0]:
        problem = _in_row_space(problem)
    norm, m = problem.rows.stats.norm, problem.rows.shape[1]
    inverse = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
    # Vertices as x_j'P x_j / ||x_j||^2: of r/m I, positive for every row, and of UU'.
    vertices = np.empty((max_bounds + 1, len(w)))
    vertices[0], vertices[1] = min(r / m, 1.0), (reach * inverse) ** 2
    mixture = np.array([0.5, 0.5])
    s, E = np.maximum(reach, np.sqrt(np.finfo(np.float64).eps) * norm), None
    bounds: list[float] = []
    while True:
        factor = np.sqrt(np.divide(w, s, out=np.zeros_like(s), where=s > 0))
        top, E = _leading_eigenvectors(problem, factor, r, E)
        relaxed = float(w @ s)  # F at the current P: no s gives a bound below it
        top += of_sums * float(np.square(factor * norm).sum())
        bounds.append(min([*bounds, 0.5 * relaxed + 0.5 * top]))
        if len(bounds) == max_bounds or _settled(bounds, relaxed, value):
            break
        count = len(bounds) + 2
        vertices[count - 1] = (lengths_of_projections(problem, E) * inverse) ** 2
        mixture = _best_mixture(vertices[:count], w * norm, mixture)
        s = norm * np.sqrt(mixture @ vertices[:count])
    bound = max(bounds[-1], value) + allowance
    return _certificate(heaviest, value, bound, rigorous=m <= DIRECT_SIZE)


def _certificate(unit: float, value: float, bound: float, *, rigorous: bool) -> Certificate:
    gap = float(bound / value) - 1.0 if value > 0 else np.inf
    return Certificate(unit * value, float(unit * bound), gap, rigorous)


def _settled(bounds: list[float], relaxed: float, value: float) -> bool:
    """Whether more rounds could not, or hardly would, make the gap smaller."""
    worthwhile = max(1e-9 * value, 0.01 * (bounds[-1] - value))
    # Single rounds may bring nothing, so patience spans several of them.
    stuck = len(bounds) > PATIENCE and bounds[-1 - PATIENCE] - bounds[-1] < worthwhile
    return stuck or bounds[-1] - relaxed <= worthwhile


def _in_row_space(problem: Problem) -> Problem:
    """The same problem with n features: rows Z with Z Z' = X X'.

    Found from the cosines, so that short rows keep as many digits as long ones.
    """
    values, E = np.linalg.eigh(problem.cosines())
    Z = E * np.sqrt(np.maximum(values, 0.0)) * problem.rows.stats.norm[:, None]
    return Problem(as_rows(Z, weight=problem.rows.stats.weight, normalize=False))


def _leading_eigenvectors(
    problem: Problem, factor: Array, r: int, near: Array | None
) -> tuple[float, Array]:
    """Sum of the r largest eigenvalues of sum_j factor_j^2 x_j x_j', and their vectors.

    `near`, if any, are such vectors of a similar matrix, for Lanczos to start from.
    """
    m = problem.rows.shape[1]
    r = min(r, m)
    if m <= DIRECT_SIZE:
        values, E = leading_eigenvectors(problem.gram(factor), r)
    else:
        A = scipy.sparse.linalg.LinearOperator(
            (m, m),
            matvec=lambda x: problem.covariance_times(x.reshape(m, 1), factor)[:, 0],
            dtype=np.float64,
        )
        start = np.random.default_rng(0).standard_normal(m) if near is None else near.sum(axis=1)
        # The error of an eigenvalue is of the order of the square of this.
        values, E = scipy.sparse.linalg.eigsh(A, k=r, v0=start, tol=1e-4)
    return float(values.sum()), E


def _best_mixture(vertices: Array, weight: Array, last: Array) -> Array:
    """Shares a of the vertices that maximise sum_j weight_j sqrt((a @ vertices)_j).

    Starts near the best mixture of all vertices but the newest.
    """
    scale = 1.0 / float(weight.sum())

    def minus_value(a: Array) -> tuple[float, Array]:
        root = np.sqrt(np.maximum(a @ vertices, 1e-300))
        return -scale * float(weight @ root), -scale * 0.5 * (vertices @ (weight / root))

    start = np.append(0.9 * last, 0.1)
    found = scipy.optimize.minimize(
        minus_value,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(start),
        constraints={"type": "eq", "fun": lambda a: a.sum() - 1.0, "jac": np.ones_like},
        options={"ftol": 1e-10, "maxiter": 100},
    )
    a = np.maximum(found.x, 0.0)
    a[0] = max(a[0], 1e-6)  # keeps every s_j positive
    return np.asarray(a / a.sum())
