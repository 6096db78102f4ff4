"""Unit vectors to bytes and back: each byte names one of 256 levels of its group of components."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sphericalpca.codec.levels import LEVELS, Assignment, Codes, kmeans
from sphericalpca.linalg import Array
from sphericalpca.parallel import parallel, spread
from sphericalpca.products import Labels, times

__all__ = ["ZERO", "Quantiser"]

# In the first byte: the code of a zero row.
ZERO = 255


@dataclass(frozen=True)
class Quantiser:
    """Levels of all bytes.

    Attributes
    ----------
    packing : int array of shape (r,)
        The byte of each component; every byte has at least one.
    importance : float32 array of shape (r,)
        How much a squared error in each component counts.
    levels : float32 array of shape (256, r)
        Column j holds component j of the levels of its byte.
    counts : int array of shape (n_bytes,)
        How many levels each byte has.
    """

    packing: Labels
    importance: Array
    levels: Array
    counts: Labels

    @classmethod
    def train(
        cls, V: Array, weight: Array, importance: Array, packing: Labels, rng: Any
    ) -> Quantiser:
        """Levels by k-means on unit vectors, for each byte by itself."""
        n_bytes = int(packing.max()) + 1
        importance = importance.astype(np.float32)
        seeds = rng.integers(2**31, size=n_bytes)
        most = [ZERO if byte == 0 else LEVELS for byte in range(n_bytes)]

        def trained(byte: int) -> Array:
            group = packing == byte
            X = np.ascontiguousarray(V[:, group], dtype=np.float32)
            draw = np.random.default_rng(seeds[byte])
            return kmeans(X, weight, importance[group], most[byte], draw)

        levels = np.zeros((LEVELS, len(packing)), dtype=np.float32)
        with parallel():
            found = spread(trained, range(n_bytes))
        for byte, centres in enumerate(found):
            levels[: len(centres), packing == byte] = centres
        return cls(packing, importance, levels, np.array([len(centres) for centres in found]))

    @cached_property
    def order(self) -> Labels:
        """Components, byte by byte."""
        return np.argsort(self.packing, kind="stable")

    @cached_property
    def ends(self) -> Labels:
        """Where each byte begins in that order."""
        sizes = np.bincount(self.packing, minlength=len(self.counts))
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @cached_property
    def packed(self) -> Array:
        """Levels in that order."""
        return np.ascontiguousarray(self.levels[:, self.order])

    @cached_property
    def squares(self) -> Array:
        """Squared length of each level, shape (n_bytes, 256); infinite for the zero row."""
        squares = np.add.reduceat(self.packed**2, self.ends[:-1], axis=1).T
        squares[0, ZERO] = np.inf
        return np.ascontiguousarray(squares, dtype=np.float32)

    @cached_property
    def _assignment(self) -> Assignment:
        return Assignment.of(self.packed, self.importance[self.order], self.ends, self.counts)

    def encode(self, V: Array) -> Codes:
        """Codes of unit vectors in float64; a zero row has a code of its own."""
        codes = self._assignment.codes(V[:, self.order] * self.importance[self.order])
        zero = ~V.any(axis=1)
        codes[zero] = 0
        codes[zero, 0] = ZERO
        return codes

    def decode(self, codes: Codes) -> Array:
        """Unit vectors, float32 of shape (n, r)."""
        V = np.empty((len(codes), len(self.packing)), dtype=np.float32)
        for byte, (first, end) in enumerate(zip(self.ends[:-1], self.ends[1:], strict=True)):
            V[:, self.order[first:end]] = self.packed[codes[:, byte], first:end]
        lengths = np.sqrt(np.einsum("ij,ij->i", V, V, dtype=np.float64))
        zero = (codes[:, 0] == ZERO) | (lengths == 0)
        scale = np.divide(1, lengths, out=np.zeros(len(V)), where=~zero)
        return np.asarray(V * scale[:, None].astype(np.float32))

    def tables(self, queries: Array) -> Array:
        """Inner products with all levels, float32 of shape (n_queries, n_bytes, 256)."""
        tables = np.empty((len(queries), len(self.counts), LEVELS), dtype=np.float32)
        for byte, (first, end) in enumerate(zip(self.ends[:-1], self.ends[1:], strict=True)):
            part = queries[:, self.order[first:end]].astype(np.float32)
            tables[:, byte] = times(part, self.packed[:, first:end].T)
        return tables
