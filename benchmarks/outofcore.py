"""Fits from files beside fits from memory: rows per second, and memory beyond the imports.

``python -m benchmarks.outofcore`` generates 4,000,000 x 512 float32 numbers (8 GB) in a
temporary folder, and fits them from memory, from a memory map, and through `open_rows`,
each in a process of its own, one after the other, several rounds.  All make the same
number of passes.  ``--rows`` and ``--folder`` choose a smaller file and another place.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import made_with
from benchmarks.memory import resident_peak
from benchmarks.ours import fit_model
from benchmarks.table import Row, Table
from sphericalpca import open_rows

__all__ = ["WAYS", "fit_once", "generate", "outofcore_table"]

FEATURES = 512
COMPONENTS = 64
ITERATIONS = 6
# Rows are drawn this many at a time.
DRAWN = 100_000

COLUMNS = (
    *("way", "n", "m", "r", "passes", "seconds", "rows_per_second", "rate", "memory_mb"),
    *("mean_cosine", "rounds", "made_with"),
)

Loader = Callable[[Path], Any]

WAYS: dict[str, Loader] = {
    "memory": np.load,
    "memory map": lambda path: np.load(path, mmap_mode="r"),
    "open_rows": open_rows,
}


def outofcore_table(folder: Path) -> Table:
    """A row for each way to the data."""
    return Table(folder / "outofcore.csv", COLUMNS, ("way", "n"))


def generate(path: Path, rows: int, features: int = FEATURES) -> None:
    """Write rows with a spectrum that falls like 1/k, a piece at a time."""
    rng = np.random.default_rng(0)
    spread = np.arange(1, features + 1, dtype=np.float32) ** -1.0
    axes = np.linalg.qr(rng.standard_normal((features, features)))[0].astype(np.float32)
    out = np.lib.format.open_memmap(path, "w+", np.float32, (rows, features))
    for first in range(0, rows, DRAWN):
        piece = out[first : first + DRAWN]
        piece[:] = (rng.standard_normal(piece.shape, dtype=np.float32) * spread) @ axes.T
    out.flush()


def fit_once(way: str, path: Path) -> dict[str, float]:
    """Time of one fit, and how far memory rises above its level after the imports."""
    warm = np.random.default_rng(0).random((2_000, FEATURES), dtype=np.float32)
    fit_model(warm, COMPONENTS, tol=0.0, max_iter=1)  # libraries and their buffers are loaded
    _read_through(path)
    # Data in memory are not counted; what opening a file takes is.
    held = WAYS[way](path) if way == "memory" else None
    found: dict[str, float] = {}

    def fit() -> None:
        data = WAYS[way](path) if held is None else held
        began = time.perf_counter()
        model = fit_model(data, COMPONENTS, tol=0.0, max_iter=ITERATIONS)
        found.update(
            seconds=time.perf_counter() - began,
            passes=float(model.n_passes_),
            mean_cosine=float(model.mean_cosine_),
        )

    memory = resident_peak(fit, pause=0.02)
    return {**found, "memory": memory}


def _read_through(path: Path) -> None:
    """The file's pages are in memory for all ways alike."""
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 24):
            pass


def _in_own_process(way: str, path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.outofcore", "--once", way, str(path)]
    root = Path(__file__).parent.parent
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def compare(path: Path, rows: int, rounds: int) -> list[Row]:
    """A row for each way, ways taking turns."""
    runs: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way, found in runs.items():
            found.append(_in_own_process(way, path))
            print(way, found[-1], flush=True)
    speed = {way: [rows * one["passes"] / one["seconds"] for one in runs[way]] for way in WAYS}
    return [
        {
            "way": way,
            "n": rows,
            "m": FEATURES,
            "r": COMPONENTS,
            "rounds": rounds,
            "passes": found[0]["passes"],
            "seconds": statistics.median(one["seconds"] for one in found),
            "rows_per_second": statistics.median(speed[way]),
            # Of neighbours in time: the machine's own speed wanders.
            "rate": statistics.median(
                a / b for a, b in zip(speed[way], speed["memory"], strict=True)
            ),
            "memory_mb": max(one["memory"] for one in found) / 1e6,
            "mean_cosine": found[0]["mean_cosine"],
            "made_with": made_with(),
        }
        for way, found in runs.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="for the generated file")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--once", nargs=2, metavar=("WAY", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        print(json.dumps(fit_once(options.once[0], Path(options.once[1]))))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "rows.npy"
        generate(path, options.rows)
        outofcore_table(options.out).replace(compare(path, options.rows, options.rounds))


if __name__ == "__main__":
    main()
