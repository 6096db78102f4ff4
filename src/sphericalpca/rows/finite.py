"""Where the first NaN or infinity is."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import sparse

from sphericalpca.linalg import Array
from sphericalpca.parallel import equal_ends, spread, workers
from sphericalpca.rows.block import Matrix

__all__ = ["first_non_finite"]


def first_non_finite(X: Matrix) -> tuple[int, int, str] | None:
    """Row and column of the first entry that is not finite, and what it is; None if all are."""
    if _finite_sum(X.data if sparse.issparse(X) else X):
        return None
    place = _first_in_sparse(X) if sparse.issparse(X) else _first_in_dense(X)
    if place is None:
        return None
    row, column, value = place
    return row, column, "NaN" if np.isnan(value) else f"infinity ({value})"


def _finite_sum(values: Array) -> bool:
    """Whether the sum of all entries is finite: if one is not, or if it overflows, it is not.

    That is one fast read of the data.
    """
    ends = equal_ends(len(values), workers())

    def finite(part: tuple[int, int]) -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(values[slice(*part)].sum()))

    return all(spread(finite, list(itertools.pairwise(ends))))


def _first_in_sparse(X: Matrix) -> tuple[int, int, float] | None:
    for k in np.flatnonzero(~np.isfinite(X.data))[:1]:
        return int(np.searchsorted(X.indptr, k, "right")) - 1, int(X.indices[k]), X.data[k]
    return None


def _first_in_dense(X: Array) -> tuple[int, int, float] | None:
    for i, row in enumerate(X):
        for j in np.flatnonzero(~np.isfinite(row))[:1]:
            return i, int(j), row[j]
    return None
