"""Generated data with known structure."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sphericalpca.exceptions import Parameter, ParameterError
from sphericalpca.linalg import Array, Labels

__all__ = ["make_embeddings", "make_toy"]


def make_toy(n_per_group: int = 100, *, random_state: Any = None) -> tuple[Array, Labels]:
    """The paper's toy data: two groups of points that differ in direction, not in distance.

    Coordinates are uniform on [0, 20), as in the authors' program.  One group lies in the plane
    y = 0, with z lifted to ``max(z, x)``: it fills the wedge between the line x = z and the z axis.
    The other lies in the plane x = 0, with z lifted to ``max(z, y)``.  Only angles separate them.

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

    Raises
    ------
    ParameterError
        If a size is not an integer of at least 1.

    Examples
    --------
    >>> from sphericalpca.datasets import make_toy
    >>> X, labels = make_toy(100, random_state=0)
    >>> X.shape
    (200, 3)
    """
    _check_sizes(n_per_group=n_per_group)
    X = 20.0 * _generator(random_state).random((2 * int(n_per_group), 3))
    labels = np.repeat([0, 1], n_per_group)
    for group, (kept, flattened) in enumerate([(0, 1), (1, 0)]):
        rows = labels == group
        X[rows, flattened] = 0.0
        X[rows, 2] = np.maximum(X[rows, 2], X[rows, kept])
    return X, labels


def make_embeddings(
    n_samples: int = 2000, n_features: int = 128, *, n_topics: int = 50, random_state: Any = None
) -> tuple[Array, Labels]:
    """Unit vectors like those of a text encoder: topics, a common direction and a long tail.

    Each row is its topic's centre plus noise, both with standard deviations that fall like
    k^(-1/2) along the axes of a random rotation, plus one direction that all rows share.

    Parameters
    ----------
    n_samples, n_features, n_topics : int
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray of float32 of shape (n_samples, n_features)
        Unit rows.
    topics : ndarray of int of shape (n_samples,)

    Raises
    ------
    ParameterError
        If a size is not an integer of at least 1.

    Examples
    --------
    >>> from sphericalpca.datasets import make_embeddings
    >>> X, topics = make_embeddings(1000, 64, random_state=0)
    >>> X.shape, X.dtype
    ((1000, 64), dtype('float32'))
    """
    _check_sizes(n_samples=n_samples, n_features=n_features, n_topics=n_topics)
    rng, m = _generator(random_state), int(n_features)
    spread = (np.arange(1, m + 1) ** -0.5).astype(np.float32)
    axes = np.linalg.qr(rng.standard_normal((m, m)))[0].astype(np.float32)
    topics = rng.integers(n_topics, size=n_samples)
    X = rng.standard_normal((n_samples, m), dtype=np.float32)
    X += rng.standard_normal((n_topics, m), dtype=np.float32)[topics]
    X *= spread
    X[:, -1] += np.linalg.norm(spread)  # the direction that all share
    X = X @ axes
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, topics


def _check_sizes(**sizes: Any) -> None:
    for name, size in sizes.items():
        if not isinstance(size, Integral) or size < 1:
            example = ("pass, for example, ", Parameter(name, 100))
            raise ParameterError(Parameter(name, size), "must be a positive integer", example)


def _generator(random_state: Any) -> np.random.Generator:
    """A Generator from a seed or RandomState, as in the estimators."""
    return np.random.default_rng(check_random_state(random_state).randint(0, 2**31, size=4))
