"""Archives of ``.npy`` files: CSR matrices as ``scipy.sparse.save_npz`` writes them, or arrays."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator, Sequence
from typing import Any
from zipfile import ZipFile

import numpy as np

from sphericalpca.exceptions import DataError, Parameter, printable
from sphericalpca.kernels import csr_view
from sphericalpca.linalg import Array
from sphericalpca.rows.block import Matrix
from sphericalpca.rows.sources.filesource import DataFile, FileSource, Options, rewritten
from sphericalpca.rows.sources.fixed import fill, opened
from sphericalpca.rows.sources.npy import StoredArray, dense_rows, located, read_small
from sphericalpca.rows.structure import refuse_indices

__all__ = ["open_npz"]

# Bytes of an array of a word or two numbers, with its header.
FEW = 10_000


def open_npz(file: DataFile, options: Options) -> FileSource:
    """The rows of an ``.npz`` file: one CSR matrix, or one of its arrays."""
    with file.being_read(), ZipFile(file.path) as archive:
        if not {"format.npy", "data.npy", "shape.npy"} <= set(archive.namelist()):
            return dense_rows(file, archive, options)
        if options.key is not None:
            found = (Parameter("key", options.key), " names an array")
            raise DataError(found, f"{file.name} is one sparse matrix", "leave it out")
        kind = read_small(archive, file, "format.npy", FEW).item()
        name = kind.decode() if isinstance(kind, bytes) else kind
        if name != "csr":
            other = f"{file.name} holds a {printable(name.upper(), 20)} matrix"
            raise DataError(other, "rows are read from CSR", "save X.tocsr()")
        shape = read_small(archive, file, "shape.npy", FEW)
        pointer = read_small(archive, file, "indptr.npy").astype(np.int64, copy=False)
        data, indices = (located(archive, file, name) for name in ("data.npy", "indices.npy"))
    if not (
        shape.shape == (2,)
        and shape.dtype.kind in "iu"
        and 0 <= shape[1] <= np.iinfo(np.int64).max
        and pointer.shape == (shape[0] + 1,)
        and pointer[0] == 0
        and pointer[-1] == data.shape[0] == indices.shape[0]
        and (np.diff(pointer) >= 0).all()
        and indices.dtype.kind == "i"
    ):
        raise DataError(
            f"{file.name} is not a CSR matrix",
            "its row pointer, indices and numbers must fit together",
            "write it again",
        )
    return CompressedSparseRows(file, shape, pointer, (data, indices), options.memory_budget)


class CompressedSparseRows(FileSource):
    """The rows of a CSR matrix."""

    def __init__(
        self,
        file: DataFile,
        shape: Sequence[int],
        pointer: Any,
        arrays: tuple[StoredArray, StoredArray],
        memory_budget: int,
    ) -> None:
        data, indices = arrays
        super().__init__(file, shape, data.dtype, memory_budget)
        self.stored = data.shape[0]
        self._pointer, self._data, self._indices = pointer, data, indices
        self.any_row = not (data.member or indices.member)

    @property
    def _mean_length(self) -> float:
        return self.stored / max(self.shape[0], 1)

    @property
    def row_bytes(self) -> float:
        """Numbers, indices and one pointer."""
        return 8 + self._mean_length * (self.dtype.itemsize + self._indices.dtype.itemsize)

    @property
    def extra_row_bytes(self) -> float:
        """A buffer of numbers, if they are converted."""
        return self._mean_length * self.storage.itemsize if self.converts else 0.0

    def read(self, span: slice, rows: int) -> Generator[Matrix, None, None]:
        """Blocks in two alternating pairs of buffers."""
        ends = self._block_ends(span, rows)
        longest = int(np.diff(self._pointer[ends]).max(initial=0))
        wide = self._indices.dtype.itemsize > 4 or self.shape[1] > np.iinfo(np.int32).max
        buffers: Iterator[tuple[Any, Any]] = itertools.cycle(
            (np.empty(longest, self.dtype), np.empty(longest, np.int64 if wide else np.int32))
            for _ in range(2)
        )
        path = self.file.path
        with (
            self.file.being_read(),
            opened(path, self._data.member) as data,
            opened(path, self._indices.member) as indices,
        ):
            for first, last in itertools.pairwise(ends):
                begin, end = self._pointer[first], self._pointer[last]
                numbers, places = (buffer[: end - begin] for buffer in next(buffers))
                with self.file.being_read(first):
                    _take(self._data, data, begin, numbers)
                    _take(self._indices, indices, begin, places)
                yield self._matrix(first, last, numbers, places)

    def _block_ends(self, span: slice, rows: int) -> list[int]:
        """Blocks of at most this many rows, and as many numbers as these have on average."""
        limit = max(1, int(rows * self._mean_length))
        ends = [span.start]
        while ends[-1] < span.stop:
            first = ends[-1]
            within = np.searchsorted(self._pointer, self._pointer[first] + limit, "right") - 1
            ends.append(min(max(int(within), first + 1), first + rows, span.stop))
        return ends

    def _matrix(self, first: int, last: int, numbers: Array, places: Any) -> Matrix:
        m, pointer = self.shape[1], self._pointer[first : last + 1]
        remedy = "the file is damaged; write it again"
        refuse_indices(places, pointer, m, "column", lambda k: (self.place(first + k), remedy))
        matrix = csr_view(numbers, places, (pointer - pointer[0]).astype(places.dtype), m)
        if not matrix.has_canonical_format:
            matrix.sum_duplicates()
        return matrix


def _take(array: StoredArray, handle: Any, begin: int, out: Array) -> None:
    """Fill `out` with the array's numbers from `begin` on."""
    same = array.dtype == out.dtype
    raw = out if same else np.empty(len(out), array.dtype)
    if not fill(raw, handle, array.offset + int(begin) * array.dtype.itemsize):
        raise EOFError("it ends early")
    if not same:
        rewritten(raw, out)
