"""HDF5 files: a 2-D data set; contiguous ones are read directly, chunks through h5py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array
from sphericalpca.parallel import allowed_threads
from sphericalpca.rows.sources.filesource import DataFile, Options, chosen_key, optional
from sphericalpca.rows.sources.fixed import FixedRows, RowMajorRows

__all__ = ["open_hdf5"]

# The name that ann-benchmarks gives to the vectors to be searched.
USUAL_KEY = "train"
# Slots of the chunk cache: a prime, and many more than there are chunks.
CACHE_SLOTS = 10_007
# How many times its own size a file may declare: real numbers cannot be compressed more, but
# data that were never written take no space.
MOST_PACKED = 100_000


def open_hdf5(file: DataFile, options: Options) -> FixedRows:
    """The rows of a data set of an HDF5 file."""
    h5py = optional("h5py", "HDF5 files")
    with file.being_read(), h5py.File(file.path, "r") as opened:
        key = _find_key(opened, options.key, file)
        dataset = opened[key]
        if (elsewhere := _elsewhere(opened, dataset)) is not None:
            raise DataError(
                f"Data set {key!r} of {file.name} refers to another file, {elsewhere!r}",
                "files named by a file are not read",
                "copy the numbers into one data set",
            )
        direct = dataset.chunks is None and not dataset.is_virtual
        offset = dataset.id.get_offset() if direct else None
        if dataset.chunks is not None:
            _check_chunks(dataset, file.size)
        shape, storage, chunks = dataset.shape, dataset.dtype, dataset.chunks
    announced = prod(shape) * storage.itemsize
    if offset is not None:
        if offset + announced > file.size:
            raise DataError(
                f"{file.name} has {file.size} bytes",
                f"the {shape[0]} rows of its data set {key!r} take more",
                "it is truncated; write or copy it again",
            )
        return RowMajorRows(file, shape, storage, options.memory_budget, offset=offset)
    if announced > MOST_PACKED * file.size:
        raise DataError(
            f"{file.name} has {file.size} bytes",
            f"its data set {key!r} declares {announced} bytes of numbers, most never written",
            "write them, or make it smaller",
        )
    return ChunkedRows(file, shape, storage, options.memory_budget, key=key, chunks=chunks)


def _elsewhere(opened: Any, dataset: Any) -> str | None:
    """The place of numbers outside the file: a hostile file could name files of its reader."""
    if dataset.file.filename != opened.filename:
        return str(dataset.file.filename)
    places = [place for place, *_ in dataset.external or ()]
    for source in dataset.virtual_sources() if dataset.is_virtual else ():
        part = opened.get(source.dset_name) if source.file_name == "." else None
        # Virtual sources of virtual data sets could be circular.
        stored = part is not None and not part.is_virtual and _elsewhere(opened, part) is None
        places += [] if stored else [f"{source.file_name}:{source.dset_name}"]
    return str(places[0]) if places else None


def _check_chunks(dataset: Any, size: int) -> None:
    """Refuse chunks outside the file, for which the library would crash."""
    whole = prod(dataset.chunks) * dataset.dtype.itemsize
    plain = dataset.id.get_create_plist().get_nfilters() == 0

    def check(chunk: Any) -> None:
        inside = chunk.byte_offset > 0 and chunk.byte_offset + chunk.size <= size
        full = chunk.size == whole if plain else chunk.size > 0
        if not (inside and full):
            raise ValueError(f"the chunk at {chunk.chunk_offset} is not where it should be")

    if hasattr(dataset.id, "chunk_iter"):  # missing in old versions of the library
        dataset.id.chunk_iter(check)


def _find_key(opened: Any, key: str | None, file: DataFile) -> str:
    found: dict[str, tuple[tuple[int, ...], bool]] = {}

    def visit(name: str, item: Any) -> None:
        if _is_matrix(item):
            found[name] = item.shape, item.dtype.kind in "fiub"

    usual = USUAL_KEY if key is None else key
    if _is_matrix(opened.get(usual)):
        return usual
    opened.visititems(visit)
    return chosen_key(file, key, "data set", found)


def _is_matrix(item: Any) -> bool:
    return len(getattr(item, "shape", None) or ()) == 2


class ChunkedRows(FixedRows):
    """Rows of a data set in chunks; readers that begin inside one each unpack it."""

    def __init__(
        self,
        file: DataFile,
        shape: Sequence[int],
        storage: Any,
        budget: int,
        *,
        key: str,
        chunks: tuple[int, int] | None,
    ) -> None:
        super().__init__(file, shape, storage, budget)
        self._key = key
        self._chunk_rows, width = chunks or (1, 1)
        # The chunks of a row; in a resizable data set one can be wider than the data set.
        whole = -(-shape[1] // width) * width
        self.reader_bytes = int(self._chunk_rows * whole * self.storage.itemsize)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        h5py = optional("h5py", "HDF5 files")
        # Chunks that span several blocks stay in memory meanwhile; readers share that memory.
        cache = {"rdcc_nbytes": self.reader_bytes * allowed_threads(), "rdcc_nslots": CACHE_SLOTS}
        with h5py.File(self.file.path, "r", **cache) as opened:
            yield opened[self._key]

    def _values(self, file: Any, buffer: Any, first: int, count: int) -> Array:
        values: Array = buffer[:count]
        with self.file.being_read(first):
            file.read_direct(values, np.s_[first : first + count])
        return values

    def _block_ends(self, span: slice, rows: int) -> list[int]:
        """Blocks of at most this many rows that end where chunks do, if these are small enough."""
        chunk = self._chunk_rows if self._chunk_rows <= rows else 1
        ends = [span.start]
        while ends[-1] < span.stop:
            end = ends[-1] + rows
            ends.append(min(end - end % chunk, span.stop))
        return ends
