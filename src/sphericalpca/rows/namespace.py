"""Rows on a device that NumPy cannot address: their products are computed there, by its library.

Arrays with one row per row of the data never leave the device during a fit.  Matrices of m
rows, such as U and the gradient, are copied once for each block of a pass; solvers keep them on
the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.products import times
from sphericalpca.rows.backend import Backend, on_host
from sphericalpca.rows.base import Rows, Watch
from sphericalpca.rows.block import VANISHING, Block
from sphericalpca.rows.finite import in_words
from sphericalpca.rows.mean import shares
from sphericalpca.rows.stats import RowStats

__all__ = ["NamespaceMatrix", "NamespaceRows"]

# Large blocks suit devices, but projections of a block must fit into memory beside the data.
BLOCK_ENTRIES = 2**26


@dataclass(frozen=True)
class NamespaceMatrix:
    """A 2-D array of float32 or float64 numbers, and its backend."""

    array: Any
    backend: Backend

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m), if the array has two dimensions."""
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


def _row_norms(A: Any, backend: Backend) -> Any:
    """Lengths of rows, in the widest type of the device, from tiny to near overflow.

    Where squares may have left the range, rows are divided by their largest entry first.
    """
    xp, info = backend.xp, backend.xp.finfo(A.dtype)
    with np.errstate(over="ignore", under="ignore"):  # for namespaces that wrap NumPy
        squares = xp.sum(A * A, axis=1)
    low, high = float(info.smallest_normal) / float(info.eps), float(info.max)
    if float(xp.min(squares)) > low and float(xp.max(squares)) < high:
        return xp.sqrt(xp.astype(squares, backend.wide, copy=False))
    peak = xp.max(xp.abs(A), axis=1)
    A = A / xp.where(peak > 0, peak, xp.ones_like(peak))[:, None]
    sizes = xp.sqrt(xp.astype(xp.sum(A * A, axis=1), backend.wide, copy=False))
    return xp.astype(peak, backend.wide, copy=False) * sizes


def _unit_rows(A: Any, backend: Backend) -> tuple[Any, Any]:
    """Rows scaled to unit length, and their lengths; zero rows stay zero."""
    xp, norms = backend.xp, _row_norms(A, backend)
    divisor = xp.astype(xp.where(norms > 0, norms, xp.ones_like(norms)), A.dtype, copy=False)
    return A / divisor[:, None], norms


@dataclass(frozen=True)
class NamespaceBlock(Block):
    """A few rows on a device; see `Block` for what each method computes."""

    backend: Backend = field(default_factory=Backend)

    def _factors(self, values: Array, dtype: Any = None) -> Any:  # noqa: ARG002 - that of the rows
        return self.backend.put(values, self.matrix.dtype)[:, None]

    @cached_property
    def _weights(self) -> Any:
        return self.backend.put(self.weight, self.backend.wide)

    @cached_property
    def _norms(self) -> Any:
        return self.backend.put(self.norm, self.backend.wide)

    @cached_property
    def _divisors(self) -> Any:
        return self.backend.xp.where(self._norms > 0, self._norms, 1.0 + self._norms)

    def project(self, U: Array) -> Any:
        """X U."""
        Y = times(self.matrix, self.backend.put(U, self.matrix.dtype))
        return Y if self._scales is None else Y * self._scales

    def correlate(self, V: Any, factor: Array | None = None, *, overwrite: bool = False) -> Array:  # noqa: ARG002 - nothing is written to
        """X'WV, or with other factors."""
        column = self._pulls if factor is None else self._column(factor * self.scale)
        G = np.asarray(on_host(times(self.matrix.T, V if column is None else V * column)))
        heavy = factor is None and self.heaviest != 1
        return G.astype(np.float64) * self.heaviest if heavy else G

    def moment(self, V: Any) -> Array:
        """V'WV."""
        weighted = V if self._shares is None else V * self._shares
        return np.asarray(on_host(times(weighted.T, V)), dtype=np.float64) * self.heaviest

    def directions(self, Y: Any, *, overwrite: bool = False) -> tuple[Any, Any]:  # noqa: ARG002 - nothing is written to
        """Best components, and lengths of projections."""
        xp = self.backend.xp
        V, lengths = _unit_rows(Y, self.backend)
        vanishing = self._vanishing(lengths) & (self._weights > 0)
        if bool(xp.any(vanishing)):
            R = np.random.default_rng(0).standard_normal((self.matrix.shape[1], Y.shape[1]))
            fallback, _ = _unit_rows(self.project(R), self.backend)
            V = xp.where(vanishing[:, None], fallback, V)
        return V, lengths

    def value(self, lengths: Any) -> float:
        """What they add to f."""
        return float(self.backend.xp.sum(self._weights * lengths))

    def sums(self, lengths: Any) -> tuple[float, float]:
        """What they add to f and to the sum of cosines."""
        return self.value(lengths), self.value(lengths / self._divisors)

    def leading_sums(self, U: Array) -> tuple[Array, Array]:
        """`sums` for all leading columns."""
        xp, norm = self.backend.xp, self._divisors
        cosines = xp.astype(self.project(U), self.backend.wide) / norm[:, None]
        cosines = xp.sqrt(xp.cumulative_sum(cosines * cosines, axis=1))
        return on_host((self._weights * norm) @ cosines), on_host(self._weights @ cosines)

    def turned(self, V: Any, lengths: Any, E: Any) -> Any:
        """(E - V <V, E>) / ||Y||."""
        xp = self.backend.xp
        E = E - V * xp.sum(V * E, axis=1, keepdims=True)
        kinks = self._vanishing(lengths)
        curvature = xp.where(kinks, 0.0 * lengths, 1.0 / xp.where(kinks, lengths + 1, lengths))
        return E * xp.astype(curvature, E.dtype)[:, None]

    def gram(self, factor: Array) -> Array:
        """sum_j factor_j^2 x_j x_j'."""
        dtype = self.backend.wide if factor.dtype == np.float64 else self.matrix.dtype
        column = self.backend.put(factor * self.scale, dtype)[:, None]
        B = self.backend.xp.astype(self.matrix, dtype, copy=False) * column
        return np.asarray(on_host(times(B.T, B)))

    def components(self, U: Array) -> Any:
        """Unit-norm components; zero where there is no direction."""
        xp = self.backend.xp
        V, lengths = _unit_rows(self.project(U), self.backend)
        nowhere = self._vanishing(lengths) | (self._norms == 0)
        return xp.where(nowhere[:, None], 0 * V, V)

    def _unit(self) -> tuple[Any, Array]:
        scale, wide = self._unit_scale, self.backend.wide
        column = self.backend.put(scale, wide)[:, None]
        return self.backend.xp.astype(self.matrix, wide) * column, scale

    def _vanishing(self, lengths: Any) -> Any:
        eps = float(self.backend.xp.finfo(self.matrix.dtype).eps)
        return lengths <= VANISHING * eps * self._norms


class NamespaceRows(Rows):
    """The rows of a `NamespaceMatrix`; parameters are those of `MemoryRows`."""

    local = False

    def __init__(
        self,
        matrix: NamespaceMatrix,
        *,
        weight: Array | None = None,
        normalize: bool = True,
        mean: Array | None = None,
        block_rows: int | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._matrix, backend = matrix, matrix.backend
        self._mean = None if mean is None else backend.put(np.asarray(mean), matrix.array.dtype)
        self._spans = matrix.spans(block_rows)
        length = np.concatenate([self._lengths(span, watch) for span in self._spans])
        self._stats = RowStats.of(length, weight, matrix.dtype, normalize=normalize)
        totals, stored = self.stats.totals(), int(np.prod(matrix.shape))
        super().__init__(matrix.shape, matrix.dtype, totals, stored=stored, room=0, watch=watch)
        # A block holds views and vectors; of centred rows it would hold a copy.
        self._blocks = [] if mean is not None else [self._block(span) for span in self._spans]

    def parts(self, count: int) -> list[Iterator[Block]]:  # noqa: ARG002 - the device has its own
        """All rows in one part."""
        return [iter(self._blocks or map(self._block, self._spans))]

    def components(self, U: Array) -> Any:
        """Unit-norm components of all rows, on the device."""
        parts: list[Any] = []

        def keep(block: Block) -> tuple[()]:
            assert isinstance(block, NamespaceBlock)
            parts.append(block.components(U))
            return ()

        self.sweep(keep, columns=U.shape[1], passes=0.5)
        return parts[0] if len(parts) == 1 else self._matrix.backend.xp.concat(parts, axis=0)

    def _part(self, span: slice) -> Any:
        X = self._matrix.array[span, :]
        return X if self._mean is None else X - self._mean

    def _block(self, span: slice) -> Block:
        part, stats, backend = self._part(span), self.stats[span], self._matrix.backend
        return NamespaceBlock(part, span, stats, self.heaviest, backend=backend)

    def _lengths(self, span: slice, watch: Watch | None) -> Array:
        norm = np.asarray(on_host(_row_norms(self._part(span), self._matrix.backend)), np.float64)
        if self._mean is not None:
            xp = self._matrix.backend.xp
            peak = on_host(xp.max(xp.abs(self._matrix.array[span, :]), axis=1))
            norm = np.where(norm <= 4 * np.finfo(self._matrix.dtype).eps * peak, 0.0, norm)
        if watch is not None:
            watch(len(norm))
        return norm
