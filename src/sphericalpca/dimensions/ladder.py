"""Subspaces of all dimensions from one fit.

Below the fit: its leading components, which are near the best of their number; where
they are few, they are improved within the span of some more of them.  Above: singular
vectors join.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sphericalpca.estimators import SphericalPCA
from sphericalpca.exceptions import NoDirectionWarning
from sphericalpca.linalg import Array, canonical_rotation, inner, orthonormal_outside, product
from sphericalpca.rows import Rows

__all__ = ["Ladder", "silently"]

# Up to this part of a fit's components leading ones are improved (on the MiniLM vectors of the
# newsgroups they lose .001 of mean cosine at 8 of 200, and .0002 at 32, where it would cost most),
IMPROVED_PART = 1 / 8
# within the span of so many times their number,
SPAN = 4
# to this residual.
TOLERANCE = 1e-2


class Ladder:
    """A fit, and subspaces of other dimensions made from it.

    Parameters
    ----------
    model : SphericalPCA
        Fitted with `weight`.
    rows : Rows
        The unit rows that it was fitted to.
    weight : array of shape (n,)
    further : array of shape (m, c)
        Orthonormal directions that join beyond the fit, where they lead out of it.
    """

    def __init__(self, model: SphericalPCA, rows: Rows, weight: Array, further: Array) -> None:
        self.model, self._weight = model, weight
        U = np.ascontiguousarray(model.components_.T)
        Z = rows.project(U)
        if further.shape[1]:
            outside = orthonormal_outside(U, further - U @ (U.T @ further))
            Y = rows.project(outside)
            weighted = Y * weight.astype(Y.dtype)[:, None]
            Q = canonical_rotation(inner(weighted, Y).astype(np.float64))[0].astype(Z.dtype)
            U, Z = np.hstack([U, outside @ Q]), np.hstack([Z, product(Y, Q)])
        self._U, self._Z = U, Z

    @property
    def size(self) -> int:
        """Components of the fit."""
        return self.model.n_components_

    @property
    def highest(self) -> int:
        """The largest dimension that there is a subspace of."""
        return int(self._Z.shape[1])

    def start(self, r: int) -> Array:
        """Where to begin a fit with another number of components, shape (m, r)."""
        return self._U[:, :r]

    def project(self, r: int) -> Array:
        """Projections of all rows on a good subspace of dimension r, shape (n, r)."""
        if r > IMPROVED_PART * self.size:
            return self._Z[:, :r]
        Z = self._Z[:, : min(SPAN * r, self.size)]
        small = SphericalPCA(r, normalize=False, init=np.eye(Z.shape[1], r), tol=TOLERANCE)
        with silently(NoDirectionWarning, ConvergenceWarning):
            small.fit(Z, sample_weight=self._weight)
        return product(Z, small.components_.T)


@contextmanager
def silently(*categories: type[Warning]) -> Iterator[None]:
    """Without warnings of these kinds."""
    with warnings.catch_warnings():
        for category in categories:
            warnings.simplefilter("ignore", category)
        yield
