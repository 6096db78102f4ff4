"""Write vectors to files atomically, a block at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sphericalpca.exceptions import DataError, Parameter
from sphericalpca.files import replacing
from sphericalpca.linalg import Array
from sphericalpca.registry import resolve
from sphericalpca.registry.formats import format_of, writable_suffixes
from sphericalpca.rows import RowSource
from sphericalpca.rows.sources.chain import ChainedRows
from sphericalpca.rows.sources.filesource import optional
from sphericalpca.rows.sources.table import TableRows

__all__ = [
    "are_tables",
    "arrow_writer",
    "carried_columns",
    "npy_writer",
    "open_writer",
    "parquet_writer",
]


class Carried:
    """Columns other than the vectors, read in the order of the rows."""

    def __init__(self, schema: Any, batches: Generator[Any, None, None]) -> None:
        self.schema = schema
        self._batches = batches
        self._rest: Any = None

    def take(self, rows: int) -> list[Any]:
        """Record batches with this many rows in total."""
        taken: list[Any] = []
        while rows > 0:
            batch = self._rest if self._rest is not None else next(self._batches)
            taken.append(batch.slice(0, rows))
            self._rest = batch.slice(rows) if batch.num_rows > rows else None
            rows -= taken[-1].num_rows
        return taken

    def close(self) -> None:
        """Close the file read last, which the traceback of an error would keep open."""
        self._batches.close()


def carried_columns(source: RowSource, names: Sequence[str] | None = None) -> Carried | None:
    """Columns of the tables besides the vectors, all or those named; None if there are none."""
    tables = [part for part in _parts(source) if isinstance(part, TableRows)]
    others = [part for part in _parts(source) if not isinstance(part, TableRows)]
    if others:
        _refuse_names(names, others[0], [])
        _refuse_lost_columns(tables, others[0], names)
        return None
    schema = _chosen(tables[0], names)
    for table in tables[1:]:
        if not _chosen(table, names).equals(schema):
            found = f"{table.name} and {tables[0].name} have different columns besides the vectors"
            remedy = ("select columns that all files have with ", Parameter("keep", ...))
            raise DataError(found, remedy=remedy)
    return Carried(schema, _batches(tables, schema.names)) if len(schema) else None


def are_tables(source: RowSource) -> bool:
    """Whether all files of a source are tables."""
    return all(isinstance(part, TableRows) for part in _parts(source))


def _parts(source: RowSource) -> list[RowSource]:
    return source.parts if isinstance(source, ChainedRows) else [source]


def _batches(tables: Sequence[TableRows], names: Sequence[str]) -> Generator[Any, None, None]:
    for table in tables:
        yield from table.other_batches(names)


def _chosen(table: TableRows, names: Sequence[str] | None) -> Any:
    if names is None:
        return table.others
    _refuse_names(names, table, table.others.names)
    return optional("pyarrow", "tables").schema([table.others.field(name) for name in names])


def _refuse_lost_columns(
    tables: Sequence[TableRows], bare: RowSource, names: Sequence[str] | None
) -> None:
    """Refuse to drop identifiers, for all files, because some files have none."""
    for table in tables if names is None else ():
        if len(table.others):
            listed = ", ".join(map(repr, table.others.names))
            found = f"{table.name} has columns besides its vectors ({listed})"
            remedy = ("transform them separately, or pass ", Parameter("keep", []))
            raise DataError(found, f"{bare.name} has none", remedy)


def _refuse_names(names: Sequence[str] | None, source: RowSource, there: Sequence[str]) -> None:
    missing = [name for name in names or () if name not in there]
    if missing:
        known = f"it has {', '.join(map(repr, there))}" if there else "it has none"
        found = f"{source.name} has no column {missing[0]!r} besides its vectors"
        raise DataError(found, remedy=known)


_optional = partial(optional, doing="Writing")


@dataclass(frozen=True)
class Writer:
    """Takes vectors, a block at a time."""

    write: Callable[[Any], object]


@contextmanager
def open_writer(
    path: Path, shape: tuple[int, int], dtype: Any, *, name: str = "vector", carried: Any = None
) -> Iterator[Writer]:
    """A writer whose file appears when it is complete.

    A table has a column `name` for vectors and the columns `carried`, which are closed at the end.
    """
    known = format_of(path)
    if known is None or not known.writer:
        raise DataError(
            f"{str(path)!r} has the suffix {path.suffix.lower()!r}",
            f"vectors are written to {', '.join(writable_suffixes())}",
            "choose one of these",
        )
    make: Callable[..., AbstractContextManager[Writer]] = resolve(known.writer)
    with (
        nullcontext() if carried is None else closing(carried),
        replacing(path) as temporary,
        make(temporary, shape, dtype, name, carried) as writer,
    ):
        yield writer


@contextmanager
def npy_writer(
    path: Path, shape: tuple[int, int], dtype: Any, _name: str, _carried: Carried | None
) -> Iterator[Writer]:
    """A writer of ``.npy`` files, which have no columns."""
    header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        # Not tofile, which does not report why it failed.
        yield Writer(lambda V: file.write(np.ascontiguousarray(V).data))


@contextmanager
def parquet_writer(
    path: Path, shape: tuple[int, int], dtype: Any, name: str, carried: Carried | None
) -> Iterator[Writer]:
    """A writer of Parquet files."""
    schema = _schema(shape[1], dtype, name, carried)
    # Vectors hardly compress, and dictionaries do not help.
    options = {"compression": {name: "NONE"}, "use_dictionary": schema.names[:-1]}
    parquet = _optional("pyarrow.parquet", "Parquet files")
    with parquet.ParquetWriter(str(path), schema, **options) as file:
        yield Writer(partial(_write_table, file, schema, carried))


@contextmanager
def arrow_writer(
    path: Path, shape: tuple[int, int], dtype: Any, name: str, carried: Carried | None
) -> Iterator[Writer]:
    """A writer of Arrow IPC files."""
    schema = _schema(shape[1], dtype, name, carried)
    with _optional("pyarrow.ipc", "Arrow files").new_file(str(path), schema) as file:
        yield Writer(partial(_write_table, file, schema, carried))


def _schema(length: int, dtype: Any, name: str, carried: Carried | None) -> Any:
    """The schema: carried columns, then the vectors."""
    pyarrow = _optional("pyarrow", "Parquet and Arrow files")
    others = [] if carried is None else list(carried.schema)
    if any(field.name == name for field in others):
        remedy = ("give the new vectors another ", Parameter("name"), ", or drop that column")
        raise DataError(f"The input has a column {name!r} besides its vectors", remedy=remedy)
    kind = pyarrow.list_(pyarrow.from_numpy_dtype(np.dtype(dtype)), length)
    return pyarrow.schema([*others, pyarrow.field(name, kind)])


def _write_table(file: Any, schema: Any, carried: Carried | None, V: Array) -> None:
    pyarrow = _optional("pyarrow", "Parquet and Arrow files")
    values = pyarrow.array(np.ascontiguousarray(V).ravel())
    columns = [pyarrow.FixedSizeListArray.from_arrays(values, V.shape[1])]
    if carried is not None:
        others = pyarrow.Table.from_batches(carried.take(len(V)), carried.schema)
        columns = [*others.columns, *columns]
    file.write_table(pyarrow.table(columns, names=schema.names).cast(schema))
