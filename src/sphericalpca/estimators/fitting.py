"""What surrounds a fit: a problem that can be solved, its name, its closing."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from sphericalpca.exceptions import DataError
from sphericalpca.iterate import Solution, State
from sphericalpca.problem import CanonicalForm, Problem
from sphericalpca.rows import Rows
from sphericalpca.solvers import Start

__all__ = ["about_fit", "checked_problem", "closed"]

# Squared lengths are added up; from here on the sum would overflow.
LARGEST_ENERGY = 1e307


def checked_problem(rows: Rows, *, centred: bool = False, weighted: bool = False) -> Problem:
    """The problem of these rows, if they have directions and are not too long.

    The message tells what may have taken the directions away.
    """
    totals, n = rows.totals, rows.shape[0]
    if totals.weight == 0:
        raise DataError(
            f"All rows of X (n_samples = {n}) are zero{' after centring' if centred else ''}"
            f"{' or have weight zero' if weighted else ''}, so none has a direction: pass at "
            "least one row that is not."
        )
    # A sum over all rows must stay in range too, in the type of the data.
    largest = float(np.finfo(rows.dtype).max)  # compared in float64, where nothing overflows
    if not (totals.energy < LARGEST_ENERGY and totals.longest * n < largest):
        raise DataError(
            f"The longest row of X has length {totals.longest:.3g}, too long for the sums of {n} "
            f"rows in {rows.dtype}: rescale X, or use normalize=True."
        )
    return Problem(rows)


def about_fit(model: Any, rows: Rows) -> dict[str, Any]:
    """What a checkpoint belongs to: the data's shape and type, and the parameters."""
    return {
        "n_samples": rows.shape[0],
        "n_features": rows.shape[1],
        "dtype": rows.dtype.name,
        "n_components": int(model.n_components),
        "solver": repr(model.solver_),
        "init": model.init if isinstance(model.init, str) else _digest(model.init),
        "n_init": int(model.n_init),
        "normalize": bool(model.normalize),
        "center": bool(model.center),
    }


def closed(problem: Problem, solution: Solution[State]) -> CanonicalForm:
    """The canonical form of a solution; Algorithm 1 still owes its last exact V step."""
    if solution.closing is None:
        return problem.canonical(solution.U)
    return problem.canonical_form(solution.U, *solution.closing)


def _digest(start: Any) -> str:
    """A short name for given matrices."""
    if isinstance(start, Start):
        start = start.U if start.V is None else (start.U, start.V)
    parts = start if isinstance(start, tuple) else (start,)
    content = b"".join(np.asarray(part, dtype=np.float64).tobytes() for part in parts)
    return f"given {hashlib.sha256(content).hexdigest()[:16]}"
