"""Sparse matrices whose parts fit together.

Products trust the indices of a matrix and read whatever memory they point to, and its flags say
what was true when it was made.  So both are looked at before anything is computed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from sphericalpca.exceptions import DataError, printable
from sphericalpca.parallel import equal_ends, spread, workers

__all__ = ["refuse_indices", "sound", "summed"]

REBUILD = "build X again, for example by scipy.sparse.csr_array((numbers, (rows, columns)))"
COMPRESSED = {
    "csr": ("row", "column"),
    "csc": ("column", "row"),
    "bsr": ("block row", "block column"),
}
Place = Callable[[int], tuple[str, str]]


def sound(X: Any) -> Any:
    """The same rows as a CSR matrix, checked, with flags that are true; CSR is not copied."""
    try:
        return _checked(X) if X.ndim == 2 else X
    except (DataError, MemoryError):
        raise
    except Exception as error:  # parts of other types and shapes fail in many ways
        found = f"X is a malformed {X.format.upper()} matrix ({printable(error, 200)})"
        raise DataError(found, remedy=REBUILD) from None


def _checked(X: Any) -> Any:
    if X.format == "dia":
        X = type(X)((X.data, X.offsets), shape=X.shape)
    elif X.format == "lil":
        _check_lists(X)
    elif X.format in COMPRESSED:
        _check_compressed(X)
    else:
        X = X.tocoo()
        for axis, places in zip(("row", "column"), (X.row, X.col), strict=True):
            _check_coordinates(axis, places, X.shape[axis == "column"], len(X.data))
    rows = X.tocsr()
    if X.format == "lil":
        _check_compressed(rows)
    # Its flags may be older than its indices: those of a new one are not known yet.
    return type(rows)((rows.data, rows.indices, rows.indptr), shape=rows.shape, copy=False)


def _check_compressed(X: Any) -> None:
    _check_pointer(X)
    blocks = X.blocksize if X.format == "bsr" else (1, 1)
    major, minor = COMPRESSED[X.format]
    count = X.shape[X.format != "csc"] // blocks[1]
    refuse_indices(
        X.indices[: X.indptr[-1]], X.indptr, count, minor, lambda k: (f"{major} {k}", REBUILD)
    )


def _check_lists(X: Any) -> None:
    for k, (places, numbers) in enumerate(zip(X.rows, X.data, strict=True)):
        if len(places) != len(numbers):
            found = f"Row {k} of X stores {len(numbers)} numbers and {len(places)} column indices"
            raise DataError(found, "must be as many", REBUILD)


def summed(X: Any) -> Any:
    """A sound CSR matrix with each column once in a row; a copy if some were repeated."""
    if _repeats_indices(X):
        X = X.copy()
        X.sum_duplicates()
    return X


def _repeats_indices(X: Any) -> bool:
    # Sorting the rows would tell too, and takes three times as long as turning X around,
    # which brings the entries of a column together in the order of their rows.
    if X.has_canonical_format:
        return False
    X = type(X)((np.zeros(len(X.indices), np.int8), X.indices, X.indptr), shape=X.shape, copy=False)
    ends = itertools.pairwise(equal_ends(X.shape[0], workers()))
    return not all(spread(lambda part: X[slice(*part)].tocsc().has_canonical_format, list(ends)))


def _check_pointer(X: Any) -> None:
    major, _ = COMPRESSED[X.format]
    pointer, numbers = np.asarray(X.indptr), min(len(X.data), len(X.indices))
    count = X.shape[X.format == "csc"] // (X.blocksize[0] if X.format == "bsr" else 1)
    if pointer.shape != (count + 1,):
        found, rule = f"indptr of X has {pointer.size} entries", f"must have {count + 1}"
        raise DataError(found, f"{rule}, one more than there are {major}s", REBUILD)
    wrong = np.flatnonzero((pointer[1:] < pointer[:-1]) | (pointer[1:] > numbers))
    if pointer[0] != 0 or len(wrong):
        k = 0 if pointer[0] != 0 else int(wrong[0])
        found = f"indptr of X says that {major} {k} is from {pointer[k]} to {pointer[k + 1]}"
        rule = f"X stores {numbers} numbers, from 0 on, one {major} after another"
        raise DataError(found, rule, REBUILD)


def _check_coordinates(axis: str, places: Any, count: int, numbers: int) -> None:
    if len(places) != numbers:
        found = f"X stores {numbers} numbers and {len(places)} {axis} indices"
        raise DataError(found, "must be as many", REBUILD)
    outside = np.flatnonzero((places < 0) | (places >= count)) if _leaves(places, count) else ()
    for k in outside[:1]:
        raise DataError(
            f"X stores a number in {axis} {places[k]}", f"there are {count} {axis}s", REBUILD
        )


def refuse_indices(indices: Any, pointer: Any, count: int, minor: str, place: Place) -> None:
    """Refuse indices beyond the columns; `place` names the row of the first one, and a remedy."""
    if _leaves(indices, count):
        k = int(np.argmax((indices < 0) | (indices >= count)))
        where, remedy = place(int(np.searchsorted(pointer, pointer[0] + k, "right")) - 1)
        found = f"X stores a number in {minor} {indices[k]} of {where}"
        raise DataError(found, f"there are {count} {minor}s", remedy)


def _leaves(indices: Any, count: int) -> bool:
    if indices.dtype.kind not in "iu":
        raise TypeError(f"its indices are {indices.dtype}, not integers")
    return bool(len(indices)) and (indices.min() < 0 or indices.max() >= count)
