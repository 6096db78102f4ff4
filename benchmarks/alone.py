"""Measure time and memory of one fit in a separate process, on data that used to be slow.

Run as ``python -m benchmarks.alone DATA METHOD COMPONENTS TOL``: prints seconds and the peak of
resident memory, data included, in bytes, as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks import generated, real
from benchmarks.memory import ENVIRONMENT, resident_bytes, resident_peak
from benchmarks.ours import OURS
from benchmarks.peers import TRUNCATED_SVD
from benchmarks.task import Task, random_subspace
from sphericalpca.linalg import Array
from sphericalpca.rows import Matrix

__all__ = ["CORNERS", "METHODS", "fit_alone"]

HASHED = 2**20
METHODS = {"ours": OURS, "TruncatedSVD": TRUNCATED_SVD}


def _hashed(n: int, zipf: bool) -> Matrix:
    """Sixty words per row in 2^20 hashed columns, with uniform or Zipf frequencies."""
    rng = np.random.default_rng(0)
    word = (
        (HASHED ** rng.random((n, 60))).astype(int) if zipf else rng.integers(HASHED, size=(n, 60))
    )
    # Hashing spreads neighbouring words over all columns.
    column = word * 2_654_435_761 % HASHED
    place = np.repeat(np.arange(n), 60), column.ravel()
    counts = sparse.csr_array((np.ones(60 * n, dtype=np.float32), place), shape=(n, HASHED))
    counts.sum_duplicates()
    return counts


def _one_dense_row(n: int) -> Matrix:
    rng = np.random.default_rng(0)
    noise = sparse.random_array((n, 50_000), density=0.001, rng=rng, dtype=np.float32)
    return sparse.csr_array(sparse.vstack([noise, np.abs(_noise(1, 50_000))]))


def _noise(n: int, m: int) -> Array:
    return np.random.default_rng(0).standard_normal((n, m), dtype=np.float32)


CORNERS: dict[str, Callable[[int], Matrix]] = {
    "hashed": lambda share: _hashed(20_000 // share, zipf=False),
    "hashed_zipf": lambda share: _hashed(20_000 // share, zipf=True),
    "wide_noise": lambda share: _noise(300, 200_000 // share),
    "dense_row": lambda share: _one_dense_row(20_000 // share),
    "small_text": lambda _share: real.text_4000x2000(),
    "million": lambda share: generated.zipf_text(1_000_000 // share, 200_000 // share),
}


def fit_alone(
    data: str, method: str, r: int, tol: float, share: int = 1, *, memory: bool = False
) -> dict[str, float]:
    """Seconds and peak memory of a fit in a new process, to one in `share` rows.

    With `memory`, freed memory is returned to the system immediately: peaks are exact, fits slower.
    """
    arguments = [data, method, str(r), str(tol), str(share)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.alone", *arguments],
        cwd=Path(__file__).parent.parent,
        env={**os.environ, **(ENVIRONMENT if memory else {})},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main(data: str, method: str, r: str, tol: str, share: str) -> None:
    X, fit = CORNERS[data](int(share)), METHODS[method].fit
    small = _noise(200, 50)  # libraries and their buffers are loaded by a first, small fit
    fit(small, Task(random_subspace(50, 2)))
    task, seconds = Task(random_subspace(X.shape[1], int(r)), float(tol)), []

    def timed() -> None:
        began = time.perf_counter()
        fit(X, task)
        seconds.append(time.perf_counter() - began)

    peak = resident_bytes() + resident_peak(timed, pause=0.005)
    while sum(seconds) < 2.0 and len(seconds) < 5:
        timed()
    print(json.dumps({"seconds": float(np.median(seconds)), "resident": peak}))


if __name__ == "__main__":
    main(*sys.argv[1:6])
