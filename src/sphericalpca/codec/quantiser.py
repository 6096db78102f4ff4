"""Unit vectors to bytes and back: each byte names one of 256 levels of its group of components."""

from __future__ import annotations

import itertools
from ctypes import c_int64, c_void_p
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import kmeans_plusplus

from sphericalpca.kernels import library
from sphericalpca.linalg import Array, unit_rows
from sphericalpca.metrics import nearest_neighbours
from sphericalpca.metrics.search import ranked
from sphericalpca.parallel import equal_ends, parallel, spread, workers
from sphericalpca.products import Labels, pieces, times

__all__ = ["BLOCK", "LEVELS", "ZERO", "Codes", "Quantiser", "kmeans"]

LEVELS = 256
ZERO = 255  # in the first byte: the code of a zero row
Codes = npt.NDArray[np.uint8]

ITERATIONS = 12
STARTING_ROWS = 4096  # the first levels are drawn from these
BLOCK = 4096  # rows to encode or decode at a time
NOBODY = np.iinfo(np.int64).max
LANES = 8  # lanes of a kernel: seven queries and the squared lengths
EQUAL = 1e-12  # scores that differ by less are equal, so that codes are the same everywhere
GRID = 2.0**-20  # rows that agree to this are equal


def _call(kernel: Any, *given: Any) -> None:
    assert all(a.flags.c_contiguous for a in given if isinstance(a, np.ndarray))
    kernel(*(c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else c_int64(a) for a in given))


@dataclass(frozen=True)
class Quantiser:
    """Levels of all bytes; column j holds component j of the levels of its byte."""

    packing: Labels  # the byte of each component, in order; every byte has at least one
    importance: Array  # weights of squared errors in the components, float32
    levels: Array  # float32 of shape (256, r)

    @classmethod
    def train(
        cls, V: Array, weight: Array, importance: Array, packing: Labels, rng: Any
    ) -> tuple[Quantiser, Labels]:
        """Levels by k-means on unit vectors, separately for each byte, and how many each has."""
        scale = np.sqrt(importance).astype(np.float32)
        new = cls(packing, scale**2, np.empty((LEVELS, len(packing)), dtype=np.float32))
        seeds = rng.integers(2**31, size=len(new.groups))

        def trained(byte: int) -> int:
            group = new.groups[byte]
            X = np.ascontiguousarray(V[:, group] * scale[group], dtype=np.float32)
            centres = kmeans(X, weight, LEVELS - (byte == 0), int(seeds[byte]))
            new.levels[:, group] = _filled(centres) / scale[group]
            return len(centres)

        with parallel():
            counts = spread(trained, range(len(new.groups)))
        return new, np.array(counts)

    @cached_property
    def ends(self) -> Labels:
        """Where the components of each byte begin, and the end of the last."""
        return np.searchsorted(self.packing, np.arange(self.packing[-1] + 2))

    @cached_property
    def groups(self) -> list[slice]:
        """The components of each byte."""
        return list(itertools.starmap(slice, itertools.pairwise(self.ends.tolist())))

    @cached_property
    def squares(self) -> Array:
        """Squared length of each level, shape (n_bytes, 256); infinite for the zero row."""
        squares = np.add.reduceat(self.levels**2, self.ends[:-1], axis=1).T
        squares[0, ZERO] = np.inf
        return squares

    @cached_property
    def _lines(self) -> tuple[Array, Array]:
        """Levels with a row for each component, and half their squares weighted by importance."""
        levels = self.levels.T.astype(np.float64, order="C")
        half = np.add.reduceat(self.importance[:, None] * levels**2, self.ends[:-1], axis=0) / 2
        return levels, np.ascontiguousarray(half)

    def nearest(self, V: Array) -> Codes:
        """The level of each byte with the smallest error, in float64; of equal ones the first."""
        X = np.multiply(V, self.importance, dtype=np.float64, order="C")
        codes = np.empty((len(X), len(self.groups)), dtype=np.uint8)
        (levels, half), compiled = self._lines, library()
        if compiled is not None:
            sizes = *X.shape, self.ends, len(self.groups)
            _call(compiled.codec_nearest, X, *sizes, levels, half, codes)
            return codes
        blocks = pieces(0, len(X), BLOCK)
        for rows, (byte, group) in itertools.product(blocks, enumerate(self.groups)):
            scores = times(X[rows, group], levels[group]) - half[byte]
            best = scores.max(axis=1, keepdims=True)
            codes[rows, byte] = np.argmax(scores >= best - EQUAL * (1 + np.abs(best)), axis=1)
        return codes

    def encode(self, V: Array) -> Codes:
        """Codes of unit vectors in float64; zero rows have a reserved code."""
        codes, zero = self.nearest(V), ~V.any(axis=1)
        codes[zero] = 0
        codes[zero, 0] = ZERO
        return codes

    def decode(self, codes: Codes) -> Array:
        """Unit vectors, float32 of shape (n, r)."""
        V = self.levels[codes[:, self.packing], np.arange(len(self.packing))]
        V[codes[:, 0] == ZERO] = 0
        return unit_rows(V, overwrite=True)[0]

    def search(self, queries: Array, codes: Codes, k: int) -> tuple[Labels, Array]:
        """The k rows of the largest inner product with each query; ties go to the first row."""
        k, queries = min(k, len(codes)), queries.astype(np.float32)
        # In parts of the codes, if there are any, each with a separate result.
        find = self._by_decoding if library() is None else self._by_tables
        none = np.empty((len(queries), 0), np.int64), np.empty((len(queries), 0), np.float32)
        parts = zip(none, *find(queries, codes, k), strict=True)
        ids, scores = (np.concatenate(found, axis=1) for found in parts)
        return ranked(ids, scores, k)

    def _by_decoding(self, queries: Array, codes: Codes, k: int) -> Any:
        for rows in pieces(0, len(codes), BLOCK):
            most = min(k, rows.stop - rows.start)
            best = nearest_neighbours(self.decode(codes[rows]), queries, most, metric="inner")
            yield best.ids + rows.start, best.scores

    def _by_tables(self, queries: Array, codes: Codes, k: int) -> Any:
        compiled: Any = library()
        one = len(queries) == 1
        lanes, find = (2, compiled.codec_find_one) if one else (LANES, compiled.codec_find)
        batches = range(0, len(queries), lanes - 1)

        def look(job: tuple[int, int]) -> None:
            part, rows = job[0], slice(job[1], job[1] + lanes - 1)
            # Inner products with all levels, next to squared lengths.
            table = np.zeros((*self.squares.shape, lanes), dtype=np.float32)
            table[..., -1] = self.squares
            for line, group in zip(table, self.groups, strict=True):
                asked = queries[rows, group]
                line[:, : len(asked)] = times(self.levels[:, group], asked.T)
            some = codes[ends[part] : ends[part + 1]]
            best = scores[part, rows], ids[part, rows]
            _call(find, some, *some.shape, table, ends[part], k, *best)

        with parallel():
            ends = equal_ends(len(codes), -(-workers() // len(batches)))
            shape = (len(ends) - 1, len(batches) * (lanes - 1), k)
            ids, scores = np.full(shape, NOBODY), np.full(shape, -np.inf, dtype=np.float32)
            spread(look, list(itertools.product(range(len(ids)), batches)))
        return zip(ids[:, : len(queries)], scores[:, : len(queries)], strict=True)


def kmeans(X: Array, weight: Array, most: int, seed: int) -> Array:
    """At most this many centres of float32 rows: all distinct rows, if there are fewer."""
    rng = np.random.RandomState(seed)  # required by scikit-learn
    drawn = rng.permutation(np.flatnonzero(weight > 0))[:STARTING_ROWS]
    distinct = np.unique(np.round(X[drawn] / GRID) + 0.0, axis=0)
    if len(distinct) <= most:
        return (distinct * GRID).astype(np.float32)
    # k-means++ covers the tails, which a few iterations from rows drawn by weight alone do not:
    # with one component per byte, errors would be several times as large.
    options = {"sample_weight": weight[drawn], "random_state": rng, "n_local_trials": 1}
    centres = kmeans_plusplus(X[drawn], most, **options)[0].astype(np.float64)
    packing, one = np.zeros(X.shape[1], dtype=np.int64), np.ones(X.shape[1], dtype=np.float32)
    for _ in range(ITERATIONS):
        levels = _filled(centres).astype(np.float32)
        nearest = Quantiser(packing, one, levels).nearest(X)[:, 0]
        held = np.bincount(nearest, weights=weight, minlength=most)[:, None]
        sums = [np.bincount(nearest, weights=weight * x, minlength=most) for x in X.T]
        # A centre without rows stays where it is.
        np.divide(np.stack(sums, axis=1), held, out=centres, where=held > 0)
    return np.asarray(centres, dtype=np.float32)


def _filled(centres: Array) -> Array:
    """256 levels; missing ones are copies of the first."""
    return np.concatenate([centres, np.repeat(centres[:1], LEVELS - len(centres), axis=0)])
