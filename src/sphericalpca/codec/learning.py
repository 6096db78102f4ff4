"""Learn levels from a fitted subspace and a sample of rows, and calibrate their errors."""

from __future__ import annotations

import heapq
import itertools
from typing import Any

import numpy as np

from sphericalpca.codec.quantiser import Quantiser
from sphericalpca.estimators.foreign import is_dask
from sphericalpca.estimators.validation import check_weights
from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array, unit_rows
from sphericalpca.metrics.heldout import take_rows
from sphericalpca.metrics.search import ranked
from sphericalpca.products import Labels, pieces, times
from sphericalpca.rows import Matrix, as_rows, dense

__all__ = ["exact_cosines", "ideal_bits", "importance", "interval", "learn", "pack", "project"]

# Rows to train levels on; numbers in a sample of long rows; rows to hold out.
MOST_ROWS, FEWEST_ROWS, MOST_NUMBERS = 2**15, 2**12, 2**25
HELD_OUT, MOST_HELD_OUT, FROM_ROWS = 1000, 4000, 2000
VANISHING = 1e-13  # a shorter projection of a unit row has no direction
# Rows whose neighbours are searched, how many, and rows at a time.
QUERIES, NEAREST, BLOCK = 1500, 10, 250
# Between 0 (all errors count equally) and 1 (by the differences of neighbours, which is right for
# small errors); between 0.5 and 0.85 recall hardly differs.
EXPONENT = 0.7
# Lower bounds: of the importance, relative to the largest; of a variance; and to avoid zero.
FLOOR, NO_VARIANCE, TINY = 1e-4, 1e-12, 1e-300
LEAST_BITS = 0.05  # a component that deserves fewer is left out
# Calibration of errors of cosines: neighbours by rank, and bins of estimates.
RANKS = (0, 1, 3, 7, 15, 31, 63)
TAILS, BINS, FEWEST_IN_BIN = (0.025, 0.975), 16, 400


def project(matrix: Matrix, U: Array) -> tuple[Array, Array]:
    """Rows of length 1 in the subspace, and their directions there; in float64."""
    rows = as_rows(matrix.astype(np.float64, copy=False))
    Y = rows.project(U.astype(np.float64))
    V, lengths = unit_rows(Y)
    V[~(lengths > VANISHING) | (rows.stats.norm == 0)] = 0
    return Y, V


def sample(X: Any, weight: Any, rng: Any) -> tuple[Matrix, Array]:
    """A sample of the rows, in memory, with their weights; all rows if there are few."""
    n, m = X.shape
    size = min(n, max(FEWEST_ROWS, min(3 * MOST_ROWS // 2, MOST_NUMBERS // m)))
    ids = np.sort(rng.choice(n, size, replace=False))
    weight = np.ones(n) if weight is None else check_weights(weight, n)
    return (X[ids].compute() if is_dask(X) else take_rows(X, ids)), weight[ids]


def learn(
    matrix: Matrix, weight: Array, A: Array, n_bytes: int, rng: Any, *, n: int, choose: bool
) -> tuple[dict[str, Any], Labels]:
    """Fitted attributes, from a sample of n rows and components, and the levels of each byte."""
    Y, V = project(matrix, A.T)
    there = np.flatnonzero(V.any(axis=1) & (weight > 0))
    if len(there) == 0:
        raise DataError(f"All {len(V)} rows in the sample are zero", remedy="remove zero rows")
    aside, trained, others = _parts(there, len(V) / n, rng)
    counts, shares = importance(V[trained]), weight[trained] / weight[trained].sum()
    variance = shares @ (V[trained] - shares @ V[trained]) ** 2
    bits = ideal_bits(variance * counts, 8.0 * n_bytes)
    r = max(n_bytes, int(np.flatnonzero(bits)[-1]) + 1) if choose else len(bits)
    packing = pack(bits[:r], n_bytes)
    order = np.argsort(packing, kind="stable")
    Y, bits, counts = Y[:, order], bits[order], counts[order]
    V = unit_rows(Y)[0]
    quantiser, levels = Quantiser.train(V[trained], weight[trained], counts, packing[order], rng)
    bits *= np.log2(levels).sum() / max(bits.sum(), TINY)
    decoded = quantiser.decode(quantiser.encode(V[aside]))
    distortion = max(float(np.mean(2 - 2 * np.einsum("ij,ij->i", Y[aside], decoded))), 0.0)
    ids, scores = quantiser.search(Y[aside], quantiser.encode(V[others]), RANKS[-1] + 1)
    # Where rows are few and not held out, the row itself must not be found.
    scores[others[ids] == aside[:, None]] = -np.inf
    ids, scores = ranked(ids, scores, ids.shape[1] - 1)
    truths = exact_cosines(matrix[aside], matrix, others[ids])
    fitted = {"components_": A[order], "bits_": bits, "distortion_": distortion}
    fitted["error_quantiles_"] = calibrate(scores, truths, len(others))
    return fitted | {"_quantiser": quantiser}, levels


def _parts(rows: Labels, sampled: float, rng: Any) -> tuple[Labels, Labels, Labels]:
    # Neighbours of held-out rows are searched among the last ones, of which the same share was
    # used for training as of all rows: errors of unseen rows have longer tails.
    if len(rows) < FROM_ROWS:
        return rows[:HELD_OUT], rows, rows
    spare = min((len(rows) - MOST_ROWS) // 4, MOST_HELD_OUT)
    held_out = max(min(HELD_OUT, len(rows) // 10), spare)
    aside, trained, others = np.split(rng.permutation(rows), [held_out, held_out + MOST_ROWS])
    untrained = len(rows) / sampled - held_out - len(trained)  # of all rows
    known = int(len(trained) * (len(others) / untrained if untrained > 0 else 1))
    known = max(known, FEWEST_ROWS - len(others))
    return aside, trained, np.concatenate([others, trained[:known]])


def importance(V: Array) -> Array:
    """Weights of squared errors in the components, with mean 1: by differences of neighbours."""
    spread, few = np.zeros(V.shape[1]), len(V) < 30 * NEAREST
    for part in () if few else pieces(0, min(QUERIES, len(V)), BLOCK):
        cosines = times(queries := V[part], V.T)
        cosines[cosines > 1 - 1e-6] = -2  # the row itself, and copies of it
        for column in np.argpartition(-cosines, NEAREST, axis=1)[:, :NEAREST].T:
            spread += ((queries - V[column]) ** 2).sum(axis=0)
    counts = np.maximum(spread / max(spread.max(), TINY), FLOOR) ** EXPONENT
    return np.asarray(counts / counts.mean())


def ideal_bits(variance: Array, bits: float) -> Array:
    """Bits of each component for equal errors, or none (water-filling)."""
    log = np.log2(np.maximum(variance, max(NO_VARIANCE * variance.max(), TINY)))
    order = np.sort(log)[::-1]
    level = (np.cumsum(order) - 2 * bits) / np.arange(1, len(log) + 1)
    found = np.maximum(0, (log - level[np.flatnonzero(order >= level)[-1]]) / 2)
    return np.asarray(np.where(found >= LEAST_BITS, found, 0))


def pack(bits: Array, n_bytes: int) -> Labels:
    """The byte of each component, so that all bytes carry about as many bits."""
    full = [(0.0, 0, byte) for byte in range(n_bytes)]
    found = np.empty(len(bits), dtype=np.int64)
    for component in np.argsort(-bits, kind="stable"):
        carried, held, found[component] = full[0]
        heapq.heapreplace(full, (carried + bits[component], held + 1, found[component]))
    return found


def exact_cosines(queries: Matrix, X: Matrix, ids: Labels) -> Array:
    """Cosines of each query with its candidate rows, given by index, whatever their lengths."""
    found = np.empty(ids.shape)
    for i, own in enumerate(ids if ids.size else ()):
        found[i] = as_rows(X[own]).project(unit_rows(dense(queries[[i]]))[0].T).ravel()
    return found


def calibrate(estimates: Array, truths: Array, n: int) -> Array:
    """Lines of rank / n, estimate and the quantiles of truth - estimate there, for `interval`."""
    lines = []  # by rank: neighbours are selected by high estimates, the first ones most
    for first, end in itertools.pairwise(rank for rank in RANKS if rank <= estimates.shape[1]):
        found, true = (part[:, first:end].ravel() for part in (estimates, truths))
        count = int(np.clip(len(found) // FEWEST_IN_BIN, 1, BINS))
        for part in np.array_split(np.argsort(found, kind="stable"), count):
            ends = np.quantile((true - found)[part], TAILS, method="weibull")
            lines.append(((first + end) / 2 / n, found[part].mean(), *ends))
    return np.array(lines or [(0, 0, 0, 0)], dtype=np.float64)


def interval(quantiles: Array, estimates: Array, n: int) -> Array:
    """Lower and upper ends for the cosines of neighbours, best first, found among n rows."""
    shares = np.unique(quantiles[:, 0])
    middle, ends = np.sqrt(shares[:-1] * shares[1:]), np.empty((*estimates.T.shape, 2))
    for rank, found in enumerate(estimates.T):
        share = shares[np.searchsorted(middle, (rank + 0.5) / n)]
        _, knots, *errors = quantiles[quantiles[:, 0] == share].T
        ends[rank] = np.transpose([found + np.interp(found, knots, error) for error in errors])
    return np.clip(ends.T, -1, 1)
