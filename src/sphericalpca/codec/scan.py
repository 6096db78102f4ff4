"""Cosines of queries with codes: one table of 256 numbers per byte, nothing decoded at length."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from sphericalpca.codec.quantiser import Codes, Quantiser, call, kernels
from sphericalpca.linalg import Array
from sphericalpca.metrics.search import Question, blocked_search
from sphericalpca.parallel import equal_ends, parallel, spread, workers
from sphericalpca.products import Labels, times

__all__ = ["all_cosines", "search_codes"]

LANES = 8  # queries that a kernel serves at a time; in place of the last, squared lengths
BLOCK = 4096  # rows that are decoded at a time
NOBODY = np.iinfo(np.int64).max


def search_codes(
    quantiser: Quantiser, queries: Array, codes: Codes, k: int
) -> tuple[Labels, Array]:
    """The k rows of the largest inner product with each query; ties go to the first row."""
    k, queries, compiled = min(k, len(codes)), queries.astype(np.float32), kernels()
    if compiled is None:
        question = Question(queries, k, "inner", None, np.empty(0, dtype=np.int64))
        best = blocked_search(_Decoded(quantiser, codes), question)
        return best.ids, best.scores
    one = len(queries) == 1
    lanes, find = (2, compiled.codec_find_one) if one else (LANES, compiled.codec_find)
    batches = range(0, len(queries), lanes - 1)

    def look(job: tuple[int, int]) -> None:
        part, rows = job[0], slice(job[1], job[1] + lanes - 1)
        some, table = codes[ends[part] : ends[part + 1]], _table(quantiser, queries[rows], lanes)
        call(find, some, *some.shape, table, ends[part], k, scores[part, rows], ids[part, rows])

    with parallel():
        ends = equal_ends(len(codes), -(-workers() // len(batches)))
        shape = (len(ends) - 1, len(batches) * (lanes - 1), k)
        ids, scores = np.full(shape, NOBODY), np.full(shape, -np.inf, dtype=np.float32)
        spread(look, list(itertools.product(range(len(ids)), batches)))
    ids, scores = (np.concatenate(part, axis=1)[: len(queries)] for part in (ids, scores))
    order = np.lexsort((ids, -scores), axis=1)[:, :k]
    return np.take_along_axis(ids, order, 1), np.take_along_axis(scores, order, 1)


def all_cosines(quantiser: Quantiser, queries: Array, codes: Codes) -> Array:
    """Inner products of all queries with all rows, float32."""
    out = np.empty((len(queries), len(codes)), dtype=np.float32)

    def fill(first: int) -> None:
        rows = slice(first, first + BLOCK)
        out[:, rows] = times(queries.astype(np.float32), quantiser.decode(codes[rows]).T)

    with parallel():
        spread(fill, range(0, len(codes), BLOCK))
    return out


@dataclass(frozen=True)
class _Decoded:
    """Rows that are decoded when they are asked for."""

    quantiser: Quantiser
    codes: Codes

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.codes), len(self.quantiser.packing)

    def __getitem__(self, rows: slice) -> Array:
        return self.quantiser.decode(self.codes[rows])


def _table(quantiser: Quantiser, queries: Array, lanes: int) -> Array:
    """Inner products with all levels, and squared lengths beside them: (n_bytes, 256, lanes)."""
    table = np.zeros((*quantiser.squares.shape, lanes), dtype=np.float32)
    table[..., -1] = quantiser.squares
    for byte, group in enumerate(quantiser.groups):
        table[byte, :, : len(queries)] = quantiser.levels[:, group] @ queries[:, group].T
    return table
