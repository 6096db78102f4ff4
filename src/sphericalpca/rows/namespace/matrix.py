"""A matrix on a device, and what is asked of it before it becomes rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.products import times
from sphericalpca.rows.backend import Backend, on_host
from sphericalpca.rows.base import Watch
from sphericalpca.rows.finite import in_words
from sphericalpca.rows.mean import shares

__all__ = ["NamespaceMatrix", "row_norms", "unit_rows"]

# Devices want large products; a block's projections must still fit beside the data.
BLOCK_ENTRIES = 2**26


@dataclass(frozen=True)
class NamespaceMatrix:
    """A 2-D array of float32 or float64 numbers, and where it lives."""

    array: Any
    backend: Backend

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m), once the array was found to have two dimensions."""
        return tuple(map(int, self.array.shape))  # type: ignore[return-value]

    @property
    def dtype(self) -> np.dtype[Any]:
        """As NumPy names it."""
        single = self.array.dtype == self.backend.xp.float32
        return np.dtype(np.float32 if single else np.float64)

    def spans(self, block_rows: int | None = None) -> list[slice]:
        """The rows in blocks."""
        n, m = self.shape
        height = block_rows or max(1, BLOCK_ENTRIES // m)
        return [slice(a, min(a + height, n)) for a in range(0, n, height)]

    def weighted_mean(self, weight: Array | None, watch: Watch | None = None) -> Array:
        """Weighted mean of all rows, in float64 on the host."""
        xp, share = self.backend.xp, shares(self.shape[0], weight)
        total = np.zeros(self.shape[1])
        for span in self.spans():
            part = xp.astype(self.array[span, :], self.backend.wide)
            total += on_host(part.T @ self.backend.put(share[span], self.backend.wide))
            if watch is not None:
                watch(len(share[span]))
        return total

    def times(self, A: Array, shift: Array | None) -> Any:
        """The product with a NumPy matrix, plus a vector in every row; on the device."""
        xp, there = self.backend.xp, self.backend.put(A)
        dtype = xp.result_type(self.array.dtype, there.dtype)
        ours, theirs = (xp.astype(factor, dtype, copy=False) for factor in (self.array, there))
        image = times(ours, theirs)
        return image if shift is None else image + self.backend.put(shift, dtype)

    def first_non_finite(self, watch: Watch | None = None) -> tuple[int, int, str] | None:
        """Row and column of the first entry that is not finite, and what it is."""
        xp = self.backend.xp
        for span in self.spans():
            good = xp.all(xp.isfinite(self.array[span, :]), axis=1)
            if not bool(xp.all(good)):
                row = span.start + int(xp.argmin(xp.astype(good, xp.int8)))
                values = on_host(self.array[row, :])
                column = int(np.argmin(np.isfinite(values)))
                return row, column, in_words(values[column])
            if watch is not None:
                watch(span.stop - span.start)
        return None


def row_norms(A: Any, backend: Backend) -> Any:
    """Lengths of rows, in the widest type of the device, from tiny to near overflow.

    Where squares may have left the range, rows are divided by their largest entry first.
    """
    xp, info = backend.xp, backend.xp.finfo(A.dtype)
    with np.errstate(over="ignore", under="ignore"):  # of namespaces that are NumPy inside
        squares = xp.sum(A * A, axis=1)
    low, high = float(info.smallest_normal) / float(info.eps), float(info.max)
    if float(xp.min(squares)) > low and float(xp.max(squares)) < high:
        return xp.sqrt(xp.astype(squares, backend.wide, copy=False))
    peak = xp.max(xp.abs(A), axis=1)
    A = A / xp.where(peak > 0, peak, xp.ones_like(peak))[:, None]
    sizes = xp.sqrt(xp.astype(xp.sum(A * A, axis=1), backend.wide, copy=False))
    return xp.astype(peak, backend.wide, copy=False) * sizes


def unit_rows(A: Any, backend: Backend) -> tuple[Any, Any]:
    """Rows scaled to unit length, and their lengths; zero rows stay zero."""
    xp, norms = backend.xp, row_norms(A, backend)
    divisor = xp.astype(xp.where(norms > 0, norms, xp.ones_like(norms)), A.dtype, copy=False)
    return A / divisor[:, None], norms
