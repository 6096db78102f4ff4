"""Open files of rows by path."""

from __future__ import annotations

import glob
import math
import os
import re
from collections.abc import Iterable, Sequence
from numbers import Real
from operator import attrgetter
from pathlib import Path
from typing import Any

from sphericalpca.exceptions import ArgumentTypeError, DataError, Parameter, ParameterError
from sphericalpca.registry import MODEL_SUFFIX, resolve
from sphericalpca.registry.formats import FORMATS, Format, format_of, row_suffixes, titles
from sphericalpca.rows.reading import RowSource
from sphericalpca.rows.sources.chain import chain
from sphericalpca.rows.sources.filesource import DataFile, Options
from sphericalpca.rows.sources.texts import CLUSTER, SEPARATORS, conversion

__all__ = ["find_paths", "natural_order", "open_rows", "open_rows_for", "parse_budget"]


def open_rows(
    path: Any,
    *,
    column: str | None = None,
    columns: Sequence[str] | None = None,
    key: str | None = None,
    memory_budget: int | str = "512MB",
) -> RowSource:
    """Open a matrix in files, to fit it without loading it.

    Only headers are read here.  Each pass of a fit reads the rows again, in blocks and in bounded
    memory.  The files must not change until the fit has ended.

    Parameters
    ----------
    path : path, pattern or list of those
        Several files are one matrix, in the order given; those that match a pattern such as
        ``"part-*.parquet"`` in natural order.  The format follows from the suffix:

        {formats}
    column : str, optional
        Column of a Parquet or Arrow file that holds the rows as lists of one length.  Optional
        if there is only one such column.
    columns : list of str, optional
        Columns of numbers of a Parquet or Arrow file, by name or by pattern such as ``"x*"``.  If
        there is no column of lists, all columns of numbers by default, without the index of a data
        frame; integers beside floats may be identifiers, so they must be named.  A model that was
        fitted to named columns needs them in that order: pass its ``feature_names_in_``.
    key : str, optional
        Data set of an HDF5 file, by default ``"train"``, or array of an ``.npz`` file; otherwise
        the only one that is 2-D and numeric.
    memory_budget : int or str, default="512MB"
        Maximum memory of all blocks, in bytes or as text such as ``"2GB"``.  Lengths and weights
        take about 40 bytes per row in addition, besides the memory of the solver.

    Returns
    -------
    rows : RowSource
        With `shape` and `dtype`; pass it as X to `SphericalPCA`.  float16 and integers
        of up to 16 bits are computed in float32; float64 and larger integers in float64.

    Raises
    ------
    DataError
        If a file does not exist, its format is not supported, or it is damaged or ambiguous.
    MissingExtraError
        If the package that reads the format is missing.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from sphericalpca import SphericalPCA, open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/rows.npy", np.random.default_rng(0).random((1000, 20)))
    ...     rows = open_rows(f"{folder}/rows.npy")
    ...     SphericalPCA(n_components=3).fit(rows).transform(rows).shape
    (1000, 3)
    """
    return open_rows_for(
        None, path, column=column, columns=columns, key=key, memory_budget=memory_budget
    )


_FORMATS = ";\n        ".join(
    f"- {', '.join(f'``{suffix}``' for suffix in known.suffixes)}: {known.description}"
    for known in FORMATS.values()
)
open_rows.__doc__ = (open_rows.__doc__ or "").replace("{formats}", f"{_FORMATS}.")


def open_rows_for(
    names: Sequence[str] | None,
    path: Any,
    *,
    column: str | None,
    columns: Sequence[str] | None,
    key: str | None,
    memory_budget: int | str,
) -> RowSource:
    """Like `open_rows`, for a model that was fitted to columns of these names.

    These columns are read from a table that has any of them, or no column of lists, unless others
    are chosen.
    """
    if isinstance(columns, str):
        remedy = ("pass ", Parameter("columns", [columns]))
        raise ArgumentTypeError(Parameter("columns", columns), "must be a list", remedy)
    chosen, known = (None if one is None else tuple(one) for one in (columns, names))
    options = Options(column, chosen, key, parse_budget(memory_budget), known)
    if column is not None and columns is not None:
        raise ParameterError(
            (Parameter("column", column), " names a column of lists"),
            (Parameter("columns", columns), " names columns of numbers"),
            "pass one of the two",
        )
    return chain([_open(path, options) for path in find_paths(path)])


def _open(path: Path, options: Options) -> RowSource:
    file, known, suffix = DataFile.at(path), format_of(path), path.suffix.lower()
    if suffix == MODEL_SUFFIX:
        found = f"{file.name} has the suffix of a model, not of rows"
        raise DataError(found, remedy="pass the file of rows here")
    if known is None:
        found = f"Cannot read {file.name}. Supported: {', '.join(row_suffixes())}."
        remedy = f"{CLUSTER}, or convert it" if suffix in (".jsonl", ".gz") else "convert it"
        raise DataError(found, remedy=conversion(path) if suffix in SEPARATORS else remedy)
    _refuse_foreign(file, options, known)
    source: RowSource = resolve(known.opener)(file, options)
    return source


def _refuse_foreign(file: DataFile, options: Options, known: Format) -> None:
    """Refuse options that do not apply to this format."""
    for name, trait in (("column", "table"), ("columns", "table"), ("key", "key")):
        suits, given = attrgetter(trait), getattr(options, name)
        if given is not None and not suits(known):
            given = list(given) if name == "columns" else given
            found = (Parameter(name, given), f" is for {titles(suits)} files")
            raise DataError(found, f"{file.name} is not one", "leave it out")


def find_paths(path: Any) -> list[Path]:
    """The files of a path, a pattern (in natural order) or a list of those, in the order given."""
    if isinstance(path, (str, os.PathLike)):
        return _matches(os.fspath(path))
    if not isinstance(path, Iterable) or isinstance(path, (bytes, dict)):
        rule = "must be a path, a pattern or a list of those"
        raise ArgumentTypeError(f"path is a {type(path).__name__}", rule)
    paths = [found for item in path for found in find_paths(item)]
    if not paths:
        raise DataError("The list of paths is empty", remedy="name at least one file")
    return paths


def _matches(path: str | bytes) -> list[Path]:
    text = os.fsdecode(path)
    # File names may contain brackets.
    if not glob.has_magic(text) or os.path.lexists(text):
        return [Path(text)]
    # Unlike Path.glob, this accepts absolute patterns.
    names = glob.iglob(text, recursive=True)  # noqa: PTH207
    found = [name for name in names if not Path(name).is_dir()]
    if not found:
        raise DataError(f"No file matches the pattern {text!r}", remedy="check the path")
    return [Path(name) for name in sorted(found, key=natural_order)]


def natural_order(name: str) -> list[Any]:
    """A sort key that orders numbers inside names by their value."""
    parts = re.split(r"([0-9]+)", name)
    return [int(part) if k % 2 else part for k, part in enumerate(parts)]


UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
UNITS |= {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
SIZE = re.compile(r"\s*(\d+(?:\.\d+)?(?:e\d{1,2})?)\s*([kmgt]?|[kmgt]i)b?\s*", re.IGNORECASE)


def parse_budget(memory_budget: Any) -> int:
    """Bytes, from ``536870912``, ``2e9``, ``"512MB"``, ``"1.5 GB"`` or ``"2GiB"``."""
    size = memory_budget
    if isinstance(size, str) and (found := SIZE.fullmatch(size)):
        size = int(float(found[1]) * UNITS[found[2].lower()])
    is_number = isinstance(size, Real) and not isinstance(size, bool)
    if is_number and 1 <= size < math.inf and size == int(size):
        return int(size)
    raise ParameterError(
        Parameter("memory_budget", memory_budget),
        "must be a positive number of bytes, or text such as '512MB' or '2GB'",
    )
