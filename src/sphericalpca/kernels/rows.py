"""A CSR matrix times a dense one, on all threads: each row of the result is gathered.

X'V is a product of the same kind, with a transposed copy of X: adding up where each number belongs,
as a product with X itself would, takes several times as long.
"""

from __future__ import annotations

import itertools
from ctypes import c_int64, c_void_p
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sphericalpca.kernels.library import instruction_set, library
from sphericalpca.linalg import Array, unit_rows
from sphericalpca.parallel import equal_ends, spread_runs, workers

__all__ = ["CompressedRows", "UnitRows"]

# Below this many multiplications a second thread costs more than it saves.
SMALL_PRODUCT = 200_000
# A thread looks up after this many multiplications, in case of Ctrl-C: some tenths of a second.
LONG_CALL = 200_000_000
# Longer rows are added up in pieces, whose sums are added in float64.  The compiled kernels take
# care of that themselves; their rows are divided for Ctrl-C alone.
SHORT_SUM, LONG_ROW = 1024, 4_000_000

Pointer = npt.NDArray[np.int64]


class UnitRows(NamedTuple):
    """Rows of unit length, and the lengths they had in float64; zero rows stay zero."""

    rows: Array
    lengths: Array


class CompressedRows:
    """A CSR matrix whose indices are known to be in range, ready to be multiplied with."""

    def __init__(self, X: Any) -> None:
        self.shape: tuple[int, int] = X.shape
        dtype = X.data.dtype.newbyteorder("=")
        self.values: Array = np.ascontiguousarray(X.data, dtype=dtype)
        self.indices = np.ascontiguousarray(X.indices, dtype=X.indices.dtype.newbyteorder("="))
        self.pointer: Pointer = np.ascontiguousarray(X.indptr, dtype=np.int64)

    def transposed(self) -> CompressedRows:
        """A copy of the transposed matrix."""
        X = sparse.csr_array(self.shape, dtype=self.values.dtype)
        X.data, X.indices, X.indptr = self.values, self.indices, self.pointer
        return CompressedRows(X.T.tocsr())

    def times(
        self, B: Array, *, scale: Array | None = None, shift: Array | None = None
    ) -> Array:
        """scale * (X B - shift), with a scale for each row and a shift for each column."""
        return self._product(B, scale, shift, None)

    def unit_times(
        self, B: Array, *, scale: Array | None = None, shift: Array | None = None
    ) -> UnitRows:
        """The same with its rows scaled to unit length, and their lengths."""
        lengths = np.empty(self.shape[0])
        rows = self._product(B, scale, shift, lengths)
        # What the kernel could not square is left to slower, safer code.
        doubtful = np.flatnonzero(lengths < 0)
        rows[doubtful], lengths[doubtful] = unit_rows(rows[doubtful])
        return UnitRows(rows, lengths)

    def _product(
        self, B: Array, scale: Array | None, shift: Array | None, lengths: Array | None
    ) -> Array:
        dtype = self.values.dtype
        B = np.ascontiguousarray(B, dtype=dtype)
        scale, shift = (None if a is None else np.ascontiguousarray(a, dtype) for a in (scale, shift))
        compiled = library() is not None
        piece = LONG_ROW if compiled or dtype == np.float64 else SHORT_SUM
        pointer, starts = self._divided(piece)
        out = np.empty((len(pointer) - 1, B.shape[1]), dtype=dtype)
        if compiled and starts is None:
            self._spread(_Gather(self, B, pointer, out, scale, shift, lengths), B.shape[1])
            return out
        kernel = _Gather(self, B, pointer, out) if compiled else _Scipy(self, B, pointer, out)
        self._spread(kernel, B.shape[1])
        if starts is not None:
            out = np.add.reduceat(out, starts, axis=0, dtype=np.float64).astype(dtype)
        if shift is not None:
            out -= shift
        if scale is not None:
            out *= scale[:, None]
        if lengths is not None:
            _, lengths[:] = unit_rows(out, overwrite=True)
        return out

    def _divided(self, piece: int) -> tuple[Pointer, Pointer | None]:
        """The pointer with rows longer than a piece divided, and where each row begins in it.

        The same pointer and None if there is nothing to divide.
        """
        counts = np.diff(self.pointer)
        if counts.max(initial=0) <= piece:
            return self.pointer, None
        pieces = np.maximum(-(-counts // piece), 1)  # one for an empty row
        starts = np.cumsum(pieces) - pieces
        number = np.arange(pieces.sum()) - np.repeat(starts, pieces)
        inner = np.repeat(self.pointer[:-1], pieces) + piece * number
        return np.append(inner, self.pointer[-1]), starts

    def _spread(self, kernel: Any, columns: int) -> None:
        """Run a kernel over all rows: a run of consecutive calls for each thread."""
        pointer = kernel.pointer
        work = int(pointer[-1]) * columns
        threads = workers() if work > SMALL_PRODUCT else 1
        calls = threads * max(1, -(-work // (threads * LONG_CALL)))
        # Equal numbers of non-zeros, not of rows, keep all threads busy to the end.
        ends = np.searchsorted(pointer, equal_ends(int(pointer[-1]), calls)[1:-1]).tolist()
        spans = list(itertools.pairwise([0, *ends, len(pointer) - 1]))
        runs = [spans[a:b] for a, b in itertools.pairwise(equal_ends(len(spans), threads))]
        spread_runs(kernel, runs)


class _Gather:
    """A call of the compiled kernel for some rows."""

    def __init__(
        self,
        X: CompressedRows,
        B: Array,
        pointer: Pointer,
        out: Array,
        scale: Array | None = None,
        shift: Array | None = None,
        lengths: Array | None = None,
    ) -> None:
        compiled, dtype = library(), X.values.dtype
        name = f"gather_{instruction_set()}_f{dtype.itemsize}_i{X.indices.dtype.itemsize}"
        self.pointer, self._function = pointer, getattr(compiled, name)
        # The kernel reads a little beyond a row: behind the last rows there must be something.
        lanes = 16 // dtype.itemsize
        copy = np.zeros(lanes * (B.shape[1] + 1), dtype=dtype)
        copy[: B[-lanes:].size] = B[-lanes:].ravel()
        self._kept = (pointer, X.indices, X.values, B, copy, scale, shift, out, lengths)
        places = [None if a is None else c_void_p(a.ctypes.data) for a in self._kept]
        self._arguments = (*places[:3], c_int64(len(B)), c_int64(B.shape[1]), *places[3:])

    def __call__(self, span: tuple[int, int]) -> None:
        self._function(c_int64(span[0]), c_int64(span[1]), *self._arguments)


class _Scipy:
    """The same by scipy, without scale, shift and lengths."""

    def __init__(self, X: CompressedRows, B: Array, pointer: Pointer, out: Array) -> None:
        self.pointer, self._X, self._B, self._out = pointer, X, B, out

    def __call__(self, span: tuple[int, int]) -> None:
        first, last = span
        a, b = self.pointer[first], self.pointer[last]
        # The constructor would copy slices that are much shorter than their base.
        part = sparse.csr_array((last - first, len(self._B)), dtype=self._X.values.dtype)
        part.data, part.indices = self._X.values[a:b], self._X.indices[a:b]
        part.indptr = (self.pointer[first : last + 1] - a).astype(part.indices.dtype)
        self._out[first:last] = part @ self._B
