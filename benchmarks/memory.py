"""Memory of a fit beyond its data, measured in a separate process.

Run as ``python -m benchmarks.memory ROWS FEATURES COMPONENTS``: prints the peak that numpy
and Python report, and the peak of anonymous resident memory, both in bytes, as JSON.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from benchmarks import generated
from benchmarks.ours import fit_model

__all__ = ["Peaks", "fit_peaks", "resident_bytes"]

Peaks = dict[str, float]

STATUS = Path("/proc/self/status")

# Return freed arrays to the system at once; otherwise a fit could reuse memory of an earlier
# one, and its peak would be too low.
ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}


def fit_peaks(n: int, m: int, r: int) -> Peaks:
    """Peaks of a fit of n x m power-law data in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.memory", str(n), str(m), str(r)]
    done = subprocess.run(
        command,
        cwd=Path(__file__).parent.parent,
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=True,
    )
    peaks: Peaks = json.loads(done.stdout)
    return peaks


def resident_bytes() -> float:
    """Anonymous resident memory of this process; NaN if the system does not report it."""
    if not STATUS.exists():
        return float("nan")
    lines = [line for line in STATUS.read_text().splitlines() if line.startswith("RssAnon")]
    return 1024.0 * float(lines[0].split()[1]) if lines else float("nan")


def resident_peak(action: Callable[[], object], pause: float = 0.001) -> float:
    """How far resident memory rises above its former level, sampled every `pause` seconds."""
    before = highest = resident_bytes()
    over = threading.Event()

    def watch() -> None:
        nonlocal highest
        while not over.wait(pause):
            highest = max(highest, resident_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        action()
    finally:
        over.set()
        watcher.join()
    return highest - before


def traced_peak(action: Callable[[], object]) -> float:
    """How far the memory that numpy and Python report rises."""
    tracemalloc.start()
    try:
        action()
        return float(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


def main(n: int, m: int, r: int) -> None:
    X = generated.power_law(n, m)
    # Libraries and their buffers are loaded by a first, small fit.
    fit_model(X[: max(n // 20, 2 * m)], r)
    gc.collect()
    resident = resident_peak(lambda: fit_model(X, r))
    traced = traced_peak(lambda: fit_model(X, r))
    print(json.dumps({"resident": resident, "traced": traced}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
