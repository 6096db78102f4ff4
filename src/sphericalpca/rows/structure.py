"""Checks of the structure of sparse matrices.

Products trust the indices of a matrix and read whatever memory they point to, and its flags may
be out of date.  So both are checked before anything is computed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from sphericalpca.exceptions import DataError, printable
from sphericalpca.kernels import CompressedRows, library
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
    """Check X and convert it to CSR, with correct flags; a CSR matrix is not copied."""
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
        for k, (places, numbers) in enumerate(zip(X.rows, X.data, strict=True)):
            _refuse_counts(f"Row {k} of X", len(numbers), len(places), "column")
    elif X.format in COMPRESSED:
        _check_compressed(X)
    else:
        X = X.tocoo()
        for axis, places, count in zip(("row", "column"), (X.row, X.col), X.shape, strict=True):
            _refuse_counts("X", len(X.data), len(places), axis)
            wrong = _first_outside(places, count)
            if wrong is not None:
                found = f"X stores a number in {axis} {places[wrong]}"
                raise DataError(found, f"there are {count} {axis}s", REBUILD)
    rows = X.tocsr()
    if X.format == "lil":
        _check_compressed(rows)
    # Its flags may be older than its indices: a new matrix has no flags yet.
    return type(rows)((rows.data, rows.indices, rows.indptr), shape=rows.shape, copy=False)


def _refuse_counts(what: str, numbers: int, places: int, axis: str) -> None:
    if places != numbers:
        found = f"{what} stores {numbers} numbers and {places} {axis} indices"
        raise DataError(found, "the two counts must be equal", REBUILD)


def _check_compressed(X: Any) -> None:
    major, minor = COMPRESSED[X.format]
    blocks = X.blocksize if X.format == "bsr" else (1, 1)
    shape = X.shape[::-1] if X.format == "csc" else X.shape
    count, pointer = shape[0] // blocks[0], np.asarray(X.indptr)
    if pointer.shape != (count + 1,):
        found, rule = f"indptr of X has {pointer.size} entries", f"must have {count + 1}"
        raise DataError(found, f"{rule}, one more than there are {major}s", REBUILD)
    numbers = min(len(X.data), len(X.indices))
    wrong = np.flatnonzero((pointer[1:] < pointer[:-1]) | (pointer[1:] > numbers))
    if pointer[0] != 0 or len(wrong):
        k = 0 if pointer[0] != 0 else int(wrong[0])
        found = f"indptr of X says that {major} {k} is from {pointer[k]} to {pointer[k + 1]}"
        rule = f"X stores {numbers} numbers, from 0 on, one {major} after another"
        raise DataError(found, rule, REBUILD)
    refuse_indices(
        *(X.indices[: pointer[-1]], pointer, shape[1] // blocks[1], minor),
        lambda k: (f"{major} {k}", REBUILD),
    )


def summed(X: Any) -> Any:
    """A sound CSR matrix with each column once in a row; a copy if some were repeated."""
    if X.has_canonical_format:
        return X
    if library() is not None and X.dtype in (np.float32, np.float64):
        repeated = CompressedRows(X).repeats()
    else:
        repeated = _repeats(X)
    if repeated:
        X = X.copy()
        X.sum_duplicates()
    return X


def _repeats(X: Any) -> bool:
    """Whether a column is stored twice in any row."""
    # Transposing X brings the entries of a column together in the order of their rows.  Sorting
    # the rows would do, too, but takes three times as long.
    parts = (np.zeros(len(X.indices), np.int8), X.indices, X.indptr)
    places = type(X)(parts, shape=X.shape, copy=False)
    spans = itertools.starmap(slice, itertools.pairwise(equal_ends(X.shape[0], workers())))
    return not all(spread(lambda span: places[span].tocsc().has_canonical_format, list(spans)))


def refuse_indices(indices: Any, pointer: Any, count: int, minor: str, place: Place) -> None:
    """Refuse indices out of range; `place` names the row of the first one, and a remedy."""
    k = _first_outside(indices, count)
    if k is not None:
        where, remedy = place(int(np.searchsorted(pointer, pointer[0] + k, "right")) - 1)
        found = f"X stores a number in {minor} {indices[k]} of {where}"
        raise DataError(found, f"there are {count} {minor}s", remedy)


def _first_outside(indices: Any, count: int) -> int | None:
    if indices.dtype.kind not in "iu":
        raise TypeError(f"its indices are {indices.dtype}, not integers")
    if len(indices) == 0 or (indices.min() >= 0 and indices.max() < count):
        return None
    return int(np.argmax((indices < 0) | (indices >= count)))
