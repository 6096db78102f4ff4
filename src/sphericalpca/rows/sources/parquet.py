"""Parquet files, a record batch at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sphericalpca.rows.sources.columns import select
from sphericalpca.rows.sources.filesource import DataFile, FileSource, Options, optional
from sphericalpca.rows.sources.table import TableRows, list_length

__all__ = ["open_parquet"]

# Bytes that are read ahead of every column; without a limit whole row groups would be.
READ_AHEAD = 256 * 1024
# Memory of a column while it is decoded: a page of the usual size, packed and unpacked.
PAGES = 2 * 2**20
# Each number of a list has levels of repetition and definition, two bytes each.
LEVELS = 4


def open_parquet(file: DataFile, options: Options) -> FileSource:
    """The rows of a Parquet file."""
    with file.being_read(), _parquet(file) as parquet:
        selection = select(parquet.schema_arrow, options, file)
        first = parquet.iter_batches(batch_size=1, columns=list(selection.names))
        length = list_length(file, selection, first)
        found = parquet.metadata
        groups = [found.row_group(k) for k in range(found.num_row_groups)]
        lengths = [group.num_rows for group in groups]
        if min(lengths, default=0) < 0 or sum(lengths) != found.num_rows:
            raise ValueError(f"it has {found.num_rows} rows, in groups of {lengths[:10]}")
        ends = [0, *itertools.accumulate(lengths)]
        source = ParquetRows(file, selection, ends, length, options.memory_budget)
        if groups:
            # Columns have more information, but the library crashes where they are damaged.
            decoding = PAGES * len(selection.names)
            source.reader_bytes = min(int(groups[0].total_byte_size), decoding)
    return source


@contextmanager
def _parquet(file: DataFile) -> Iterator[Any]:
    arrow = optional("pyarrow", "Parquet files")
    parquet = optional("pyarrow.parquet", "Parquet files")
    safe = {"pre_buffer": False, "buffer_size": READ_AHEAD, "page_checksum_verification": True}
    # Opened here, so that it is certainly closed, and not mapped into memory.
    with arrow.OSFile(str(file.path)) as handle, parquet.ParquetFile(handle, **safe) as opened:
        yield opened


class ParquetRows(TableRows):
    """Rows in row groups, at which a reader can begin."""

    @property
    def extra_row_bytes(self) -> float:
        """Two record batches of numbers; for lists the levels of nesting, and room to grow."""
        size = self.storage.itemsize
        return float(self.shape[1] * (size + LEVELS if self._selection.lists else 2 * size))

    @contextmanager
    def _batches(self, names: Sequence[str], parts: range, rows: int) -> Iterator[Iterator[Any]]:
        with self.file.being_read(), _parquet(self.file) as parquet:
            yield parquet.iter_batches(rows, list(parts), list(names), use_threads=False)
