"""Exact search by faiss."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from scipy import sparse

from sphericalpca.exceptions import DataError, MissingExtraError
from sphericalpca.linalg import Array
from sphericalpca.metrics.search import NOBODY, Neighbours, Question, as_float, prepared

__all__ = ["faiss_search"]


def faiss_search(base: Any, question: Question) -> Neighbours:
    """The answer in float32; faiss knows no rows left out, so the base is copied without them."""
    try:
        faiss = importlib.import_module("faiss")
    except ImportError:
        raise MissingExtraError("backend='faiss'", "faiss", "faiss") from None
    if not isinstance(base, np.ndarray) or sparse.issparse(question.queries):
        raise DataError("backend='faiss' takes dense arrays in memory only: use backend='numpy'.")
    numbers = np.setdiff1d(np.arange(len(base)), question.left_out)
    rows = base[numbers] if len(question.left_out) else base
    shift = question.queries.mean(axis=0) if question.metric == "euclidean" else None

    def single(matrix: Array) -> Array:
        ready = prepared(as_float(matrix), question.metric, shift)
        return np.ascontiguousarray(ready, dtype=np.float32)

    distance = question.metric == "euclidean"
    kind = faiss.METRIC_L2 if distance else faiss.METRIC_INNER_PRODUCT
    # A row that is a query itself is found too, and struck out afterwards.
    wanted = min(question.k + (question.members is not None), len(rows))
    scores, places = faiss.knn(single(question.queries), single(rows), wanted, metric=kind)
    return _ordered(numbers[places], -scores if distance else scores, question)


def _ordered(ids: Any, scores: Array, question: Question) -> Neighbours:
    if question.members is not None:
        own = ids == question.members[:, None]
        scores[own], ids[own] = -np.inf, NOBODY
    order = np.lexsort((ids, -scores))[:, : question.k]
    return Neighbours(np.take_along_axis(ids, order, 1), np.take_along_axis(scores, order, 1))
