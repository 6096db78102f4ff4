"""Orthogonal matching pursuit for blocks of rows; `benchmarks/bench_baselines.py` measures it.

It takes the steps of scikit-learn's `orthogonal_mp_gram`, 40 to 80 times faster on thousands of
rows with 20 atoms.  If atoms are linearly dependent, a row gets fewer non-zeros.
"""

from __future__ import annotations

import numpy as np

from sphericalpca.linalg import Array

__all__ = ["matching_pursuit"]

# The code of a row is complete when all its correlations are this small, relative to the first.
CODED = 1e-8
# Below this squared distance from the span of others a unit atom adds nothing.
DEPENDENT = 1e-10
# Size of the largest array of a block: it should fit in the cache.
BLOCK_ENTRIES = 200_000


def matching_pursuit(gram: Array, correlations: Array, n_nonzero: int) -> Array:
    """Codes (n x k), `n_nonzero` entries per row, from D D' and X D' for atoms D of unit length."""
    n, k = correlations.shape
    codes = np.zeros((n, k))
    height = max(1, BLOCK_ENTRIES // (k * n_nonzero))
    for first in range(0, n, height):
        span = slice(first, first + height)
        codes[span] = _pursue(gram, correlations[span], n_nonzero)
    return codes


def _pursue(gram: Array, correlations: Array, n_nonzero: int) -> Array:
    """Gram-Schmidt in coordinates: the basis of a row is given by its products with all atoms."""
    n, k = correlations.shape
    each = np.arange(n)
    remaining = correlations.copy()  # <d, residual> for every atom d
    basis = np.zeros((n, n_nonzero, k))  # <d, q_t>
    share = np.zeros((n, n_nonzero))  # <x, q_t>
    inverse = np.zeros((n, n_nonzero))  # 1 / <d, q_t> for the atom d chosen at t
    chosen = np.zeros((n, n_nonzero), dtype=np.intp)
    floor = CODED * np.abs(correlations).max(axis=1)
    for t in range(n_nonzero):
        atom = np.abs(remaining).argmax(axis=1)
        before = basis[each, :t, atom]
        height = 1.0 - np.einsum("nt,nt->n", before, before)
        useful = (np.abs(remaining[each, atom]) > floor) & (height > DEPENDENT)
        chosen[:, t] = atom
        inverse[useful, t] = 1.0 / np.sqrt(height[useful])
        basis[:, t] = gram[atom] - (before[:, None, :] @ basis[:, :t])[:, 0]
        basis[:, t] *= inverse[:, t, None]
        share[:, t] = remaining[each, atom] * inverse[:, t]
        remaining -= share[:, t, None] * basis[:, t]
    # Codes of the chosen atoms, which are triangular in the basis made from them.
    codes = np.zeros((n, k))
    for t in reversed(range(n_nonzero)):
        # Subtract what atoms chosen later contribute along q_t; useless atoms have code 0.
        given = np.einsum("nk,nk->n", basis[:, t], codes)
        codes[each, chosen[:, t]] += (share[:, t] - given) * inverse[:, t]
    return codes
