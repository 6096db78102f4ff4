"""Kinds of data that scikit-learn would convert, or refuse at great length."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np

from sphericalpca.estimators.columns import column_names
from sphericalpca.estimators.remedies import NUMBERS_ONLY, REAL_ONLY, with_remedy
from sphericalpca.exceptions import DataError
from sphericalpca.rows import column_words

__all__ = ["is_single", "refuse_kinds", "refuse_plans", "refuse_repeated_names"]


def is_single(X: Any) -> bool:
    """float32, and float16, which is computed in float32, in any byte order."""
    return all(
        isinstance(dtype, np.dtype) and dtype.kind == "f" and dtype.itemsize <= 4
        for dtype in _types(X)
    )


def refuse_plans(X: Any) -> None:
    """Refuse what is yet to be computed, such as a LazyFrame; asking it for columns is costly."""
    if callable(getattr(type(X), "collect", None)) and not hasattr(X, "shape"):
        raise DataError(
            f"X is a {type(X).__name__}, which tells how to get rows but holds none: pass "
            "X.collect()."
        )


def refuse_repeated_names(X: Any) -> None:
    """scikit-learn 1.6 lets in data frames with several columns of one name."""
    if (
        getattr(getattr(X, "columns", None), "is_unique", None) is False
    ):  # others have any attribute
        raise DataError(with_remedy("X does not have unique column names"))


def refuse_kinds(X: Any) -> None:
    """Refuse nothing at all, text, dicts, masked entries, complex numbers, dates and the like."""
    if X is None or (isinstance(X, np.ndarray) and X.shape == (0,)):
        what = "None" if X is None else "empty"
        raise DataError(f"X is {what}. Pass at least one row, as a 2D array.")
    if isinstance(X, (str, bytes, os.PathLike)):
        raise DataError(
            f"X is text, {str(X)[:100]!r}: if it names a file, pass open_rows(X). {NUMBERS_ONLY}"
        )
    # Sparse matrices by keys have a shape, and are dicts as well.
    if isinstance(X, (Iterator, Mapping, Set)) and not hasattr(X, "shape"):
        keyed = "one of its entries, or np.column_stack(list(X.values())) if these are the columns"
        rows = keyed if isinstance(X, Mapping) else "list(X)"
        raise DataError(f"X is a {type(X).__name__}, not an array of rows: pass {rows}.")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        count = int(np.ma.getmaskarray(X).sum())
        raise DataError(
            f"X is a masked array, masked at {count} of {X.size} entries, that is missing there: "
            "impute or drop them, or pass X.data if they are to count."
        )
    _refuse_types(X)


def _refuse_types(X: Any) -> None:
    names = column_names(X)
    for k, dtype in enumerate(_types(X)):
        kind = dtype.kind if isinstance(dtype, np.dtype) else ""
        where = "" if names is None else f" in {column_words(k, names)}"
        if kind == "c":
            raise DataError(f"Complex data not supported: X has dtype {dtype}{where}. {REAL_ONLY}")
        if kind in {"U", "S", "M", "m", "V"}:
            raise DataError(f"X has dtype {dtype}{where}. {NUMBERS_ONLY}")
        if kind == "O" and isinstance(X, np.ndarray) and any(map(_is_text, X.flat)):
            raise DataError(f"X has dtype object and holds text. {NUMBERS_ONLY}")


def _types(X: Any) -> list[Any]:
    """The type of an array, or of each column of a data frame."""
    if len(getattr(X, "shape", ())) == 1:  # a series has dtypes too, which are one
        return [getattr(X, "dtype", None)]
    return list(getattr(X, "dtypes", [getattr(X, "dtype", None)]))


def _is_text(value: Any) -> bool:
    return isinstance(value, (str, bytes))
