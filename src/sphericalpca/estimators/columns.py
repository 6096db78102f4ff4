"""Columns of data and their names, stored by a fit and compared later, as in scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import _get_feature_names, validate_data

from sphericalpca.exceptions import DataError, FeatureNamesWarning, Phrase, printable, warn_caller
from sphericalpca.rows import RowSource

__all__ = [
    "DataTypeError",
    "check_source",
    "column_names",
    "is_table",
    "learn_columns",
    "refuse_other_names",
    "set_names",
]

# The attribute in which scikit-learn stores column names.
NAMES = "feature_names_in_"
SAME_COLUMNS = "pass the columns that the model was fitted on, in their order"
REOPEN = "open it with columns=model.feature_names_in_"


class DataTypeError(DataError, TypeError):
    """The data have an unsupported type; also a TypeError, as scikit-learn raises."""


def learn_columns(estimator: Any, X: Any, *, reset: bool, **options: Any) -> Any:
    """Set, or compare, number and names of the columns, by scikit-learn's `validate_data`."""
    fitted = None if reset else getattr(estimator, NAMES, None)
    others = False
    try:
        names = _get_feature_names(X)
        if names is not None and fitted is not None:
            others = list(names) != list(fitted)
        elif not reset:
            _check_width(estimator, X.shape[1])
        return validate_data(estimator, X, reset=reset, **options)
    except DataError:
        raise
    except (TypeError, ValueError) as error:
        if others:  # scikit-learn's message has a line for each column
            raise DataError(str(error).strip(), remedy=SAME_COLUMNS) from None
        kind = DataTypeError if isinstance(error, TypeError) else DataError
        raise kind(printable(" ".join(str(error).split()))) from None


def _check_width(estimator: Any, width: int) -> None:
    expected = estimator.n_features_in_
    if width != expected:
        rule = f"{type(estimator).__name__} is expecting {expected} features as input"
        raise DataError(f"X has {width} features", rule, SAME_COLUMNS)


def check_source(estimator: Any, source: RowSource, *, reset: bool) -> None:
    """Set, or compare, the number of features and their names, as scikit-learn does."""
    if reset:
        estimator.n_features_in_ = source.shape[1]
        set_names(estimator, source.columns)
        return
    model_named, rows_named = hasattr(estimator, NAMES), source.columns is not None
    if model_named and rows_named:
        refuse_other_names(estimator, source)
    else:
        _check_width(estimator, source.shape[1])
    if model_named != rows_named:
        found = "does not have valid" if model_named else "has"
        fit = f"{type(estimator).__name__} was fitted {'with' if model_named else 'without'}"
        warn_caller(FeatureNamesWarning(f"X {found} feature names, but {fit} feature names"))


def refuse_other_names(estimator: Any, source: RowSource, remedy: Phrase = REOPEN) -> None:
    """Refuse columns other than those of the fit, or in another order; both must have names."""
    fitted, given = list(getattr(estimator, NAMES)), list(source.columns or ())
    if given == fitted:
        return
    if missing := [column for column in fitted if column not in set(given)]:
        found = f"without column {missing[0]!r}, which the model was fitted to"
    elif unknown := [column for column in given if column not in set(fitted)]:
        found = f"with column {unknown[0]!r}, which the model was not fitted to"
    else:
        pairs = enumerate(zip(fitted, given, strict=False))
        k, (theirs, ours) = next((k, pair) for k, pair in pairs if len(set(pair)) > 1)
        found = f"with {ours!r} as column {k}, where the model has {theirs!r}"
    rule = "feature names should match those that were passed during fit, in the same order"
    raise DataError(f"{source.name} is read {found}", rule, remedy)


def set_names(estimator: Any, names: Sequence[str] | None) -> None:
    """Set the column names of a model; None removes them."""
    vars(estimator).pop(NAMES, None)
    if names is not None:
        setattr(estimator, NAMES, np.array(names, dtype=object))


def is_table(X: Any) -> bool:
    """Whether X is a data frame of any library."""
    return len(getattr(X, "shape", ())) == 2 and hasattr(X, "dtypes") and hasattr(X, "columns")


def column_names(X: Any) -> list[str] | None:
    """Column names of a data frame, if all are text; None for any other X."""
    if not is_table(X):
        return None
    if getattr(X.columns, "is_unique", None) is False:  # accepted by scikit-learn 1.6
        remedy = "give every column a unique name"
        raise DataError("X does not have unique column names", remedy=remedy)
    names = list(X.columns)
    return names if names and all(isinstance(name, str) for name in names) else None
