"""All methods, ours first.  A method sees unit rows and a task, never the name of a case."""

from __future__ import annotations

from benchmarks import manifold, ours, peers
from benchmarks.task import Contender

__all__ = ["METHODS"]

METHODS: tuple[Contender, ...] = (
    ours.OURS,
    ours.OURS_FROM_START,
    ours.ALTERNATION,
    ours.ALGORITHM_1,
    ours.ALGORITHM_1_BLOCK,
    manifold.CONJUGATE_GRADIENT,
    manifold.TRUST_REGIONS,
    peers.TRUNCATED_SVD,
    peers.RANDOMIZED_PCA,
    peers.COVARIANCE_EIGH,
    peers.INCREMENTAL_PCA,
    peers.NMF_PEER,
    *peers.OTHER_SVDS,
    *ours.CHOICES,
)
