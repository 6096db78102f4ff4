"""How many bytes keep the neighbours: float32, float16, int8 and codes on one curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from sphericalpca.codec.codec import SphericalCodec
from sphericalpca.estimators.validation import check_matrix, generator
from sphericalpca.exceptions import Parameter, ShortfallWarning, silently, warn_caller
from sphericalpca.metrics.heldout import HeldOut, mean_share, smallest, take_rows
from sphericalpca.metrics.search import Ids
from sphericalpca.metrics.significance import check_confidence
from sphericalpca.rows import as_rows

__all__ = ["ByteChoice", "BytePoint", "choose_bytes"]

SMALLEST = 8  # bytes tried first
MOST_NUMBERS = 2**28  # larger rows are not searched in float16 and int8
SECOND_STAGE = 4  # candidates per neighbour that are re-ranked with full vectors


class BytePoint(NamedTuple):
    """Mean recall of a representation with its 95 % interval, and after re-ranking."""

    kind: str
    n_bytes: int
    recall: float
    low: float
    high: float
    reranked: float


class ByteChoice(NamedTuple):
    """The curve, by increasing bytes, and the fewest bytes of codes that reach the target."""

    curve: list[BytePoint]
    n_bytes: int | None
    recall: float | None
    k: int
    n_queries: int

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain numbers.

        Returns
        -------
        numbers : dict
        """
        return {**self._asdict(), "curve": [point._asdict() for point in self.curve]}


def choose_bytes(
    X: Any,
    *,
    recall: float | None = None,
    sizes: Sequence[int] = (),
    k: int = 10,
    queries: int = 1000,
    random_state: Any = None,
) -> ByteChoice:
    """Measure the recall of nearest neighbours by cosine against the bytes of a vector.

    Rows are held out as queries, and codecs are fitted to the others.  The lower end of the
    recall's 95 % interval must reach the target.

    Parameters
    ----------
    X : array, sparse matrix or rows in files, shape (n_samples, n_features)
    recall : float, optional
        A target between 0 and 1: find the fewest bytes that reach it, or give a `ShortfallWarning`.
    sizes : sequence of int, optional
        Other bytes of codes to measure.
    k, queries : int, default=10 and 1000
        Neighbours of each query, and rows to hold out, at most a fifth of all.
    random_state : int, RandomState or None, default=None
        Seed of the draw of queries and of the codecs.

    Returns
    -------
    choice : ByteChoice

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sphericalpca.codec import choose_bytes
    >>> choice = choose_bytes(load_digits().data, recall=0.7, random_state=0)
    >>> bool(0 < choice.n_bytes < 32)
    True
    """
    check_confidence(target := 0.5 if recall is None else recall, "recall")
    X = check_matrix(SphericalCodec(), X, reset=True, on_host=True)
    held, limit = HeldOut.draw(X, queries, k, generator(random_state)), min(X.shape)
    asked, base = take_rows(X, held.ids), np.delete(np.arange(held.n_rows), held.ids)
    curve = {(point.n_bytes, point.kind): point for point in _full(X, held)}

    @cache
    def measure(n_bytes: int) -> BytePoint:
        codec = SphericalCodec(n_bytes, random_state=random_state)
        with silently(UserWarning):  # every fit would repeat them
            codes = codec.fit(X, sample_weight=held.weight).encode(X)
        codec.__dict__.pop("feature_names_in_", None)  # rows taken from a table have no names
        found = base[codec.search(asked, codes[base], SECOND_STAGE * k).ids]
        size = codec.n_bytes_  # fewer, if clipped
        return curve.setdefault((size, "codes"), _point("codes", size, held, found))

    for size in sizes:
        measure(min(size, limit))
    least = smallest(lambda size: measure(size).low >= target, SMALLEST, limit) if recall else None
    best = measure(least) if least else None
    if best and best.low < target:
        found = f"{best.n_bytes} bytes keep {best.recall:.3f} ({best.low:.3f} to {best.high:.3f})"
        warn_caller(ShortfallWarning(found, ("the target is ", Parameter("recall", recall))))
    points = [curve[key] for key in sorted(curve)]
    return ByteChoice(points, best and best.n_bytes, recall, k, len(held.ids))


def _full(X: Any, held: HeldOut) -> Iterator[BytePoint]:
    """Full vectors in float32, float16 and int8 (scaled by their largest entry)."""
    n, m = X.shape
    yield BytePoint("float32", 4 * m, 1.0, 1.0, 1.0, 1.0)
    if n * m <= MOST_NUMBERS:
        Z = as_rows(X).project(np.eye(m))
        unit = Z / np.maximum(np.abs(Z).max(axis=1, keepdims=True), 1e-30)
        half, whole = unit.astype(np.float16), np.rint(127 * unit)
        for kind, n_bytes, rows in (("float16", 2 * m, half), ("int8", m, whole)):
            found = held.search(rows.astype(Z.dtype), SECOND_STAGE * held.k)
            yield _point(kind, n_bytes, held, found)


def _point(kind: str, n_bytes: int, held: HeldOut, found: Ids) -> BytePoint:
    share = mean_share(held.recall(found[:, : held.k], held.k), held.k)
    second = float(held.recall(found, held.k).mean())
    return BytePoint(kind, n_bytes, share.mean, share.low, share.high, second)
