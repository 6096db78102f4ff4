"""What reduced rows keep of the neighbours of held-out queries."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from sphericalpca.dimensions.choice import CurvePoint
from sphericalpca.linalg import Array, row_norms
from sphericalpca.metrics import HeldOut, Share, mean_share
from sphericalpca.parallel import parallel

__all__ = ["Clock", "Measure"]

FLOAT32 = 4


class Clock:
    """Seconds, by what they were spent on."""

    def __init__(self) -> None:
        self.seconds = {"fit": 0.0, "search": 0.0}

    @contextmanager
    def running(self, what: str) -> Iterator[None]:
        """Count the time within this context."""
        began = time.perf_counter()
        yield
        self.seconds[what] += time.perf_counter() - began

    @contextmanager
    def fitting(self) -> Iterator[None]:
        """Count the time of a fit, made on our threads: see `sphericalpca.parallel`."""
        with self.running("fit"), parallel():
            yield


class Measure:
    """Recall of the held-out queries' neighbours with its interval, and the points of a curve."""

    def __init__(self, held: HeldOut, confidence: float, clock: Clock) -> None:
        self.held, self._confidence, self.clock = held, confidence, clock

    def recall(self, Z: Array) -> Share:
        """The mean recall of a search by cosine among the rows of Z, shape (n, r)."""
        k = self.held.k
        with self.clock.running("search"):
            found = self.held.recall(self.held.search(Z, k), k)
        return mean_share(found, k, self._confidence)

    def point(self, Z: Array, weight: Array) -> CurvePoint:
        """A point of the curve; Z holds projections of unit rows with these weights."""
        share, r = self.recall(Z), Z.shape[1]
        mean_cosine = float(np.average(row_norms(Z), weights=weight))
        return CurvePoint(
            n_components=r,
            recall=share.mean,
            low=share.low,
            high=share.high,
            mean_cosine=min(mean_cosine, 1.0),
            bytes_per_vector=FLOAT32 * r,
            index_bytes=FLOAT32 * r * self.held.n_base,
        )
