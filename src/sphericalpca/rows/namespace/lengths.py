"""Lengths of rows on a device; see `sphericalpca.linalg` for those of NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from sphericalpca.rows.backend import Backend

__all__ = ["row_norms", "unit_rows"]


def row_norms(A: Any, backend: Backend) -> Any:
    """Lengths of rows, in the widest type of the device, from tiny to near overflow.

    Where squares may have left the range, rows are divided by their largest entry first.
    """
    xp, info = backend.xp, backend.xp.finfo(A.dtype)
    with np.errstate(over="ignore", under="ignore"):  # of namespaces that are NumPy inside
        squares = xp.sum(A * A, axis=1)
    low, high = float(info.smallest_normal) / float(info.eps), float(info.max)
    if float(xp.min(squares)) > low and float(xp.max(squares)) < high:
        return xp.sqrt(xp.astype(squares, backend.wide, copy=False))
    peak = xp.max(xp.abs(A), axis=1)
    A = A / xp.where(peak > 0, peak, xp.ones_like(peak))[:, None]
    sizes = xp.sqrt(xp.astype(xp.sum(A * A, axis=1), backend.wide, copy=False))
    return xp.astype(peak, backend.wide, copy=False) * sizes


def unit_rows(A: Any, backend: Backend) -> tuple[Any, Any]:
    """Rows scaled to unit length, and their lengths; zero rows stay zero."""
    xp, norms = backend.xp, row_norms(A, backend)
    divisor = xp.astype(xp.where(norms > 0, norms, xp.ones_like(norms)), A.dtype, copy=False)
    return A / divisor[:, None], norms
