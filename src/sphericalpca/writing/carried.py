"""The other columns of a table, carried from the input to the output."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from sphericalpca.exceptions import DataError
from sphericalpca.rows import RowSource
from sphericalpca.rows.sources.chain import ChainedRows
from sphericalpca.rows.sources.filesource import optional
from sphericalpca.rows.sources.table import TableRows

__all__ = ["Carried", "carried_columns"]


class Carried:
    """Columns beside the vectors, taken row by row in their order.

    Attributes
    ----------
    schema : pyarrow.Schema
    """

    def __init__(self, schema: Any, batches: Generator[Any, None, None]) -> None:
        self.schema = schema
        self._batches = batches
        self._rest: Any = None

    def take(self, rows: int) -> list[Any]:
        """Record batches of exactly so many rows together."""
        taken: list[Any] = []
        while rows > 0:
            batch = self._rest if self._rest is not None else next(self._batches)
            taken.append(batch.slice(0, rows))
            self._rest = batch.slice(rows) if batch.num_rows > rows else None
            rows -= taken[-1].num_rows
        return taken

    def close(self) -> None:
        """Close the file that was read last: an error would keep it open in its traceback."""
        self._batches.close()


def carried_columns(source: RowSource, names: Sequence[str] | None = None) -> Carried | None:
    """The columns of a source's tables that are not its vectors; None where there are none.

    Parameters
    ----------
    source : RowSource
    names : sequence of str, optional
        Which ones; all by default.
    """
    parts = source.parts if isinstance(source, ChainedRows) else [source]
    tables = [part for part in parts if isinstance(part, TableRows)]
    others = [part for part in parts if not isinstance(part, TableRows)]
    if others:
        _refuse_names(names, others[0], [])
        _refuse_lost_columns(tables, others[0], names)
        return None
    schema = _chosen(tables[0], names)
    for table in tables[1:]:
        if not _chosen(table, names).equals(schema):
            raise DataError(
                f"{table.name} and {tables[0].name} have other columns beside the vectors: name "
                "those to be kept that all files have."
            )
    if len(schema) == 0:
        return None
    return Carried(schema, _batches(tables, schema.names))


def _batches(tables: Sequence[TableRows], names: Sequence[str]) -> Generator[Any, None, None]:
    for table in tables:
        yield from table.other_batches(names)


def _chosen(table: TableRows, names: Sequence[str] | None) -> Any:
    schema = table.other_schema()
    if names is None:
        return schema
    _refuse_names(names, table, schema.names)
    return optional("pyarrow", "tables").schema([schema.field(name) for name in names])


def _refuse_lost_columns(
    tables: Sequence[TableRows], bare: RowSource, names: Sequence[str] | None
) -> None:
    """Identifiers that only some files have would be lost for all: that is for users to say."""
    for table in tables if names is None else ():
        schema = table.other_schema()
        if len(schema):
            raise DataError(
                f"{table.name} has columns beside its vectors ({', '.join(map(repr, schema.names))}"
                f"), but {bare.name} has none: transform them apart, or keep no columns (keep=[], "
                "or --keep '')."
            )


def _refuse_names(names: Sequence[str] | None, source: RowSource, there: Sequence[str]) -> None:
    missing = [name for name in names or () if name not in there]
    if missing:
        known = f"it has {', '.join(map(repr, there))}" if there else "it has none"
        raise DataError(f"{source.name} has no column {missing[0]!r} beside its vectors: {known}.")
