"""Where the first NaN or infinity is."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from sphericalpca.linalg import Array
from sphericalpca.parallel import equal_ends, spread_runs, workers
from sphericalpca.rows.base import Watch
from sphericalpca.rows.block import Matrix, stored_numbers

__all__ = ["column_words", "first_non_finite", "in_words"]

# So many are added up at a time: Ctrl-C need not wait for a file that is mapped into memory.
BLOCK_ENTRIES = 3_000_000


def first_non_finite(X: Matrix, watch: Watch | None = None) -> tuple[int, int, str] | None:
    """Row and column of the first entry that is not finite, and what it is; None if all are.

    The watch is told of rows read, as in `Rows`.
    """
    if _finite_sums(X, watch):
        return None
    return _first_in_sparse(X) if sparse.issparse(X) else _first_in_dense(X)


def in_words(value: float) -> str:
    """What a number that is not finite is."""
    return "NaN" if np.isnan(value) else f"infinity ({value})"


def column_words(column: int, names: Sequence[str] | None) -> str:
    """Which column, in words: by its number, and by its name if it has one."""
    return f"column {column}" if names is None else f"column {column} ({names[column]!r})"


def _finite_sums(X: Matrix, watch: Watch | None) -> bool:
    """Whether sums of all entries are finite: if one is not, or if a sum overflows, it is not.

    That is one fast read of the data.
    """

    def finite(span: tuple[int, int]) -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            rows = X.data[slice(*X.indptr[list(span)])] if sparse.issparse(X) else X[slice(*span)]
            found = bool(np.isfinite(np.asarray(rows).sum()))
        if watch is not None:
            watch(span[1] - span[0])
        return found

    spans = list(itertools.pairwise(_row_ends(X)))
    cuts = itertools.pairwise(equal_ends(len(spans), min(workers(), len(spans)) or 1))
    runs = spread_runs(finite, [spans[slice(*cut)] for cut in cuts])
    return all(itertools.chain.from_iterable(runs))


def _row_ends(X: Matrix) -> list[int]:
    """0, ..., n: where to cut the rows, as many times as there are threads at least."""
    stored = stored_numbers(X)
    blocks = max(-(-stored // BLOCK_ENTRIES), workers())
    if sparse.issparse(X):
        ends = np.searchsorted(X.indptr, equal_ends(stored, blocks)[1:-1]).tolist()
        return sorted({0, *ends, X.shape[0]})
    return sorted(set(equal_ends(X.shape[0], blocks)))


def _first_in_sparse(X: Matrix) -> tuple[int, int, str] | None:
    for k in np.flatnonzero(~np.isfinite(X.data))[:1]:
        row = int(np.searchsorted(X.indptr, k, "right")) - 1
        return row, int(X.indices[k]), in_words(X.data[k])
    return None


def _first_in_dense(X: Array) -> tuple[int, int, str] | None:
    for i, row in enumerate(X):
        for j in np.flatnonzero(~np.isfinite(row))[:1]:
            return i, int(j), in_words(row[j])
    return None
