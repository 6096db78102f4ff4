"""Cosines of queries with codes: one table of 256 numbers per byte, nothing decoded at length."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sphericalpca.codec.levels import Codes, kernels, pointer
from sphericalpca.codec.quantiser import Quantiser
from sphericalpca.linalg import Array
from sphericalpca.parallel import equal_ends, parallel, spread, workers
from sphericalpca.products import Labels, times

__all__ = ["Found", "all_cosines", "search_codes"]

LANES = 8  # queries that a kernel serves at a time
MOST_QUERIES = 1024  # whose tables are in memory at a time
BLOCK = 4096  # rows that are decoded at a time, where there are no kernels
NOBODY = np.iinfo(np.int64).max


class Found(NamedTuple):
    """The best rows for each query, best first: ids and scores of shape (n_queries, k)."""

    ids: Labels
    scores: Array


def search_codes(quantiser: Quantiser, queries: Array, codes: Codes, k: int) -> Found:
    """The k rows of the largest inner product with each query; ties go to the first row."""
    firsts = range(0, len(queries), MOST_QUERIES)
    parts = [_search(quantiser, queries[i : i + MOST_QUERIES], codes, k) for i in firsts]
    return Found(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _search(quantiser: Quantiser, queries: Array, codes: Codes, k: int) -> Found:
    k = min(k, len(codes))
    with parallel():
        ends = equal_ends(len(codes), min(workers(), max(1, len(codes) // BLOCK)))
        spans = [slice(*pair) for pair in itertools.pairwise(ends)]
        compiled = kernels()
        if compiled is None:
            parts = spread(lambda span: _by_decoding(quantiser, queries, codes, span, k), spans)
        else:
            batches = list(_batches(quantiser, queries))
            tables = _Tables(compiled, quantiser.squares, batches, k)
            parts = spread(lambda span: tables.search(codes[span], span.start), spans)
    ids = np.concatenate([part.ids for part in parts], axis=1)
    return _best(ids, np.concatenate([part.scores for part in parts], axis=1), k, len(queries))


def all_cosines(quantiser: Quantiser, queries: Array, codes: Codes) -> Array:
    """Inner products of all queries with all rows, float32."""
    out = np.empty((len(queries), len(codes)), dtype=np.float32)

    def fill(first: int) -> None:
        rows = slice(first, first + BLOCK)
        out[:, rows] = times(queries, quantiser.decode(codes[rows]).T)

    with parallel():
        spread(fill, range(0, len(codes), BLOCK))
    return out


def _batches(quantiser: Quantiser, queries: Array) -> Iterator[Array]:
    """Tables of eight queries, interleaved; the last ones are filled up with zeros."""
    for first in range(0, len(queries), LANES):
        tables = quantiser.tables(queries[first : first + LANES])
        padded = np.zeros((*tables.shape[1:], LANES), dtype=np.float32)
        padded[..., : len(tables)] = np.moveaxis(tables, 0, -1)
        yield padded if len(queries) > 1 else tables[0]


class _Tables(NamedTuple):
    """Search by compiled kernels."""

    kernels: ctypes.CDLL
    squares: Array
    batches: list[Array]
    k: int

    def search(self, codes: Codes, first: int) -> Found:
        """The best of these codes, of which the first has this number."""
        size, scale = ctypes.c_size_t, self._scale(codes)
        one = self.batches[0].ndim == 2
        kernel = self.kernels.codec_search_one if one else self.kernels.codec_search
        shape = (len(self.batches), 1 if one else LANES, self.k)
        ids, scores = np.full(shape, NOBODY), np.full(shape, -np.inf, dtype=np.float32)
        for table, best, found in zip(self.batches, scores, ids, strict=True):
            kernel(
                *(pointer(codes), size(len(codes)), size(codes.shape[1]), pointer(table)),
                *(pointer(scale), ctypes.c_int64(first), size(self.k)),
                *(pointer(best), pointer(found)),
            )
        return Found(ids.reshape(-1, self.k), scores.reshape(-1, self.k))

    def _scale(self, codes: Codes) -> Array:
        """What makes decoded rows unit length."""
        squares, size = np.empty(len(codes), dtype=np.float32), ctypes.c_size_t
        sizes = (size(len(codes)), size(codes.shape[1]))
        self.kernels.codec_sums(pointer(codes), *sizes, pointer(self.squares), pointer(squares))
        with np.errstate(divide="ignore"):
            return np.where(squares > 0, 1 / np.sqrt(squares), 0).astype(np.float32)


def _by_decoding(quantiser: Quantiser, queries: Array, codes: Codes, span: slice, k: int) -> Found:
    best = Found(np.empty((len(queries), 0), np.int64), np.empty((len(queries), 0), np.float32))
    for first in range(span.start, span.stop, BLOCK):
        rows = slice(first, min(first + BLOCK, span.stop))
        scores = times(queries.astype(np.float32), quantiser.decode(codes[rows]).T)
        ids = np.broadcast_to(np.arange(rows.start, rows.stop), scores.shape)
        ids, scores = np.hstack([best.ids, ids]), np.hstack([best.scores, scores])
        best = _best(ids, scores, min(k, ids.shape[1]), len(queries))
    return best


def _best(ids: Labels, scores: Array, k: int, count: int) -> Found:
    """The best k of each line, those of the smaller number first where scores are equal."""
    ids, scores = ids[:count], scores[:count]
    if scores.shape[1] > 4 * k:
        bound = np.partition(scores, -k, axis=1)[:, -k, None]
        most = int((scores >= bound).sum(axis=1).max())
        kept = np.argsort(~(scores >= bound), axis=1, kind="stable")[:, :most]
        ids, scores = np.take_along_axis(ids, kept, 1), np.take_along_axis(scores, kept, 1)
    order = np.lexsort((ids, -scores), axis=1)[:, :k]
    return Found(np.take_along_axis(ids, order, 1), np.take_along_axis(scores, order, 1))
