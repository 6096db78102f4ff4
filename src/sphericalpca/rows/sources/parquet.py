"""Parquet files, a record batch at a time."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sphericalpca.linalg import Array
from sphericalpca.rows.sources.columns import Selection, select
from sphericalpca.rows.sources.filesource import DataFile, FileSource, Options, optional
from sphericalpca.rows.sources.table import TableRows, list_length

__all__ = ["open_parquet"]

# Bytes that are read ahead of every column; without such a limit whole row groups would be.
READ_AHEAD = 256 * 1024
# What a column takes while it is decoded: a page of the usual size, packed and unpacked.
PAGES = 2 * 2**20
# With each number of a list its levels of repetition and definition are decoded, two bytes each.
LEVELS = 4
# Rows of other columns that are read at a time.
OTHERS = 10_000


def open_parquet(file: DataFile, options: Options) -> FileSource:
    """The rows of a Parquet file."""
    with file.being_read(), _parquet(file) as parquet:
        selection = select(parquet.schema_arrow, options, file)
        first = parquet.iter_batches(batch_size=1, columns=list(selection.names))
        length = list_length(file, selection, first)
        ends = _group_ends(parquet.metadata)
        source = ParquetRows(file, selection, ends, length, options.memory_budget)
        source.reader_bytes = _decoding_bytes(parquet.metadata, selection)
    return source


@contextmanager
def _parquet(file: DataFile) -> Iterator[Any]:
    arrow = optional("pyarrow", "Parquet files")
    parquet = optional("pyarrow.parquet", "Parquet files")
    safe = {"pre_buffer": False, "buffer_size": READ_AHEAD, "page_checksum_verification": True}
    # A file of our own, so that it is closed for certain, and not mapped into memory.
    with arrow.OSFile(str(file.path)) as handle, parquet.ParquetFile(handle, **safe) as opened:
        yield opened


def _group_ends(metadata: Any) -> list[int]:
    lengths = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
    if min(lengths, default=0) < 0 or sum(lengths) != metadata.num_rows:
        raise ValueError(f"it has {metadata.num_rows} rows, in groups of {lengths[:10]}")
    return [0, *itertools.accumulate(lengths)]


def _decoding_bytes(metadata: Any, selection: Selection) -> int:
    """What a reader needs to decode the chosen columns, however few rows it wants."""
    if metadata.num_row_groups == 0:
        return 0
    # Columns could tell more, but the library ends the program where these are damaged.
    return min(int(metadata.row_group(0).total_byte_size), PAGES * len(selection.names))


class ParquetRows(TableRows):
    """Rows in row groups, which are where a reader can begin."""

    @property
    def extra_row_bytes(self) -> float:
        """Two record batches of numbers; of lists the levels of nesting, and room to grow."""
        size = self.storage.itemsize
        return float(self.shape[1] * (size + LEVELS if self._selection.lists else 2 * size))

    def read(self, span: slice, rows: int) -> Generator[Array, None, None]:
        """Blocks of record batches, decoded a batch at a time."""
        ends = enumerate(itertools.pairwise(self.cuts))
        groups = [k for k, (begin, end) in ends if begin < span.stop and end > span.start]
        if not groups:
            return
        with self.file.being_read(), _parquet(self.file) as parquet:
            names = list(self._selection.names)
            batches = parquet.iter_batches(rows, groups, names, use_threads=False)
            yield from self._matrices(batches, self.cuts[groups[0]], span, rows)

    def other_batches(self, names: Sequence[str]) -> Generator[Any, None, None]:
        """Record batches of other columns."""
        with self.file.being_read(), _parquet(self.file) as parquet:
            for batch in parquet.iter_batches(batch_size=OTHERS, columns=list(names)):
                yield batch.select(list(names))

    def _schema(self) -> Any:
        with self.file.being_read(), _parquet(self.file) as parquet:
            return parquet.schema_arrow
