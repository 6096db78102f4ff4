"""Which solver suits the data: ``solver="auto"``."""

from __future__ import annotations

from sphericalpca.iterate import Solver
from sphericalpca.rows import Rows
from sphericalpca.solvers.anderson import Anderson
from sphericalpca.solvers.newton import Newton
from sphericalpca.solvers.subspace import Subspace

__all__ = ["automatic"]

# A stored number of a sparse row costs as much as so many of a dense one.
SPARSE_COST = 13
# Subspace acceleration halves the passes, and looks at the projections some six times for
# each: their rows must be this much shorter than those of the data.
WORTH_IT = 5
# Below this residual Anderson acceleration slows down, and Newton's method arrives first.
NEWTON_TOL = 1e-7


def automatic(rows: Rows, n_components: int, tol: float) -> Solver:
    """The solver for these rows.

    Subspace acceleration needs the fewest passes.  It is taken where passes are dear: long
    rows, few components, and room for the projections.  Elsewhere Anderson acceleration
    is as fast or the only one that fits, and for very small `tol` Newton's method.

    Parameters
    ----------
    rows : Rows
    n_components : int
    tol : float
        At which residual a run will end.

    Returns
    -------
    solver : Subspace, Anderson or Newton
    """
    n, m = rows.shape
    subspace = Subspace()
    columns = subspace.capacity(n_components)
    length = rows.stored / n * (1 if rows.stored == n * m else SPARSE_COST)
    # A restart holds the new half of basis and projections beside the old ones.
    fits = 1.5 * (n + m) * columns * rows.dtype.itemsize <= rows.room
    if rows.local and fits and columns < m and WORTH_IT * columns <= length:
        return subspace
    return Newton() if 0 < tol < NEWTON_TOL and rows.dtype.itemsize == 8 else Anderson()
