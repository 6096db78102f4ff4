"""Which columns of a Parquet or Arrow table are the rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from sphericalpca.exceptions import DataError, Parameter, Phrase, printable
from sphericalpca.rows.sources.filesource import DataFile, Options, optional
from sphericalpca.rows.sources.texts import encoding_of_column

__all__ = ["Selection", "select"]


@dataclass(frozen=True)
class Selection:
    """Columns of a table: one of lists, or several of numbers."""

    names: tuple[str, ...]
    storage: np.dtype[Any]  # of their numbers
    lists: bool
    length: int | None  # numbers of a row; None for lists if the schema does not give it
    others: Any = None  # the schema of all other columns


def select(schema: Any, options: Options, file: DataFile) -> Selection:
    """The columns that the options name, or the default columns."""
    types = {field.name: field.type for field in schema}
    selection = _selected(types, _index_of(schema), options, file)
    for name, count in Counter(schema.names).items():
        if count > 1 and name in selection.names:
            found = f"{file.name} has {count} columns {name!r}"
            raise DataError(found, "every column must have a unique name")
    others = [field for field in schema if field.name not in selection.names]
    return replace(selection, others=optional("pyarrow", "tables").schema(others))


def _index_of(schema: Any) -> set[str]:
    """The index of a data frame, which pandas writes as columns: identifiers of rows."""
    try:
        index = schema.pandas_metadata["index_columns"]
        named = {name for name in index if isinstance(name, str)}
    except (KeyError, RecursionError, TypeError, ValueError):  # none, or not from pandas
        named = set()
    # Other programs that copy the table drop the metadata of pandas, and keep the name.
    return named | {name for name in schema.names if re.fullmatch(r"__index_level_\d+__", name)}


def _selected(
    types: dict[str, Any], index: Collection[str], options: Options, file: DataFile
) -> Selection:
    if options.columns is not None:
        return _numbers(_spelled_out(options.columns, types, index), types, file)
    if options.column is not None:
        return _lists(options.column, types, file)
    vectors = [name for name, kind in types.items() if _is_vector(kind)]
    if options.names is not None and (types.keys() & set(options.names) or not vectors):
        return _numbers(options.names, types, file, fitted=True)
    if len(vectors) > 1:
        found = f"{file.name} has several columns of lists ({_listed(vectors)})"
        raise DataError(found, remedy=("name one of them with ", Parameter("column", ...)))
    if vectors:
        return _lists(vectors[0], types, file)
    numbers = tuple(n for n, kind in types.items() if _is_number(kind) and n not in index)
    texts = [name for name, kind in types.items() if _is_text(kind)]
    whole = [name for name in numbers if _arrow_types().is_integer(types[name])]
    if not numbers or (texts and len(whole) == len(numbers) == 1):  # a number of each text
        has = f"{' besides identifiers' if numbers else ''} (it has {_listed(types)})"
        found = f"{file.name} has no column of numbers or lists of numbers{has}"
        encode = encoding_of_column(file.path, texts[0]) if texts else "write one of these"
        raise DataError(found, remedy=encode)
    if 0 < len(whole) < len(numbers):  # may be row numbers, which would dominate all directions
        raise DataError(
            f"{file.name} has columns of whole numbers ({_listed(whole)}) besides others, which "
            "may be identifiers",
            remedy=(
                *("name those to read with ", Parameter("columns", ...)),
                "; 'x*' selects all that begin with x",
            ),
        )
    return _numbers(numbers, types, file)


def _spelled_out(
    names: tuple[str, ...], types: dict[str, Any], index: Collection[str]
) -> tuple[str, ...]:
    """Patterns replaced by the columns of numbers that match, in the order of the file."""
    found: list[str] = []
    for name in names:
        matches = [other for other in types if fnmatchcase(other, name)]
        numbers = [other for other in matches if _is_number(types[other]) and other not in index]
        found += [name] if name in types or not numbers else numbers
    return tuple(found)


def _lists(name: str, types: dict[str, Any], file: DataFile) -> Selection:
    kind = _type_of(name, types, file)
    if not _is_vector(kind):
        raise DataError(
            f"Column {name!r} of {file.name} is of type {printable(kind, 200)}",
            "rows are lists of numbers",
            encoding_of_column(file.path, name)
            if _is_text(kind)
            else ("name such a column, or columns of numbers with ", Parameter("columns", ...)),
        )
    length = kind.list_size if _arrow_types().is_fixed_size_list(kind) else None
    return Selection((name,), _number_type(kind.value_type), lists=True, length=length)


def _numbers(
    names: tuple[str, ...], types: dict[str, Any], file: DataFile, *, fitted: bool = False
) -> Selection:
    """Columns of numbers; `fitted` if they are those of a model."""
    storage = []
    for name in names:
        kind = _type_of(name, types, file, fitted=fitted)
        if not _is_number(kind):
            remedy: Phrase = ("leave it out of ", Parameter("columns"), ", or convert it")
            if fitted:
                remedy = "the model was fitted to it, so convert it"
            elif len(names) == 1 and _is_text(kind):
                remedy = encoding_of_column(file.path, name)
            found = f"Column {name!r} of {file.name} is of type {printable(kind, 200)}"
            raise DataError(found, "must hold numbers", remedy)
        storage.append(_number_type(kind))
    if len(set(names)) < len(names) or not names:
        raise DataError(Parameter("columns", list(names)), "must name columns, each once")
    return Selection(names, np.result_type(*storage), lists=False, length=len(names))


def _type_of(name: str, types: dict[str, Any], file: DataFile, *, fitted: bool = False) -> Any:
    if name not in types:
        found, remedy = f"{file.name} has no column {name!r}", f"it has {_listed(types)}"
        if fitted:
            found += ", which the model was fitted to"
            remedy += "; pass a file that has all columns of the fit"
        elif set(name) & set("*?["):
            found = f"No column of numbers in {file.name} matches {name!r}"
        raise DataError(found, remedy=remedy)
    return types[name]


def _arrow_types() -> Any:
    return optional("pyarrow.types", "Parquet and Arrow files")


def _is_number(kind: Any) -> bool:
    types = _arrow_types()
    return bool(types.is_integer(kind) or types.is_floating(kind))


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string")


def _is_vector(kind: Any) -> bool:
    types = _arrow_types()
    lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(lists and _is_number(kind.value_type))


def _number_type(kind: Any) -> np.dtype[Any]:
    return np.result_type(kind.to_pandas_dtype())


def _listed(names: Iterable[str], most: int = 10) -> str:
    names = list(names)
    rest = [f"and {len(names) - most} more"] if len(names) > most else []
    return ", ".join([*map(repr, names[:most]), *rest])
