"""Rows on disk: flat CSV files, rewritten atomically after each case."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sphericalpca.files import write_whole

__all__ = ["ResultTable", "Row", "number"]

Row = dict[str, Any]


@dataclass(frozen=True)
class ResultTable:
    """A CSV file of rows.

    Attributes
    ----------
    path : Path
    columns : sequence of str
    key : sequence of str
        New rows replace old ones that agree with them in these columns.
    """

    path: Path
    columns: Sequence[str]
    key: Sequence[str]

    def read(self) -> list[Row]:
        """All rows as text; none if there is no file."""
        if not self.path.exists():
            return []
        with self.path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if reader.fieldnames != list(self.columns):
                raise ValueError(
                    f"{self.path.name} has other columns than this version writes: "
                    "remove it, or choose another folder with --out DIR."
                )
            return list(reader)

    def replace(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows, in the place of old ones with the same key."""
        new = [{name: _text(row.get(name)) for name in self.columns} for row in rows]
        keys = {self._key(row) for row in new}
        kept = [row for row in self.read() if self._key(row) not in keys]
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept + new)
        write_whole(self.path, buffer.getvalue().encode())

    def add_missing(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows whose key is not there yet; what was measured before stays."""
        there = {self._key(row) for row in self.read()}
        new = [row for row in rows if tuple(_text(row[name]) for name in self.key) not in there]
        if new:
            self.replace(new)

    def _key(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.key)


def number(row: Mapping[str, Any], column: str) -> float:
    """A number read from a row; NaN for an empty cell."""
    return float(row[column]) if row[column] != "" else float("nan")


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.12g}"
    return "" if value is None else str(value)
