"""An upper bound on f over all subspaces, and hence on the distance of f(U) from the optimum.

For any numbers s_j > 0 the arithmetic-geometric mean inequality gives ::

    f* <= B(s) = 1/2 sum_j w_j s_j + 1/2 sum_{i <= r} lambda_i( sum_j w_j x_j x_j' / s_j ).

At s_j = ||U'x_j|| the bound meets f(U) exactly when U spans the leading eigenvectors of
its own weighted covariance; then U is a global maximiser.  Otherwise B is made smaller.
Its minimum over s is the maximum of the concave function F(P) = sum_j w_j sqrt(x_j'P x_j)
over the Fantope {0 <= P <= I, tr P = r}.  Each bound yields leading eigenvectors E, hence
a new vertex EE' of the Fantope, and F is maximised over the hull of all vertices so far;
s_j = sqrt(x_j'P x_j) there gives the next bound.  Only the numbers x_j'P x_j are stored.
The largest rounding errors, of lengths in the data's type and of sums in float64, are added to B.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize

from sphericalpca.linalg import SHORT_ROW, Array, leading_eigenvectors
from sphericalpca.parallel import parallel
from sphericalpca.problem import Problem, lengths_of_projections
from sphericalpca.rows import as_rows
from sphericalpca.spectrum import LeadingEigenvalues

__all__ = ["DIRECT_SIZE", "Certificate", "certify"]

# Up to this many features, or rows, all eigenvalues are computed: none can be missed.
DIRECT_SIZE = 2048

MAX_BOUNDS = 30
PATIENCE = 6


@dataclass(frozen=True)
class Certificate:
    """An upper bound on f over all subspaces, with the value at one of them.

    Attributes
    ----------
    value : float
        f(U) = sum_j w_j ||U'x_j||.
    bound : float
        No subspace of this dimension has a larger f, as reliably as `kind` says.  It includes an
        allowance for rounding errors of the data's type: of float32 rows at most 4e-5 of
        sum_j w_j ||x_j||.
    gap : float
        bound / value - 1, at least this allowance.  If hardly larger, U is optimal up to rounding.
    rigorous : bool
        Whether the bound rests on a full eigen-decomposition.
    probability : float or None
        The bound is wrong with at most this probability, over the random vectors drawn for it: 0
        if it is rigorous, None if it is not known.
    kind : str
        "rigorous", "probable" (a probability is known) or "estimate".
    """

    value: float
    bound: float
    gap: float
    rigorous: bool
    probability: float | None = None

    @property
    def kind(self) -> str:
        """Kind of the bound, by its probability."""
        if self.rigorous:
            return "rigorous"
        return "estimate" if self.probability is None else "probable"


def certify(problem: Problem, U: Array, *, max_bounds: int = MAX_BOUNDS) -> Certificate:
    """Bound the optimum of `problem` from above, starting from the subspace U.

    Parameters
    ----------
    problem : Problem
    U : array of shape (m, r)
        Orthonormal columns.
    max_bounds : int, default=30
        Maximum number of eigendecompositions.  Fewer are made if the gap is within a hundredth of
        the best possible for this kind of bound, within a tenth of the rounding allowance, or
        hardly shrinks any more.

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
    if r == problem.rows.shape[1] or total == 0:  # no other subspace, or none is better
        return _certificate(heaviest, value, max(total, value) + allowance, 0.0)
    of_sums = np.sqrt(r) * sum(problem.rows.shape) * float(np.finfo(np.float64).eps)
    if problem.rows.shape[1] > DIRECT_SIZE >= problem.rows.shape[0]:
        problem = _in_row_space(problem)
    norm, m = problem.rows.stats.norm, problem.rows.shape[1]
    iterative = LeadingEigenvalues(problem, U) if m > DIRECT_SIZE else None
    inverse = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
    # Vertices as x_j'P x_j / ||x_j||^2: of r/m I, positive for every row, and of UU'.
    vertices = np.empty((max_bounds + 1, len(w)))
    vertices[0], vertices[1] = min(r / m, 1.0), (reach * inverse) ** 2
    mixture = np.array([0.5, 0.5])
    s = best = np.maximum(reach, np.sqrt(np.finfo(np.float64).eps) * norm)
    bounds: list[float] = []
    while True:
        factor = _factors(w, s)
        if iterative is None:
            top, reach = _leading_eigenvalues(problem, factor, r)
        else:
            top, reach = iterative.estimate(factor, _enough(bounds, value, allowance))
        relaxed = float(w @ s)  # F at the current P: no s gives a bound below it
        top += of_sums * float(np.square(factor * norm).sum())
        bound = 0.5 * relaxed + 0.5 * top
        best = s if bound < min(bounds, default=np.inf) else best
        bounds.append(min([*bounds, bound]))
        if len(bounds) == max_bounds or _settled(bounds, relaxed, value, allowance):
            break
        count = len(bounds) + 2
        vertices[count - 1] = (reach * inverse) ** 2
        mixture = _best_mixture(vertices[:count], w * norm, mixture)
        s = norm * np.sqrt(mixture @ vertices[:count])
    bound = bounds[-1]
    probability: float | None = 0.0
    if iterative is not None:
        top = iterative.bound(_factors(w, best), _enough(bounds, value, allowance))
        probability = iterative.failure
        bound = 0.5 * float(w @ best) + 0.5 * top
    # No projection is longer than its row.
    return _certificate(heaviest, value, max(min(bound, total), value) + allowance, probability)


def _certificate(unit: float, value: float, bound: float, probability: float | None) -> Certificate:
    gap = float(bound / value) - 1.0 if value > 0 else np.inf
    return Certificate(unit * value, float(unit * bound), gap, probability == 0.0, probability)


def _factors(w: Array, s: Array) -> Array:
    """Square roots of w / s; 0 for rows of length zero."""
    return np.asarray(np.sqrt(np.divide(w, s, out=np.zeros_like(s), where=s > 0)))


def _enough(bounds: list[float], value: float, allowance: float) -> float:
    """How accurate eigenvalues must be for their errors to hardly affect the gap."""
    gap = min(bounds, default=1.05 * value) - value
    return max(1e-6 * value, 0.02 * (gap + allowance))


def _settled(bounds: list[float], relaxed: float, value: float, allowance: float) -> bool:
    """Whether more rounds would hardly make the gap smaller."""
    worthwhile = max(1e-9 * value, 0.01 * (bounds[-1] - value), 0.1 * allowance)
    # Single rounds may not improve the bound, so patience spans several.
    stuck = len(bounds) > PATIENCE and bounds[-1 - PATIENCE] - bounds[-1] < worthwhile
    return stuck or bounds[-1] - relaxed <= worthwhile


def _in_row_space(problem: Problem) -> Problem:
    """Make the same problem with n features: rows Z with Z Z' = X X'.

    They are found from the cosines, so that short rows keep as many digits as long ones.
    """
    values, E = np.linalg.eigh(problem.cosines())
    Z = E * np.sqrt(np.maximum(values, 0.0)) * problem.rows.stats.norm[:, None]
    return Problem(as_rows(Z, weight=problem.rows.stats.weight, normalize=False))


def _leading_eigenvalues(problem: Problem, factor: Array, r: int) -> tuple[float, Array]:
    """Sum of the r largest eigenvalues of sum_j factor_j^2 x_j x_j', by a direct method.

    Also returns the lengths of the rows' projections on the span of their eigenvectors.
    """
    values, E = leading_eigenvectors(problem.gram(factor), min(r, problem.rows.shape[1]))
    return float(values.sum()), lengths_of_projections(problem, E)


@parallel()
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
