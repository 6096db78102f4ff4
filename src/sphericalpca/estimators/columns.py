"""Columns and their names: scikit-learn's rule for data frames, which rows in files follow too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from sphericalpca.exceptions import DataError, warn_caller
from sphericalpca.rows import RowSource, column_words

__all__ = ["check_source", "column_names", "known_as", "refuse_other_names", "where_not_a_number"]

# Where scikit-learn keeps them.
NAMES = "feature_names_in_"


def check_source(estimator: Any, source: RowSource, *, reset: bool) -> None:
    """Set, or compare, the number of features and their names, as is done with a data frame.

    Rows with names are as a data frame, rows without as an array: where only the model, or only
    the rows have names there is a warning, and names that differ are a `DataError`.
    """
    named = source.columns is not None
    if named and not reset and hasattr(estimator, NAMES):
        refuse_other_names(estimator, source)
        return
    validate_data(estimator, source, reset=reset, skip_check_array=True)
    if named and reset:
        setattr(estimator, NAMES, np.array(source.columns, dtype=object))
    elif named:
        kind = type(estimator).__name__
        warn_caller(
            f"X has feature names, but {kind} was fitted without feature names", UserWarning
        )


def refuse_other_names(estimator: Any, source: RowSource) -> None:
    """Refuse columns that are not those of the fit, in their order; both must have names."""
    fitted, given = list(getattr(estimator, NAMES)), list(source.columns or ())
    if given == fitted:
        return
    raise DataError(
        f"{_first_difference(fitted, given, source.name)}: feature names should match those that "
        "were passed during fit, in the same order; open it with columns=model.feature_names_in_."
    )


def _first_difference(fitted: list[str], given: list[str], name: str) -> str:
    missing, unknown = (_beyond(fitted, given), _beyond(given, fitted))
    if missing is not None:
        return f"{name} is read without column {missing!r}, which the model was fitted to"
    if unknown is not None:
        return f"{name} is read with column {unknown!r}, which the model was not fitted to"
    k = next(k for k, pair in enumerate(zip(fitted, given, strict=False)) if len(set(pair)) > 1)
    return f"{name} is read with {given[k]!r} as column {k}, where the model has {fitted[k]!r}"


def _beyond(names: list[str], others: list[str]) -> str | None:
    """The first name that is not among the others."""
    there = set(others)
    return next((name for name in names if name not in there), None)


def known_as(estimator: Any, names: Sequence[str] | None) -> None:
    """Let a model call its columns so; None takes the names away."""
    vars(estimator).pop(NAMES, None)
    if names is not None:
        setattr(estimator, NAMES, np.array(names, dtype=object))


def column_names(X: Any) -> list[str] | None:
    """Names of the columns of a data frame, if all are text; None for whatever else X is."""
    if len(getattr(X, "shape", ())) != 2 or not (hasattr(X, "dtypes") and hasattr(X, "columns")):
        return None
    names = list(X.columns)
    return names if all(isinstance(name, str) for name in names) else None


def where_not_a_number(X: Any) -> str:
    """In which column of a data frame something is no number; empty if that is not known."""
    names = column_names(X)
    for k, name in enumerate(names or []):
        column = X[name]
        if getattr(column.dtype, "kind", "O") in "fiub":
            continue
        try:
            np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            return f", in {column_words(k, names)}"
    return ""
