"""Levels of one byte: how they are found, and which is nearest."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sphericalpca.kernels import library
from sphericalpca.linalg import Array
from sphericalpca.products import Labels, times

__all__ = ["LEVELS", "Assignment", "Codes", "kernels", "kmeans", "pointer"]

LEVELS = 256

Codes = npt.NDArray[np.uint8]

ITERATIONS = 12
BLOCK = 4096
# Scores in float32 that are nearer than this, compared with the largest, are looked at again;
# those nearer than the latter, in float64, are equal.
NEAR, EQUAL = 1e-5, 1e-12
# Rows that agree to this are one.
GRID = 2.0**-20


def kernels() -> ctypes.CDLL | None:
    """The compiled library, if it has what codecs need."""
    found = library()
    return found if hasattr(found, "codec_encode") else None


def pointer(array: npt.NDArray[Any]) -> ctypes.c_void_p:
    """The address of a contiguous array."""
    assert array.flags.c_contiguous
    return ctypes.c_void_p(array.ctypes.data)


@dataclass(frozen=True)
class Assignment:
    """The nearest level of each byte: the largest <x, level> - half, the first of equals."""

    levels: Array  # (r, 256): one line per component
    importance: Array  # (r,)
    half: Array  # (n_bytes, 256); infinite where there is no level
    slack: Array  # (n_bytes,)
    ends: Labels

    @classmethod
    def of(cls, levels: Array, importance: Array, ends: Labels, counts: Labels) -> Assignment:
        """Levels of shape (256, r), of which each byte has so many."""
        half = np.add.reduceat(importance * levels.astype(np.float64) ** 2, ends[:-1], axis=1).T / 2
        slack = NEAR * np.maximum(np.sqrt(half.max(axis=1) * importance.max()), 1e-30)
        half[np.arange(LEVELS) >= counts[:, None]] = np.inf
        return cls(
            np.ascontiguousarray(levels.T),
            importance.astype(np.float64),
            np.ascontiguousarray(half, dtype=np.float32),
            slack.astype(np.float32),
            ends.astype(np.int64),
        )

    def codes(self, X: Array) -> Codes:
        """The same for every number of threads and every BLAS: close calls are made in float64.

        X is of float64, and exact to some 1e-15 wherever it was computed.
        """
        codes, near = self.roughly(np.ascontiguousarray(X, dtype=np.float32))
        for byte in np.flatnonzero(near.any(axis=0)):
            rows = np.flatnonzero(near[:, byte])
            codes[rows, byte] = self._exactly(X[rows], int(byte))
        return codes

    def roughly(self, X: Array) -> tuple[Codes, npt.NDArray[Any]]:
        """Codes up to rounding in float32, and where another level comes near."""
        compiled = kernels()
        if compiled is None:
            return self._plain(X)
        codes = np.empty((len(X), len(self.slack)), dtype=np.uint8)
        near, size = np.empty_like(codes), ctypes.c_size_t
        compiled.codec_encode(
            *(pointer(X), size(len(X)), size(X.shape[1]), pointer(self.ends)),
            *(size(len(self.slack)), pointer(self.levels), pointer(self.half)),
            *(pointer(self.slack), pointer(codes), pointer(near)),
        )
        return codes, near

    def _plain(self, X: Array) -> tuple[Codes, npt.NDArray[Any]]:
        codes = np.empty((len(X), len(self.slack)), dtype=np.uint8)
        near = np.empty(codes.shape, dtype=bool)
        for first in range(0, len(X), BLOCK):
            rows = slice(first, first + BLOCK)
            for byte, (begin, end) in enumerate(zip(self.ends[:-1], self.ends[1:], strict=True)):
                scores = times(X[rows, begin:end], self.levels[begin:end]) - self.half[byte]
                best = scores.max(axis=1, keepdims=True)
                codes[rows, byte] = scores.argmax(axis=1)
                near[rows, byte] = (scores >= best - self.slack[byte]).sum(axis=1) > 1
        return codes, near

    def _exactly(self, X: Array, byte: int) -> Labels:
        """In float64, added up in a fixed order."""
        scores = np.where(np.isinf(self.half[byte]), -np.inf, np.zeros((len(X), 1)))
        for j in range(self.ends[byte], self.ends[byte + 1]):
            level = self.levels[j].astype(np.float64)
            scores += level * (X[:, j, None] - self.importance[j] / 2 * level)
        best = scores.max(axis=1, keepdims=True)
        return np.asarray(np.argmax(scores >= best - EQUAL * (1 + np.abs(best)), axis=1))


def kmeans(X: Array, weight: Array, importance: Array, most: int, rng: Any) -> Array:
    """At most so many centres of float32 rows: all distinct rows, if there are no more."""
    few = _distinct_rows(X, weight, most)
    if few is not None:
        return few
    ends, counts = np.array([0, X.shape[1]]), np.array([most])
    centres = X[rng.choice(len(X), most, replace=False, p=weight / weight.sum())]
    weighted = X * importance
    padded = np.zeros((LEVELS, X.shape[1]), dtype=np.float32)
    for _ in range(ITERATIONS):
        padded[:most] = centres
        nearest = Assignment.of(padded, importance, ends, counts).roughly(weighted)[0][:, 0]
        held = np.bincount(nearest, weights=weight, minlength=most)
        sums = [np.bincount(nearest, weights=weight * x, minlength=most) for x in X.T]
        there = held > 0
        centres = centres.copy()
        centres[there] = (np.stack(sums, axis=1)[there] / held[there, None]).astype(np.float32)
        if not there.all():  # a centre without rows goes where the error is largest
            errors = weight * np.einsum("ij,j->i", (X - centres[nearest]) ** 2, importance)
            centres[~there] = X[np.argsort(-errors, kind="stable")[: most - there.sum()]]
    return np.asarray(centres)


def _distinct_rows(X: Array, weight: Array, most: int) -> Array | None:
    """The distinct rows of positive weight in a fixed order; None if there are more."""
    X = np.round(X[weight > 0] / GRID) * GRID
    generic = X.astype(np.float64) @ np.cos(np.arange(1.0, X.shape[1] + 1))
    if len(np.unique(generic)) > most:
        return None
    return np.unique(X, axis=0).astype(np.float32)
