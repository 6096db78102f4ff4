"""Find the first NaN or infinity."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from sphericalpca.parallel import runs, spread_runs, workers
from sphericalpca.rows.base import Watch
from sphericalpca.rows.block import Matrix, spans_of, stored_numbers

__all__ = ["column_words", "first_non_finite", "in_words"]

# This many are added up at a time, so that Ctrl-C works while a mapped file is read.
BLOCK_ENTRIES = 3_000_000


def first_non_finite(X: Matrix, watch: Watch | None = None) -> tuple[int, int, str] | None:
    """Row and column of the first entry that is not finite, and what it is; None if all are.

    The watch is called with the number of rows read, as in `Rows`.
    """

    def has_finite_sum(span: slice) -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            ends = [span.start, span.stop]
            rows = X.data[slice(*X.indptr[ends])] if sparse.issparse(X) else X[span]
            found = bool(np.isfinite(np.asarray(rows).sum()))
        if watch is not None:
            watch(span.stop - span.start)
        return found

    # A fast read of sums first; entries are checked only if a sum is not finite.
    spans = spans_of(X, max(-(-stored_numbers(X) // BLOCK_ENTRIES), workers()))
    found = spread_runs(has_finite_sum, runs(spans, workers()))
    if all(itertools.chain.from_iterable(found)):
        return None
    if sparse.issparse(X):
        for k in np.flatnonzero(~np.isfinite(X.data))[:1]:
            row = int(np.searchsorted(X.indptr, k, "right")) - 1
            return row, int(X.indices[k]), in_words(X.data[k])
        return None
    for i, row in enumerate(X):
        for j in np.flatnonzero(~np.isfinite(row))[:1]:
            return i, int(j), in_words(row[j])
    return None


def in_words(value: float) -> str:
    """The name of a number that is not finite."""
    return "NaN" if np.isnan(value) else f"infinity ({value})"


def column_words(column: int, names: Sequence[str] | None) -> str:
    """Name a column in words, by its number, and by its name if it has one."""
    return f"column {column}" if names is None else f"column {column} ({names[column]!r})"
