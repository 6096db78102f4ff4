"""Arrow IPC files, which Feather files (version 2) are too."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.rows.sources.arrow_footer import batch_lengths
from sphericalpca.rows.sources.columns import Selection, select
from sphericalpca.rows.sources.datafile import DataFile
from sphericalpca.rows.sources.filesource import FileSource, Options, optional
from sphericalpca.rows.sources.table import TableRows, list_length

__all__ = ["open_arrow"]


def open_arrow(file: DataFile, options: Options) -> FileSource:
    """The rows of an Arrow IPC or Feather file."""
    with file.being_read():
        with file.path.open("rb") as handle:
            lengths = batch_lengths(handle)
        with _reader(file) as reader:
            selection = select(reader.schema, options, file)
        ends = [0, *itertools.accumulate(lengths)]
        with _reader(file, selection.names) as reader:
            batches = _batches(reader, 0, len(lengths))
            length = list_length(file, selection, batches)
    return ArrowRows(file, selection, ends, length, options.memory_budget)


@contextmanager
def _reader(file: DataFile, names: Sequence[str] | None = None) -> Iterator[Any]:
    """A reader of the chosen columns only."""
    arrow = optional("pyarrow", "Arrow files")
    # Not mapped into memory: see `fixed`.
    with arrow.OSFile(str(file.path)) as handle:
        ipc = optional("pyarrow.ipc", "Arrow files")
        with ipc.open_file(handle) as whole:
            if names is None:
                yield whole
                return
            fields = [whole.schema.get_field_index(name) for name in names]
        chosen = ipc.IpcReadOptions(included_fields=fields, use_threads=False)
        with ipc.open_file(handle, options=chosen) as part:
            yield part


class ArrowRows(TableRows):
    """Rows in record batches, each of which is loaded as a whole."""

    def __init__(
        self,
        file: DataFile,
        selection: Selection,
        ends: Sequence[int],
        length: int,
        memory_budget: int,
    ) -> None:
        super().__init__(file, selection, ends[-1], length, memory_budget)
        self._ends = ends

    @property
    def reader_bytes(self) -> int:
        """A record batch in use and the next one."""
        longest = int(np.diff(self._ends).max(initial=0))
        return int(2 * longest * self.shape[1] * self.storage.itemsize)

    @property
    def cuts(self) -> Sequence[int]:
        """The record batches."""
        return self._ends

    def read(self, span: slice, rows: int) -> Generator[Array, None, None]:
        """Blocks of record batches."""
        with self.file.being_read(), _reader(self.file, self._selection.names) as reader:
            start = bisect_right(self._ends, span.start) - 1
            batches = _batches(reader, start, len(self._ends) - 1)
            yield from self._matrices(batches, self._ends[start], span, rows)

    def other_batches(self, names: Sequence[str]) -> Generator[Any, None, None]:
        """Record batches of other columns."""
        with self.file.being_read(), _reader(self.file, names) as reader:
            for batch in _batches(reader, 0, reader.num_record_batches):
                yield batch.select(list(names))

    def _schema(self) -> Any:
        with self.file.being_read(), _reader(self.file) as reader:
            return reader.schema


def _batches(reader: Any, first: int, last: int) -> Iterator[Any]:
    for batch in map(reader.get_batch, range(first, last)):
        # Of a damaged file the lists could point outside of their numbers.
        batch.validate(full=True)
        yield batch
