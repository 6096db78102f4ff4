"""Check results in float64, untimed and independently of the code under test.

Only the upper bound on the optimum comes from the package itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sphericalpca.certificate import DIRECT_SIZE, Certificate, certify
from sphericalpca.linalg import Array
from sphericalpca.problem import Problem
from sphericalpca.rows import Matrix, as_rows

__all__ = ["SLACK", "SubspaceQuality", "certificate", "is_right", "measure"]

# A float32 fit stops by its own residual, which may be this far below the true one by rounding.
SLACK = 1.05

# Number of bounds computed for a certificate; more make the gap a little smaller.
BOUNDS = 8

BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True)
class SubspaceQuality:
    """The quality of a subspace.

    Attributes
    ----------
    value : float
        f(U) = sum_j ||U'x_j||, on unit rows.
    residual : float
        ||G - U sym(U'G)|| / ||G||, with G = X'V.
    rows : int
        Rows that are not zero.
    skewness : float
        Largest entry of |U'U - I|: U is orthonormal to this.
    """

    value: float
    residual: float
    rows: int
    skewness: float

    @property
    def loss(self) -> float:
        """The paper's h = sum_j ||x_j - U v_j||^2 at the best V."""
        return 2.0 * (self.rows - self.value)


def measure(X: Matrix, U: Array) -> SubspaceQuality:
    """Check a subspace by plain formulas; rows are scaled to unit length here."""
    U = np.asarray(U, dtype=np.float64)
    value, rows, G = 0.0, 0, np.zeros_like(U)
    for block in _unit_blocks(X):
        Y = np.asarray(block @ U)
        lengths = np.linalg.norm(Y, axis=1)
        G += block.T @ (Y / np.where(lengths > 0, lengths, 1.0)[:, None])
        value, rows = value + float(lengths.sum()), rows + block.shape[0]
    A = U.T @ G
    tangent = np.linalg.norm(G - U @ (A + A.T) / 2)
    skewness = float(np.abs(U.T @ U - np.eye(U.shape[1])).max())
    return SubspaceQuality(value, float(tangent / np.linalg.norm(G)), rows, skewness)


def is_right(found: SubspaceQuality, tol: float) -> bool:
    """Whether U is orthonormal and its residual is at most the requested one."""
    return found.skewness < 1e-9 and found.residual <= SLACK * tol


def certificate(X: Matrix, U: Array) -> Certificate | None:
    """An upper bound on f over all subspaces, or None where it would take minutes."""
    if min(X.shape) > DIRECT_SIZE:
        return None
    return certify(Problem(as_rows(X)), U, max_bounds=BOUNDS)


def _unit_blocks(X: Matrix) -> Iterator[Matrix]:
    """Blocks of non-zero rows in float64, of unit length."""
    size = max(1, BLOCK_NUMBERS // X.shape[1]) if not sparse.issparse(X) else X.shape[0]
    for first in range(0, X.shape[0], size):
        block = X[first : first + size].astype(np.float64)
        if sparse.issparse(block):
            lengths = np.sqrt(np.asarray(block.multiply(block).sum(axis=1)).ravel())
            scale = sparse.diags_array(1.0 / lengths[lengths > 0])
            yield scale @ block[lengths > 0]
        else:
            lengths = np.linalg.norm(block, axis=1)
            yield block[lengths > 0] / lengths[lengths > 0, None]
