"""Several files as one matrix."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Generator, Sequence

import numpy as np

from sphericalpca.exceptions import DataError, Parameter, counted
from sphericalpca.rows.block import Matrix
from sphericalpca.rows.reading import RowSource

__all__ = ["ChainedRows", "chain"]


def chain(files: Sequence[RowSource]) -> RowSource:
    """The rows of all files, one file after another; empty files are left out."""
    parts = [file for file in files if file.shape[0] > 0]
    if not parts:
        words = "holds" if len(files) == 1 else "and the other files hold"
        raise DataError(f"{files[0].name} {words} no rows", remedy="pass a file that has rows")
    for part in parts:
        _check_alike(parts[0], part)
    # All are computed in the widest of their types.
    dtype = np.result_type(*{part.dtype for part in parts})
    for part in parts:
        part.dtype = dtype
    return parts[0] if len(parts) == 1 else ChainedRows(parts)


def _check_alike(first: RowSource, other: RowSource) -> None:
    m = other.shape[1]
    if m < 1:
        raise DataError(f"{other.name} has no columns", "rows need at least one number")
    if m != first.shape[1]:
        found = f"{other.name} has {counted(m, 'column')}"
        rule = f"{first.name} has {first.shape[1]}"
        raise DataError(found, rule, "files that form one matrix must have the same columns")
    if (other.columns is None) != (first.columns is None):
        named, bare = (first, other) if other.columns is None else (other, first)
        raise DataError(
            f"{named.name} has names for its columns",
            f"{bare.name} has none, so they cannot be compared",
            "convert one of them",
        )
    if other.columns != first.columns:
        found = f"{other.name} and {first.name} have different columns, or in a different order"
        raise DataError(found, remedy=("name those to read with ", Parameter("columns", ...)))


class ChainedRows(RowSource):
    """The rows of several sources, in their order; all have the same columns and type."""

    def __init__(self, parts: Sequence[RowSource]) -> None:
        self.parts = list(parts)
        self._ends = [0, *itertools.accumulate(part.shape[0] for part in self.parts)]
        self.shape = (self._ends[-1], self.parts[0].shape[1])
        self.dtype = self.parts[0].dtype
        self.columns = self.parts[0].columns
        self.stored = sum(part.stored for part in self.parts)
        self.memory_budget = self.parts[0].memory_budget
        self.reader_bytes = max(part.reader_bytes for part in self.parts)
        self.any_row = all(part.any_row for part in self.parts)
        # The number, in the whole matrix, of the first row of each file.
        self._placed = list(zip(self._ends, self.parts, strict=False))
        self.cuts = sorted({a + cut for a, part in self._placed for cut in part.cuts})
        self.name = f"{len(self.parts)} files from {self.parts[0].name} to {self.parts[-1].name}"

    @property
    def row_bytes(self) -> float:
        """The maximum over the files."""
        return max(part.row_bytes for part in self.parts)

    @property
    def extra_row_bytes(self) -> float:
        """The maximum over the files."""
        return max(part.extra_row_bytes for part in self.parts)

    def read(self, span: slice, rows: int) -> Generator[Matrix, None, None]:
        """Blocks of one file after another."""
        for begin, part in self._placed:
            first = max(span.start - begin, 0)
            last = min(span.stop - begin, part.shape[0])
            if first < last:
                yield from part.read(slice(first, last), rows)

    def check_unchanged(self) -> None:
        """Raise a `DataError` if a file has changed since it was opened."""
        for part in self.parts:
            part.check_unchanged()

    def place(self, row: int) -> str:
        """The location of a row, for messages."""
        k = min(bisect_right(self._ends, row), len(self.parts)) - 1
        return self.parts[k].place(row - self._ends[k])
