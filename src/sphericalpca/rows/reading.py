"""Rows in files: the interface of all formats, and how they are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Lock
from typing import Any, NoReturn, TypeVar

import numpy as np
from scipy import sparse

from sphericalpca.exceptions import DataError, Parameter, counted
from sphericalpca.parallel import equal_ends
from sphericalpca.rows.block import Matrix
from sphericalpca.rows.finite import column_words, first_non_finite

__all__ = [
    "RowSource",
    "best_block_rows",
    "load_rows",
    "part_ends",
    "read_blocks",
    "refuse_non_finite",
]


class RowSource(ABC):
    """A matrix in one or several files, read anew in every pass.

    It keeps no files open: readers open the files they need and close them again.

    Attributes
    ----------
    shape : (n, m)
    dtype : float32 or float64, of what is read
    stored : how many numbers the rows hold, without zeros of sparse rows
    name : its name in messages
    memory_budget : maximum number of bytes of all readers together
    columns : their names, or None; all files of a matrix, and a model fitted to it, have the same
    cuts : 0, ..., n, the rows where a reader can begin without reading earlier rows
    any_row : whether a reader can begin at any row, not only at the cuts
    reader_bytes : memory of a reader, however few rows it returns at a time
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    stored: int
    name: str
    memory_budget: int
    columns: tuple[str, ...] | None = None
    cuts: Sequence[int]
    any_row: bool = False
    reader_bytes: int = 0

    @property
    @abstractmethod
    def row_bytes(self) -> float:
        """Memory of a row as `read` returns it; the mean over sparse rows."""

    @property
    def extra_row_bytes(self) -> float:
        """Further memory that a reader needs to convert a row of a block."""
        return 0.0

    @abstractmethod
    def read(self, span: slice, rows: int) -> Generator[Matrix, None, None]:
        """Arrays or CSR matrices of at most `rows` rows each, the rows of `span` in order.

        Several threads may read at the same time.  A matrix may be overwritten once the matrix
        after the next is requested: readers may alternate between two buffers.
        A file that ends early, or holds anything but numbers, raises a `DataError` that
        names it and the row.  Closing the generator closes its files.
        """

    @abstractmethod
    def check_unchanged(self) -> None:
        """Raise a `DataError` if a file has changed since it was opened."""

    def place(self, row: int) -> str:
        """Where a row is, in words: ``row 17 of 'part-3.parquet'``."""
        return f"row {row} of {self.name}"

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse implicit conversion: NumPy would create an array of one object."""
        raise TypeError(
            f"{self!r} are stored in files and cannot be used as an array: pass them to "
            "SphericalPCA, whose fit and transform read them in blocks, or load the files with "
            "numpy.load or pandas.read_parquet if they fit in memory."
        )

    __array__ = __getitem__ = _refuse

    def __repr__(self) -> str:
        n, m = self.shape
        return f"<{n} x {m} {self.dtype} rows of {self.name}>"


# As in memory: blocks of a few megabytes serve both products of a pass from cache, and each
# adds an m x r matrix to the sum, so it should hold many more numbers than there are columns.
BLOCK_ENTRIES = 2_000_000
SPARSE_BLOCK_ENTRIES = 500_000
SPARSE_ENTRIES_PER_COLUMN = 16
# Blocks in memory for each part: the current one, the next one, and a centred copy.
BLOCKS_ALIVE = 3
# Projections of a block take memory, too: of up to this many components.
COMPONENTS = 256

Item = TypeVar("Item")


def best_block_rows(source: RowSource, readers: int) -> int:
    """Number of rows of a block: the best one, or fewer if the budget is small."""
    n, m = source.shape
    best = BLOCK_ENTRIES
    if source.stored < n * m:
        best = max(SPARSE_BLOCK_ENTRIES, SPARSE_ENTRIES_PER_COLUMN * m)
    projection = min(m, COMPONENTS) * source.dtype.itemsize
    per_row = BLOCKS_ALIVE * source.row_bytes + source.extra_row_bytes + projection
    room = source.memory_budget / readers - source.reader_bytes
    if room < per_row:
        needed = int(readers * (source.reader_bytes + per_row)) + 1
        threads = "1 thread" if readers == 1 else f"{readers} threads"
        smaller = ", or write the file in smaller row groups, record batches or chunks"
        raise DataError(
            (Parameter("memory_budget"), f" is {counted(source.memory_budget, 'byte')}"),
            f"reading {source.name} on {threads} takes at least {needed}",
            f"raise it{smaller if source.reader_bytes > per_row else ''}",
        )
    return max(1, int(min(best * n / max(source.stored, 1), room / per_row)))


def part_ends(source: RowSource, count: int) -> list[int]:
    """0, ..., n: the ends of at most this many parts, of about equal length, none empty."""
    n = source.shape[0]
    ends = equal_ends(n, min(count, n))
    if not source.any_row:
        ends = sorted({min((abs(cut - end), cut) for cut in source.cuts)[1] for end in ends})
    return ends


def read_blocks(
    source: RowSource, span: slice, rows: int
) -> Generator[tuple[slice, Matrix], None, None]:
    """The rows of `span` in blocks of at most this many, each with its span.

    A block may be overwritten when the next but one is requested.
    """
    first = span.start
    with closing(ahead(source.read(span, rows))) as matrices:
        for matrix in matrices:
            block = slice(first, first + matrix.shape[0])
            yield block, matrix
            first = block.stop
    source.check_unchanged()
    if first != span.stop:
        raise DataError(
            f"{source.name} ended before {source.place(first)}",
            f"had {source.shape[0]} rows when it was opened",
            "do not change files during a fit",
        )


def load_rows(source: RowSource, limit: int) -> Matrix:
    """The first rows, at most this many, in memory."""
    span = slice(0, min(limit, source.shape[0]))
    # Readers reuse their buffers.
    parts = [part.copy() for part in source.read(span, best_block_rows(source, 1))]
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)


def ahead(items: Generator[Item, None, None]) -> Generator[Item, None, None]:
    """Yield the items; another thread fetches the next one while one is in use.

    Whatever happens, the thread ends and the generator of the items is closed.
    """
    nothing: Any = object()
    # Ctrl-C while the thread is started makes the executor forget it, and start another.
    one_at_a_time = Lock()

    def fetch() -> Any:
        with one_at_a_time:
            return next(items, nothing)

    def close() -> None:
        with one_at_a_time:
            items.close()

    with ThreadPoolExecutor(1) as reader:
        try:
            coming = reader.submit(fetch)
            while (item := coming.result()) is not nothing:
                coming = reader.submit(fetch)
                yield item
        finally:
            # Closed by the thread that may still be reading: Ctrl-C can interrupt any wait for it.
            reader.submit(close).result()


def refuse_non_finite(source: RowSource, first: int, matrix: Matrix) -> None:
    """Raise an error naming file, row and column of a NaN or infinity; `first` is the first row."""
    place = first_non_finite(matrix)
    if place is not None:
        row, column, value = place
        where = f"{source.place(first + row)}, {column_words(column, source.columns)}"
        found = f"X contains {value} in {where}"
        raise DataError(found, "every entry must be finite", "repair or drop that row")
