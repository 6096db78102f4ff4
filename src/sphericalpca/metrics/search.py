"""Exact search: block by block in bounded memory on all threads, or by faiss."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sphericalpca.exceptions import DataError, Parameter, import_extra
from sphericalpca.linalg import Array, row_norms
from sphericalpca.parallel import equal_ends, parallel, spread, workers
from sphericalpca.products import times
from sphericalpca.rows import Matrix, RowSource, in_memory

__all__ = ["NOBODY", "Ids", "Metric", "Neighbours", "Question", "blocked_search", "faiss_search"]

# Rows of the base at a time, if they are short; long rows make smaller blocks.
BLOCK_ROWS = 16_384
BLOCK_ENTRIES = 16_000_000
# Scores that a thread holds at a time.
SCORES = 4_000_000

# To find the best of a line, columns are divided into groups of this many, or of fewer if there
# would be less than this many groups per neighbour.
DEPTH = 64
GROUPS = 4

# The row number of a missing neighbour.
NOBODY = -1

Ids = npt.NDArray[np.int64]
Metric = Literal["cosine", "inner", "euclidean"]


@dataclass(frozen=True)
class Neighbours:
    """The nearest rows of each query.

    Attributes
    ----------
    ids : int array of shape (n_queries, k)
        Row numbers in the base, nearest first, ties by row number; -1 where there are fewer
        than k rows.
    scores : array of shape (n_queries, k)
        Cosines, inner products, or minus the squared distances: larger is nearer.
    """

    ids: Ids
    scores: Array


@dataclass(frozen=True)
class Question:
    """Arguments of a search; see `nearest_neighbours`."""

    queries: Matrix
    k: int
    metric: Metric
    members: Ids | None
    left_out: Ids


def blocked_search(base: Matrix | RowSource, question: Question) -> Neighbours:
    """Search with numpy and scipy."""
    queries = _as_float(question.queries)
    # Differences of numbers far from zero would lose digits; a shift does not change distances.
    dense = not (sparse.issparse(base) or sparse.issparse(queries))
    shift = queries.mean(axis=0) if question.metric == "euclidean" and dense else None
    question = replace(question, queries=_prepared(queries, question.metric, shift))
    count = queries.shape[0]
    best = Neighbours(np.empty((count, 0), np.int64), np.empty((count, 0), queries.dtype))
    with parallel():
        for first, rows in _blocks(base, question.metric, shift):
            if question.metric != "cosine":
                _refuse_overflow(rows, question)
            best = _after(rows, first, best, question)
    return best


def faiss_search(base: Any, question: Question) -> Neighbours:
    """Search with faiss, in float32; rows left out are dropped from a copy of the base."""
    faiss = import_extra("faiss", "backend='faiss'", "faiss", "faiss")
    if not isinstance(base, np.ndarray) or sparse.issparse(question.queries):
        raise DataError(
            "the base or the queries are sparse or in files",
            ("with ", Parameter("backend", "faiss"), " both must be dense arrays in memory"),
            ("use ", Parameter("backend", "numpy")),
        )
    numbers = np.setdiff1d(np.arange(len(base)), question.left_out)
    rows = base[numbers] if len(question.left_out) else base
    shift = question.queries.mean(axis=0) if question.metric == "euclidean" else None

    def single(matrix: Array) -> Array:
        ready = _prepared(_as_float(matrix), question.metric, shift)
        return np.ascontiguousarray(ready, dtype=np.float32)

    distance = question.metric == "euclidean"
    kind = faiss.METRIC_L2 if distance else faiss.METRIC_INNER_PRODUCT
    # A query that is a row of the base finds itself, which is removed afterwards.
    wanted = min(question.k + (question.members is not None), len(rows))
    scores, places = faiss.knn(single(question.queries), single(rows), wanted, metric=kind)
    ids, scores = numbers[places], -scores if distance else scores
    if question.members is not None:
        own = ids == question.members[:, None]
        scores[own], ids[own] = -np.inf, NOBODY
    return Neighbours(*ranked(ids, scores, question.k))


def ranked(ids: Any, scores: Array, k: int) -> tuple[Ids, Array]:
    """The k best of each line; ties go to the smallest ids."""
    order = np.lexsort((ids, -scores))[:, :k]
    return np.take_along_axis(ids, order, 1), np.take_along_axis(scores, order, 1)


def _prepared(matrix: Matrix, metric: Metric, shift: Array | None) -> Matrix:
    """Unit rows for cosines; rows less `shift`, if there is one."""
    if metric != "cosine":
        return matrix if shift is None else matrix - shift
    lengths = _lengths(matrix)
    longest = float(lengths.max(initial=0.0))
    # The length of a row may overflow though its numbers do not.
    if not longest < float(np.finfo(matrix.dtype).max):
        beyond = f"beyond the largest number of {matrix.dtype}"
        value = f"The longest row has length {longest:.3g}, {beyond}"
        raise DataError(value, remedy="rescale base and queries")
    divisor = np.where(lengths > 0, lengths, 1).astype(matrix.dtype)
    if not sparse.issparse(matrix):
        return matrix / divisor[:, None]
    unit = matrix.copy()
    unit.data /= np.repeat(divisor, np.diff(unit.indptr))
    return unit


def _blocks(base: Any, metric: Metric, shift: Array | None) -> Iterator[tuple[int, Matrix]]:
    """Rows of the base in blocks, ready to be compared, after the number of the first row."""
    n, m = base.shape
    height = max(1, min(BLOCK_ROWS, BLOCK_ENTRIES // m))
    if isinstance(base, RowSource):
        parts = base.read(slice(0, n), height)
    else:
        parts = (base[first : first + height] for first in range(0, n, height))
    first = 0
    for part in parts:
        yield first, _prepared(_as_float(part), metric, shift)
        first += part.shape[0]


def _after(rows: Matrix, first: int, best: Neighbours, question: Question) -> Neighbours:
    """Merge the best so far with those of a block."""

    def look(part: slice) -> Neighbours:
        scores = _scores(question.queries[part], rows, question.metric)
        _strike_out(scores, first, part, question)
        known = Neighbours(best.ids[part], best.scores[part])
        return _merged(known, scores, first, question.k)

    count = question.queries.shape[0]
    parts = max(workers(), -(-count * rows.shape[0] // SCORES))
    ends = itertools.pairwise(equal_ends(count, min(parts, count)))
    found = spread(look, list(itertools.starmap(slice, ends)))
    ids, scores = zip(*((part.ids, part.scores) for part in found), strict=True)
    return Neighbours(np.concatenate(ids), np.concatenate(scores))


def _peak(matrix: Matrix) -> float:
    return float(np.abs(matrix.data if sparse.issparse(matrix) else matrix).max(initial=0.0))


def _refuse_overflow(rows: Matrix, question: Question) -> None:
    """Raise an error if products of long rows may overflow."""
    peak, largest = _peak(rows), _peak(question.queries)
    a, b = max(peak, 1.0), max(largest, 1.0)
    if question.metric == "euclidean":  # squared distances need both squares
        a = b = max(a, b)
    if not 4.0 * rows.shape[1] * a * b < float(np.finfo(rows.dtype).max):
        raise DataError(
            f"The largest numbers are {peak:.3g} in the base and {largest:.3g} in the queries, too "
            f"large for products in {rows.dtype}",
            remedy=("rescale both, or use ", Parameter("metric", "cosine")),
        )


def _scores(queries: Matrix, rows: Matrix, metric: Metric) -> Array:
    """Scores of each row of the block for each query: larger is nearer."""
    product = times(queries, rows.T)
    scores: Array = np.asarray(product.toarray() if sparse.issparse(product) else product)
    if metric == "euclidean":
        scores *= 2
        scores -= (_lengths(rows) ** 2).astype(scores.dtype)
        scores -= (_lengths(queries) ** 2).astype(scores.dtype)[:, None]
        np.minimum(scores, 0, out=scores)
    return scores


def _strike_out(scores: Array, first: int, part: slice, question: Question) -> None:
    """Set the scores of rows that must not be neighbours to -inf."""
    width = scores.shape[1]
    absent = question.left_out - first
    scores[:, absent[(absent >= 0) & (absent < width)]] = -np.inf
    if question.members is not None:
        own = question.members[part] - first
        here = np.flatnonzero((own >= 0) & (own < width))
        scores[here, own[here]] = -np.inf


def _merged(known: Neighbours, scores: Array, first: int, k: int) -> Neighbours:
    """The k best of those known and of a block whose rows begin with number `first`."""
    count, kept = len(scores), known.ids.shape[1]
    floor = _floor(scores, k)
    if kept == k:
        floor = np.maximum(floor, known.scores[:, -1])
    # Excluded rows have scores below any number.
    floor = np.maximum(floor, np.finfo(scores.dtype).min)
    # In one dimension, which is several times faster in numpy.
    line, column = np.divmod(np.flatnonzero(scores >= floor[:, None]), scores.shape[1])
    lines = np.concatenate([np.repeat(np.arange(count), kept), line])
    ids = np.concatenate([known.ids.ravel(), column + first])
    values = np.concatenate([known.scores.ravel(), scores[line, column]])
    return _first_of_each(count, k, lines, ids, values)


def _floor(scores: Array, k: int) -> Array:
    """A score that k or a few more scores of each line reach; much faster than the k best."""
    count, width = scores.shape
    depth = min(DEPTH, width // (GROUPS * k))
    if depth < 2:
        place = width - min(k, width)
        return np.partition(scores, place, axis=1)[:, place]
    groups = width // depth
    # The k-th of the maxima of groups.
    maxima = scores[:, : depth * groups].reshape(count, depth, groups).max(axis=1)
    return np.asarray(np.partition(maxima, groups - k, axis=1)[:, groups - k])


def _first_of_each(count: int, k: int, lines: Ids, ids: Ids, values: Array) -> Neighbours:
    """The k largest values of each line; ties go to the smallest ids."""
    order = np.lexsort((ids, -values, lines))
    lines, ids, values = lines[order], ids[order], values[order]
    place = np.arange(len(lines)) - np.searchsorted(lines, lines)
    kept = place < k
    out = Neighbours(np.full((count, k), NOBODY), np.full((count, k), -np.inf, values.dtype))
    out.ids[lines[kept], place[kept]] = ids[kept]
    out.scores[lines[kept], place[kept]] = values[kept]
    return out


def _lengths(matrix: Matrix) -> Array:
    if sparse.issparse(matrix):
        return in_memory(matrix, normalize=False).stats.norm
    return row_norms(matrix)


def _as_float(matrix: Matrix) -> Matrix:
    """Convert float16 to float32 and all but float32 to float64; keep float32 as it is."""
    matrix = matrix if sparse.issparse(matrix) else np.asarray(matrix)
    single = matrix.dtype.kind == "f" and matrix.dtype.itemsize <= 4
    return matrix.astype(np.float32 if single else np.float64, copy=False)
