"""A CSR matrix times a dense one, on all threads: each row of the result is gathered.

X'V is a product of the same kind, with a transposed copy of X: a scatter, which a product with X
itself would need, takes several times as long.
"""

from __future__ import annotations

import itertools
from ctypes import c_int64, c_void_p
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sphericalpca.kernels.library import instruction_set, library
from sphericalpca.parallel import equal_ends, spread_runs, workers

__all__ = ["CompressedRows", "csr_view"]

Array = npt.NDArray[np.floating[Any]]

# Below this many multiplications a second thread costs more than it saves.
SMALL_PRODUCT = 200_000
# A thread checks for Ctrl-C after this many multiplications: some tenths of a second.
LONG_CALL = 200_000_000
# Looking up a number or moving it takes as long as this many multiplications.
SCATTERED = 16

Indices = npt.NDArray[np.integer[Any]]


class CompressedRows:
    """A CSR matrix, ready to be multiplied with by compiled kernels.

    Arrays in native byte order are not copied.  Indices must be in range: kernels trust them.
    """

    def __init__(self, X: Any) -> None:
        self.shape: tuple[int, int] = X.shape
        self.values: Array = _native(X.data)
        self.indices: Indices = _native(X.indices)
        if X.shape[0] > np.iinfo(self.indices.dtype).max:  # row numbers, when it is transposed
            self.indices = self.indices.astype(np.int64)
        self.pointer = np.ascontiguousarray(X.indptr, dtype=np.int64)

    def transposed(self) -> CompressedRows:
        """The transposed matrix, a copy."""
        n, m = self.shape
        runs = self._spans(SCATTERED)
        counts = np.zeros((len(runs), m), dtype=np.int64)
        self._scan("count", runs, counts)
        # Where the numbers of each column, and those of each run, begin.
        ends = counts.sum(axis=0).cumsum()
        counts = ends + (counts.cumsum(axis=0) - counts - counts.sum(axis=0))
        rows, values = np.empty_like(self.indices), np.empty_like(self.values)
        self._scan("turn", runs, counts, self.values, rows, values)
        turned = csr_view(values, rows, np.concatenate([[0], ends]), n)
        return CompressedRows(turned)

    def repeats(self) -> bool:
        """Whether a column is stored twice in any row."""
        runs = self._spans(SCATTERED)
        seen = np.full((len(runs), self.shape[1]), -1, dtype=np.int64)
        return any(map(any, self._scan("repeats", runs, seen)))

    def _scan(
        self, name: str, runs: list[list[tuple[int, int]]], own: Indices, *arrays: Any
    ) -> list[list[int]]:
        """The results of a kernel for all spans, given a row of `own` for the run of each."""
        kernel = self._kernel(name)
        given = _places(self.pointer, self.indices), _places(*arrays)
        spans = [[(*span, row) for span in run] for run, row in zip(runs, own, strict=True)]

        def call(span: tuple[int, int, Indices]) -> int:
            first, last, row = span
            found: int = kernel(c_int64(first), c_int64(last), *given[0], *_places(row), *given[1])
            return found

        return spread_runs(call, spans)

    def _kernel(self, name: str) -> Any:
        dtype = self.values.dtype
        name = f"{name}_{instruction_set()}_f{dtype.itemsize}_i{self.indices.itemsize}"
        return getattr(library(), name)

    def times(self, B: Array, scale: Array | None = None, shift: Array | None = None) -> Array:
        """Return scale * (X B - shift), with a scale for each row and a shift for each column."""
        return self._product(B, scale, shift, None)

    def unit_times(
        self, B: Array, scale: Array | None = None, shift: Array | None = None
    ) -> tuple[Array, Array]:
        """The same with its rows scaled to unit length, and their lengths in float64."""
        lengths = np.empty(self.shape[0])
        return self._product(B, scale, shift, lengths), lengths

    def _product(
        self, B: Array, scale: Array | None, shift: Array | None, lengths: Array | None
    ) -> Array:
        dtype, columns = self.values.dtype, B.shape[1]
        for array, length in ((B, self.shape[1]), (scale, self.shape[0]), (shift, columns)):
            if array is not None and len(array) != length:  # it would be read past its end
                raise ValueError(f"Expected an array of length {length}, got {len(array)}")
        lanes = 16 // dtype.itemsize
        if 0 < columns < lanes:  # the kernel reads whole vectors
            more = lanes - columns
            shift = None if shift is None else np.pad(shift, (0, more))
            return self._product(np.pad(B, ((0, 0), (0, more))), scale, shift, lengths)[:, :columns]
        B = np.ascontiguousarray(B, dtype=dtype)
        out = np.empty((self.shape[0], columns), dtype=dtype)
        scale, shift = (
            None if a is None else np.ascontiguousarray(a, dtype) for a in (scale, shift)
        )
        places = _places(self.pointer, self.indices, self.values, B, scale, shift, out, lengths)
        gather = self._kernel("gather")

        def call(span: tuple[int, int]) -> None:
            gather(c_int64(span[0]), c_int64(span[1]), *places[:3], c_int64(columns), *places[3:])

        spread_runs(call, self._spans(columns))
        return out

    def _spans(self, columns: int) -> list[list[tuple[int, int]]]:
        """Rows of each call: a run of consecutive calls for each thread."""
        stored = int(self.pointer[-1])
        work = stored * columns
        threads = workers() if work > SMALL_PRODUCT else 1
        calls = threads * max(1, -(-work // (threads * LONG_CALL)))
        # Equal numbers of non-zeros, not of rows, keep all threads busy to the end.
        inner = np.searchsorted(self.pointer, equal_ends(stored, calls)[1:-1]).tolist()
        spans = list(itertools.pairwise([0, *inner, self.shape[0]]))
        return [spans[a:b] for a, b in itertools.pairwise(equal_ends(calls, threads))]


def csr_view(data: Any, indices: Any, indptr: Any, columns: int) -> Any:
    """A CSR matrix of these arrays: the constructor would copy slices of much longer arrays."""
    X = sparse.csr_array((len(indptr) - 1, columns), dtype=data.dtype)
    X.data, X.indices, X.indptr = data, indices, indptr
    return X


def _places(*arrays: Any) -> list[c_void_p | None]:
    """Addresses of arrays, for kernels.

    Each holds its array: an interrupted caller may end before a thread that is inside a kernel.
    """
    return [None if array is None else array.ctypes.data_as(c_void_p) for array in arrays]


def _native(array: Any) -> Any:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
