"""Nearest neighbours by exact search, and the recall of other searches."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal, get_args

import numpy as np
from scipy import sparse

from sphericalpca.exceptions import DataError, Parameter, ParameterError, check_choice
from sphericalpca.linalg import Array
from sphericalpca.metrics.search import Metric, Neighbours, Question, blocked_search, faiss_search
from sphericalpca.rows import Matrix, RowSource, first_non_finite
from sphericalpca.rows.structure import sound, summed

__all__ = ["check_k", "nearest_neighbours", "recall_at_k", "recall_per_query"]

BACKENDS = ("auto", "numpy", "faiss")

# Pairs of ids that are compared at a time.
PAIRS = 20_000_000


def nearest_neighbours(
    base: Matrix | RowSource,
    queries: Matrix | None = None,
    k: int = 10,
    *,
    metric: Metric = "cosine",
    members: Any = None,
    left_out: Any = None,
    backend: Literal["auto", "numpy", "faiss"] = "auto",
) -> Neighbours:
    """Find the k rows of the base that are nearest to each query, by exact search.

    Parameters
    ----------
    base : array or CSR matrix of shape (n, m), or rows in files
    queries : array or CSR matrix of shape (n_queries, m), optional
        By default all rows of the base, or its `members`.
    k : int, default=10
    metric : {"cosine", "inner", "euclidean"}, default="cosine"
        A zero row has cosine 0 with every other.
    members : int array of shape (n_queries,), optional
        Row numbers of the queries in the base, so that no row is its own neighbour.
    left_out : int array, optional
        Row numbers of the base to exclude.
    backend : {"auto", "numpy", "faiss"}, default="auto"
        "faiss" computes in float32 with a copy of the base, and may resolve ties at the last
        place differently.  "auto" is "numpy", which was faster in benchmarks.

    Returns
    -------
    neighbours : Neighbours

    Raises
    ------
    DataError
        If rows are not finite, have different lengths, or are fewer than k.
    TypeError
        If `queries` is None, and the base is in files.
    ParameterError
        If the metric or the backend is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from sphericalpca.metrics import nearest_neighbours
    >>> base = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
    >>> nearest_neighbours(base, np.array([[2.0, 1.0]]), k=2).ids.tolist()
    [[1, 0]]
    """
    check_choice("metric", metric, get_args(Metric))
    check_choice("backend", backend, BACKENDS)
    base = _as_matrix("base", base)
    if queries is None:
        members = np.arange(base.shape[0]) if members is None else members
        if isinstance(base, RowSource):
            raise TypeError("queries=None needs a base in memory: pass the queries as an array.")
        queries = base[np.asarray(members)]
    question = Question(
        _as_matrix("queries", queries),
        k,
        metric,
        None if members is None else np.asarray(members, dtype=np.int64),
        np.unique(np.asarray([] if left_out is None else left_out, dtype=np.int64)),
    )
    _check(base, question)
    return faiss_search(base, question) if backend == "faiss" else blocked_search(base, question)


def recall_per_query(true_ids: Any, found_ids: Any, k: int | None = None) -> Array:
    """Compute the fraction of each query's k true neighbours that were found.

    Parameters
    ----------
    true_ids : int array of shape (n_queries, t)
        All correct rows, more than k if some tie at the k-th place: any k of them count as
        correct.  Negative numbers are ignored.
    found_ids : int array of shape (n_queries, f)
        Rows found, each once.
    k : int, optional
        By default the number of columns of `true_ids`.

    Returns
    -------
    recall : array of shape (n_queries,)

    Raises
    ------
    ParameterError
        If the arrays do not hold row numbers with one line for each query, or `k` is not a
        positive integer.

    Examples
    --------
    >>> from sphericalpca.metrics import recall_per_query
    >>> recall_per_query([[1, 2], [3, 4]], [[2, 1], [3, 9]])
    array([1. , 0.5])
    """
    true, found = np.asarray(true_ids), np.asarray(found_ids)
    numbers = true.dtype.kind in "iuf" and found.dtype.kind in "iuf"
    if not numbers or true.ndim != 2 or found.ndim != 2 or len(true) != len(found):
        raise ParameterError(
            f"true_ids has shape {true.shape} and found_ids has shape {found.shape}",
            "both must be tables of row numbers, with one line for each query",
        )
    k = true.shape[1] if k is None else k
    check_k(k, "the number of neighbours to find")
    lines = max(1, PAIRS // max(1, true.shape[1] * found.shape[1]))
    hits = np.zeros(len(true))
    for first in range(0, len(true), lines):
        part = slice(first, first + lines)
        same = true[part, :, None] == found[part, None, :]
        hits[part] = (same & (true[part, :, None] >= 0)).any(axis=1).sum(axis=1)
    return np.minimum(hits / int(k), 1.0)


def recall_at_k(true_ids: Any, found_ids: Any, k: int | None = None) -> float:
    """Compute the mean fraction of the k true neighbours that were found.

    Parameters
    ----------
    true_ids, found_ids, k
        As in `recall_per_query`.

    Returns
    -------
    recall : float

    Raises
    ------
    ParameterError
        As in `recall_per_query`, and if there are no queries.

    Examples
    --------
    >>> from sphericalpca.metrics import recall_at_k
    >>> recall_at_k([[4, 7], [1, 2]], [[7, 9], [2, 1]])
    0.75
    """
    recalls = recall_per_query(true_ids, found_ids, k)
    if recalls.size == 0:
        rule = "at least one query is needed"
        raise ParameterError("true_ids and found_ids are empty", rule)
    return float(recalls.mean())


def check_k(k: Any, meaning: str) -> None:
    """Refuse a `k` that is not a positive integer."""
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
        raise ParameterError(Parameter("k", k), f"must be a positive integer, {meaning}")


def _as_matrix(name: str, given: Any) -> Any:
    """Convert to an array or a CSR matrix of real numbers; files stay as they are."""
    if isinstance(given, RowSource):
        return given
    matrix = summed(sound(given)) if sparse.issparse(given) else np.asarray(given)
    if matrix.dtype.kind not in "fiub" or matrix.ndim != 2 or 0 in matrix.shape:
        raise DataError(
            f"The {name} have shape {matrix.shape} and type {matrix.dtype}",
            "must be a matrix of real numbers with at least one row and column",
        )
    return matrix


def _check(base: Any, question: Question) -> None:
    (n, m), shape = base.shape, question.queries.shape
    members, left_out = question.members, question.left_out
    if shape[1] != m:
        remedy = f"pass queries of shape (n_queries, {m})"
        raise DataError(f"The queries have shape {shape}", f"the base has {m} columns", remedy)
    if members is not None and members.shape != shape[:1]:
        rule, remedy = f"there are {shape[0]} queries", "pass one row number for each"
        raise DataError(f"members has shape {members.shape}", rule, remedy)
    for name, ids in (("members", members), ("left_out", left_out)):
        if ids is not None and ids.size and not (ids.min() >= 0 and ids.max() < n):
            rule = f"must hold row numbers of the base, from 0 to {n - 1}"
            raise DataError(f"{name} holds numbers from {ids.min()} to {ids.max()}", rule)
    there = n - len(left_out) - (members is not None)
    if not isinstance(question.k, Integral) or not 1 <= question.k <= there:
        raise DataError(
            Parameter("k", question.k),
            f"must be an integer from 1 to {there}, the number of rows that can be neighbours",
            "lower it, or pass more rows",
        )
    for name, matrix in (("base", base), ("queries", question.queries)):
        # Files are checked when they are opened.
        place = None if isinstance(matrix, RowSource) else first_non_finite(matrix)
        if place is not None:
            value = f"Row {place[0]} of the {name} holds {place[2]} in column {place[1]}"
            raise DataError(value, "every entry must be finite", "repair or drop that row")
