"""From a fitted subspace and a sample of rows to levels, and what to expect of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.preprocessing import normalize

from sphericalpca.codec.allocation import ideal_bits, importance, pack
from sphericalpca.codec.intervals import NEIGHBOURS, calibrate
from sphericalpca.codec.quantiser import Quantiser
from sphericalpca.codec.scan import search_codes
from sphericalpca.estimators.foreign import is_dask
from sphericalpca.linalg import Array, unit_rows
from sphericalpca.metrics.heldout import take_rows
from sphericalpca.products import Labels
from sphericalpca.rows import Matrix, RowSource, as_rows

__all__ = ["Learned", "exact_cosines", "learn", "project", "sample"]

# Rows that levels are trained on; numbers in a sample of long rows; rows that are held out.
MOST_ROWS, FEWEST_ROWS, MOST_NUMBERS = 2**15, 2**12, 2**25
MOST_HELD_OUT, FROM_ROWS = 1000, 2000
# A projection of a unit row that is shorter than this has no direction.
VANISHING = 1e-13


@dataclass(frozen=True)
class Learned:
    """What a codec knows beside its subspace: see the attributes of `SphericalCodec`."""

    quantiser: Quantiser
    bits: Array
    distortion: float
    quantiles: Array


def project(matrix: Matrix, U: Array) -> tuple[Array, Array]:
    """Rows of length 1 in the subspace, and their directions there; in float64."""
    rows = as_rows(matrix.astype(np.float64, copy=False))
    Y = rows.project(U.astype(np.float64))
    V, lengths = unit_rows(Y)
    V[~(lengths > VANISHING) | (rows.stats.norm == 0)] = 0
    return Y, V


def sample(X: Any, weight: Array | None, rng: Any) -> tuple[Matrix, Array]:
    """Some rows in memory with their weights; all of them if they are few."""
    n, m = X.shape
    size = min(n, max(FEWEST_ROWS, min(3 * MOST_ROWS // 2, MOST_NUMBERS // m)))
    ids = np.sort(rng.choice(n, size, replace=False))
    weight = np.ones(n) if weight is None else weight
    if is_dask(X):
        return X[ids].compute(), weight[ids]
    everything = size == n and not isinstance(X, RowSource)
    return X if everything else take_rows(X, ids), weight[ids]


def learn(
    matrix: Matrix, weight: Array, U: Array, n_bytes: int, rng: Any, *, choose: bool
) -> Learned:
    """Choose the number of components, if asked to, and which of them share a byte; find levels."""
    Y, V = project(matrix, U)
    there = np.flatnonzero(V.any(axis=1) & (weight > 0))
    aside, trained, others = _parts(there, rng)
    counts, variance = importance(V[trained]), _variance(V[trained], weight[trained])
    bits = ideal_bits(variance * counts, 8.0 * n_bytes)
    if choose:
        r = max(n_bytes, int(np.flatnonzero(bits)[-1]) + 1)
        Y, V = Y[:, :r], unit_rows(Y[:, :r])[0]
        counts, bits = counts[:r], bits[:r]
    packing = pack(bits, n_bytes)
    quantiser = Quantiser.train(V[trained], weight[trained], counts, packing, rng)
    bits *= np.log2(np.maximum(quantiser.counts, 1)).sum() / max(bits.sum(), 1e-300)
    quantiles, distortion = _expect(matrix, Y, quantiser, aside, others)
    return Learned(quantiser, bits, distortion, quantiles)


def _parts(rows: Labels, rng: Any) -> tuple[Labels, Labels, Labels]:
    """Rows that are held out, those to train on, and those to find the former's neighbours among.

    Most rows will not be among those trained on if these are a sample.
    """
    if len(rows) < FROM_ROWS:
        return rows[:MOST_HELD_OUT], rows, rows
    held_out = min(MOST_HELD_OUT, len(rows) // 10)
    aside, trained, others = np.split(rng.permutation(rows), [held_out, held_out + MOST_ROWS])
    return aside, trained, others if len(others) >= FEWEST_ROWS else trained


def _variance(V: Array, weight: Array) -> Array:
    mean, square = (np.average(power, axis=0, weights=weight) for power in (V, V**2))
    return np.maximum(square - mean**2, 0)


def _expect(
    matrix: Matrix, Y: Array, quantiser: Quantiser, aside: Labels, others: Labels
) -> tuple[Array, float]:
    """Quantiles of errors of cosines of rows that were held out with the others.

    Also their own mean squared error.
    """
    V = unit_rows(Y)[0]
    decoded = quantiser.decode(quantiser.encode(V[aside]))
    distortion = float(np.mean(2 - 2 * np.einsum("ij,ij->i", Y[aside], decoded)))
    found = search_codes(quantiser, Y[aside], quantiser.encode(V[others]), NEIGHBOURS + 1)
    # Without the row itself, which was not held out where rows are few.
    ids, scores = others[found.ids], found.scores
    other = np.argsort(ids == aside[:, None], axis=1, kind="stable")[:, : ids.shape[1] - 1]
    ids, scores = np.take_along_axis(ids, other, 1), np.take_along_axis(scores, other, 1)
    truth = exact_cosines(matrix[aside], matrix, ids)
    return calibrate(scores, truth, len(others)), distortion


def exact_cosines(queries: Matrix, X: Matrix, ids: Labels) -> Array:
    """Cosines of each query with rows of its own, by their numbers."""
    found = np.empty(ids.shape)
    Q = normalize(queries) if ids.size else queries
    for i, own in enumerate(ids if ids.size else ()):
        products = normalize(X[own]) @ Q[[i]].T
        found[i] = np.ravel(products.toarray() if issparse(products) else products)
    return found
