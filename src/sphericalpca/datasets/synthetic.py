"""Made-up data whose right answer is known."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from sphericalpca.linalg import Array

__all__ = ["make_toy"]

# Coordinates are drawn from [0, SIDE), as in the authors' program.
SIDE = 20.0


def make_toy(
    n_per_group: int = 100, *, random_state: Any = None
) -> tuple[Array, npt.NDArray[np.integer[Any]]]:
    """Two groups of points that differ in direction, not in distance: the paper's toy.

    Coordinates x, y, z are uniform on [0, 20).  One group is laid into the plane y = 0
    with z lifted to ``max(z, x)``, so that it fills the wedge between the line x = z and
    the z axis; the other into the plane x = 0 with z lifted to ``max(z, y)``.  Within a
    group lengths vary freely, so only the angles tell the groups apart.

    Parameters
    ----------
    n_per_group : int, default=100
        Number of points in each group.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (2 * n_per_group, 3)
        The points, the first group first; not normalised.
    labels : ndarray of int of shape (2 * n_per_group,)
        0 for the group in the plane y = 0, 1 for the group in the plane x = 0.

    Examples
    --------
    >>> from sphericalpca.datasets import make_toy
    >>> X, labels = make_toy(100, random_state=0)
    >>> X.shape
    (200, 3)
    >>> bool((X[labels == 0, 1] == 0).all())
    True
    """
    if not isinstance(n_per_group, Integral) or n_per_group < 1:
        raise ValueError(
            f"n_per_group={n_per_group!r} must be an integer >= 1: each group needs a point."
        )
    # The same door as the estimators': a seed gives the same Generator everywhere.
    seed = check_random_state(random_state).randint(0, 2**31, size=4)
    X = SIDE * np.random.default_rng(seed).random((2 * int(n_per_group), 3))
    labels = np.repeat([0, 1], n_per_group)
    for group, (kept, flattened) in enumerate([(0, 1), (1, 0)]):
        rows = labels == group
        X[rows, flattened] = 0.0
        X[rows, 2] = np.maximum(X[rows, 2], X[rows, kept])
    return X, labels
