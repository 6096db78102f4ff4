"""Rows in files: the contract that every format keeps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from typing import Any, NoReturn

import numpy as np

from sphericalpca.rows.block import Matrix

__all__ = ["RowSource"]


class RowSource(ABC):
    """A matrix in one or several files, read anew in every pass.

    It holds no open file: whoever reads opens what is needed, and closes it again.

    Attributes
    ----------
    shape : (n, m)
    dtype : float32 or float64
        The type of what `read` returns; float16 and small integers are widened to float32.
    stored : int
        How many numbers the rows hold; zeros of sparse rows are not held.
    name : str
        What messages call it.
    memory_budget : int
        How many bytes its readers may use together.
    columns : tuple of str or None
        Names of its columns, where it has names: files that are one matrix must have the same, and
        a model that was fitted to named columns wants these, in their order.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    stored: int
    name: str
    memory_budget: int
    columns: tuple[str, ...] | None = None

    @property
    @abstractmethod
    def row_bytes(self) -> float:
        """What a row takes in memory as `read` returns it; the mean over sparse rows."""

    @property
    def extra_row_bytes(self) -> float:
        """What a reader needs beside that for each row of a block, to convert it."""
        return 0.0

    @property
    def reader_bytes(self) -> int:
        """What a reader needs however few rows it returns at a time."""
        return 0

    @property
    @abstractmethod
    def cuts(self) -> Sequence[int]:
        """0, ..., n: where a reader can begin without reading what comes before.

        Rows that can be reached directly need no cut of their own: see `any_row`.
        """

    @property
    def any_row(self) -> bool:
        """Whether a reader can begin at any row, not only at the cuts."""
        return False

    @abstractmethod
    def read(self, span: slice, rows: int) -> Generator[Matrix, None, None]:
        """Arrays or CSR matrices of at most `rows` rows each, the rows of `span` in order.

        Several threads may read at the same time.  What was returned may be overwritten once the
        matrix after the next was asked for: readers may take turns with two buffers.
        A file that ends early, or holds something else than numbers, is a `DataError` that
        names it and the row.  Closing the generator closes its files.
        """

    @abstractmethod
    def check_unchanged(self) -> None:
        """Raise a `DataError` if a file is not the one that was opened any more."""

    @abstractmethod
    def place(self, row: int) -> str:
        """Where a row is, in words: ``row 17 of 'part-3.parquet'``."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        """Refuse to be loaded unasked: NumPy would else make an array of one object."""
        raise self._refusal()

    def __getitem__(self, rows: Any) -> NoReturn:
        """Refuse to be indexed, and to be iterated over."""
        raise self._refusal()

    def _refusal(self) -> TypeError:
        return TypeError(
            f"{self!r} stay in their files and are no array: pass them as they are to "
            "SphericalPCA, whose fit and transform read them in blocks, or load the files with "
            "numpy.load, pandas.read_parquet or the like if they fit in memory."
        )

    def __repr__(self) -> str:
        n, m = self.shape
        return f"<{n} x {m} {self.dtype} rows of {self.name}>"
