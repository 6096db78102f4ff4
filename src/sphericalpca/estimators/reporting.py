"""What a fit says: one line to the log, and warnings where something is amiss."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sphericalpca.exceptions import NoDirectionWarning, warn_caller
from sphericalpca.iterate import StopReason
from sphericalpca.rows import Rows

__all__ = ["report_fit", "warn_of_max_iter", "warn_of_zero_rows", "warn_unfinished"]

# Rounding errors of float32 keep residuals from going further down,
SINGLE_FLOOR = 1e-6
# and are what ended a fit if it came this near, in multiples.
NEAR = 10

logger = logging.getLogger("sphericalpca")


def report_fit(model: Any, rows: Rows, *, only_tol: bool = False) -> None:
    """Tell how a fit ended; `only_tol` as in `warn_of_max_iter`."""
    n, m = rows.shape
    logger.info(
        "SphericalPCA fit of %d x %d to r=%d by %s: %s after %d iterations and %g passes, "
        "residual %.2g, mean cosine %.6f",
        *(n, m, model.n_components_, type(model.solver_).__name__),
        *(model.stop_reason_, model.n_iter_, model.n_passes_, model.residual_),
        model.mean_cosine_,
    )
    warn_of_zero_rows(rows.totals.without_direction, n, "took no part in the fit")
    warn_of_max_iter(model, rows.dtype, only_tol=only_tol)


def warn_of_max_iter(model: Any, dtype: np.dtype[Any], *, only_tol: bool) -> None:
    """Tell if `max_iter` ended a fit; `only_tol` if the caller can choose nothing but that."""
    if model.stop_reason_ == StopReason.MAX_ITER:
        most = f"{model.max_iter}" if only_tol else f"max_iter={model.max_iter}"
        warn_caller(
            f"SphericalPCA stopped after {most} iterations at residual {model.residual_:.3g}, "
            f"tol={model.tol:g}. {_remedy(model, dtype, only_tol=only_tol)}",
            ConvergenceWarning,
        )


def _remedy(model: Any, dtype: np.dtype[Any], *, only_tol: bool) -> str:
    """What to do about a fit that `max_iter` ended."""
    if model.tol == 0:
        return "With tol=0 every fit ends here: set tol > 0 to stop at convergence."
    too_fine = dtype == np.float32 and model.tol < SINGLE_FLOOR
    if too_fine and model.residual_ < NEAR * SINGLE_FLOOR:
        return "In float32 residuals end near 1e-6: raise tol, or pass X in float64."
    if only_tol:
        return "Raise tol."
    return "Raise max_iter, raise tol, or try another solver or start."


def warn_of_zero_rows(count: int, total: int, what: str) -> None:
    """Count rows that point nowhere, if there are any; `what` suits one as well as many."""
    if count:
        have = "has" if count == 1 else "have"
        warn_caller(f"{count} of {total} rows {have} no direction and {what}.", NoDirectionWarning)


def warn_unfinished(model: Any, measure: str, value: float) -> None:
    """Tell that `max_iter` ran out, and what was measured then."""
    warn_caller(
        f"{type(model).__name__} stopped after max_iter={model.max_iter} iterations, when "
        f"{measure} {value:.3g}, tol={model.tol:g}. Raise max_iter or tol.",
        ConvergenceWarning,
    )
