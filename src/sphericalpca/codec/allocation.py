"""Which components share a byte: bits go where errors would change the ranking most."""

from __future__ import annotations

import heapq

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.products import Labels, times

__all__ = ["ideal_bits", "importance", "pack"]

# Neighbours that are looked for, of how many rows, and below how many rows none are.
NEIGHBOURS, QUERIES, FEWEST_ROWS = 10, 1500, 300
BLOCK = 250  # queries at a time
# Between 0 (errors count alike) and 1 (by what tells neighbours apart, which is right for small
# errors); between 0.5 and 0.85 recall hardly differs.
EXPONENT = 0.7
# The least that an error may count, compared with the largest; and the least variance.
FLOOR, NO_VARIANCE = 1e-4, 1e-12
# A component that deserves less than this is left out.
LEAST_BITS = 0.05


def importance(V: Array) -> Array:
    """How much a squared error in each component counts, with mean 1.

    Neighbours x of a query q are ranked by <q, x>.  An error e along x is undone by the unit length
    of decoded vectors, so what is left is <q - x, e>: errors count where neighbours differ.
    """
    n = len(V)
    if n < FEWEST_ROWS:
        return np.ones(V.shape[1])
    k, spread = min(NEIGHBOURS, n // 30), np.zeros(V.shape[1])
    for first in range(0, min(QUERIES, n), BLOCK):
        queries = V[first : min(first + BLOCK, QUERIES)]
        cosines = times(queries, V.T)
        cosines[cosines > 1 - 1e-6] = -2  # the row itself, and copies of it
        nearest = np.argpartition(-cosines, k, axis=1)[:, :k]
        for j in range(k):
            spread += np.sum((queries - V[nearest[:, j]]) ** 2, axis=0, dtype=np.float64)
    if not spread.max() > 0:
        return np.ones(V.shape[1])
    counts = np.maximum(spread / spread.max(), FLOOR) ** EXPONENT
    return np.asarray(counts / counts.mean())


def ideal_bits(variance: Array, bits: float) -> Array:
    """How many of the bits each component deserves: equal errors, or none (water-filling)."""
    top = float(variance.max())
    log = np.log2(np.maximum(variance, NO_VARIANCE * top) if top > 0 else np.ones(len(variance)))
    order = np.sort(log)[::-1]
    level = (np.cumsum(order) - 2 * bits) / np.arange(1, len(log) + 1)
    used = int(np.flatnonzero(order >= level)[-1])
    found = np.maximum(0, (log - level[used]) / 2)
    return np.asarray(np.where(found >= LEAST_BITS, found, 0))


def pack(bits: Array, n_bytes: int) -> Labels:
    """The byte of each component, so that all bytes carry about as many bits.

    Large components are mixed with small ones: a byte with three of different size is a better
    quantiser than one with two large ones beside one with many small ones.
    """
    full = [(0.0, 0, byte) for byte in range(n_bytes)]
    found = np.empty(len(bits), dtype=np.int64)
    for component in np.argsort(-bits, kind="stable"):
        carried, held, byte = heapq.heappop(full)
        found[component] = byte
        heapq.heappush(full, (carried + float(bits[component]), held + 1, byte))
    return found
