"""Data drawn from a seed: unit rows in float32, dense or CSR."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sphericalpca.linalg import Array, orthonormal, unit_rows
from sphericalpca.rows import Matrix

__all__ = ["clusters", "isotropic", "power_law", "spiked", "zipf_text"]


def isotropic(n: int, m: int, seed: int = 0) -> Array:
    """Uniformly distributed directions: without structure, so the slowest kind of data."""
    return _unit(_normal(np.random.default_rng(seed), n, m))


def spiked(n: int, m: int, spikes: int = 10, seed: int = 0) -> Array:
    """A few strong directions, and noise of unit variance in all."""
    rng = np.random.default_rng(seed)
    axes = orthonormal(rng.standard_normal((m, spikes))).astype(np.float32)
    strength = np.linspace(20.0, 10.0, spikes, dtype=np.float32)
    return _unit((_normal(rng, n, spikes) * strength) @ axes.T + _normal(rng, n, m))


def power_law(n: int, m: int, exponent: float = 1.0, seed: int = 0) -> Array:
    """Gaussian rows whose k-th singular value is proportional to k^-exponent."""
    rng = np.random.default_rng(seed)
    spread = np.arange(1, m + 1, dtype=np.float32) ** np.float32(-exponent)
    axes = orthonormal(rng.standard_normal((m, m))).astype(np.float32)
    return _unit((_normal(rng, n, m) * spread) @ axes.T)


def clusters(n: int, m: int, groups: int = 30, seed: int = 0) -> Array:
    """Groups of equal size around random centres, as far apart as the noise is wide."""
    rng = np.random.default_rng(seed)
    centres = _normal(rng, groups, m)
    return _unit(centres[rng.integers(groups, size=n)] + _normal(rng, n, m))


def zipf_text(n: int, m: int, words: int = 60, topics: int = 50, seed: int = 0) -> Matrix:
    """Like tf-idf of texts: word frequencies follow Zipf's law, modified by a topic per text.

    `words` is the mean number of words of a text before repetitions are added up.
    """
    rng = np.random.default_rng(seed)
    sizes = 1 + rng.poisson(words - 1, size=n)
    text_of_word = np.repeat(np.arange(n), sizes)
    topic_of_word = rng.integers(topics, size=n)[text_of_word]
    word = np.empty(len(text_of_word), dtype=np.int64)
    for topic in range(topics):
        mine = np.flatnonzero(topic_of_word == topic)
        share = np.cumsum(rng.gamma(0.5, size=m) / np.arange(1, m + 1))
        word[mine] = np.searchsorted(share, share[-1] * rng.random(len(mine)), side="right")
    counts = sparse.csr_array((np.ones(len(word)), (text_of_word, word)), shape=(n, m))
    return _tfidf(counts)


def _tfidf(counts: Matrix) -> Matrix:
    """Sublinear tf-idf in float32, unit rows; no row is empty."""
    counts.sum_duplicates()
    documents = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = 1 + np.log((1 + counts.shape[0]) / (1 + documents))
    X = counts.copy()
    X.data = (1 + np.log(counts.data)) * idf[counts.indices]
    X.data /= np.repeat(np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel()), np.diff(X.indptr))
    return X.astype(np.float32)


def _normal(rng: np.random.Generator, n: int, m: int) -> Array:
    return rng.standard_normal((n, m), dtype=np.float32)


def _unit(X: Array) -> Array:
    return unit_rows(X, overwrite=True)[0]
