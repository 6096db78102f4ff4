"""Fits from files compared with fits from memory: rows per second, and memory beyond imports.

``python -m benchmarks.outofcore`` generates 4,000,000 x 512 float32 numbers (8 GB) in a
temporary folder, and fits them from memory, from a memory map, and through `open_rows`,
each in a separate process, one after the other, several rounds.  All make the same
number of passes.  ``--rows`` and ``--folder`` choose a smaller file and another place.

With ``--cold`` two more ways take turns with them: a fit through `open_rows` with the file
dropped from the system's cache before each read, and one bare read of the file after dropping
it.  ``--show`` prints the table of docs/scaling.md from the rows measured last.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.machine import made_with
from benchmarks.memory import resident_peak
from benchmarks.ours import fit_model
from benchmarks.pagecache import cached_share, drop, read_through
from benchmarks.table import ResultTable, Row, number
from sphericalpca import open_rows
from sphericalpca.rows.streamed import RawRows

__all__ = ["COLD", "WAYS", "fit_once", "generate", "outofcore_table", "read_once", "shown"]

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
# Ways that begin every read with a file that is on its disk only.
COLD_FIT, COLD_READ = "open_rows, cold disk", "bare read, cold disk"
COLD = (COLD_FIT, COLD_READ)
# If more than this share of a file is in memory after it was dropped, it is not on a disk.
STILL_CACHED = 0.05

NAMES = {
    "memory": "array in memory",
    "memory map": '`np.load(..., mmap_mode="r")`',
    "open_rows": "`open_rows(...)`",
    COLD_FIT: "`open_rows(...)`, cold disk",
    COLD_READ: "the file alone, cold disk",
}


def outofcore_table(folder: Path) -> ResultTable:
    """A row for each way to the data."""
    return ResultTable(folder / "outofcore.csv", COLUMNS, ("way", "n"))


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
    read_through(path)
    load = open_rows if way == COLD_FIT else WAYS[way]
    # Data in memory are not counted; memory for opening a file is.
    held = load(path) if way == "memory" else None
    found: dict[str, float] = {}

    def fit() -> None:
        data = load(path) if held is None else held
        began = time.perf_counter()
        model = fit_model(data, COMPONENTS, tol=0.0, max_iter=ITERATIONS)
        found.update(
            seconds=time.perf_counter() - began,
            passes=float(model.n_passes_),
            mean_cosine=float(model.mean_cosine_),
        )

    if way != COLD_FIT:
        return {"memory": resident_peak(fit, pause=0.02), **found}
    with _dropped_before_each_read(path) as spent:
        memory = resident_peak(fit, pause=0.02)
    return {**found, "memory": memory, "seconds": found["seconds"] - sum(spent)}


@contextmanager
def _dropped_before_each_read(path: Path) -> Iterator[list[float]]:
    """Every read of rows in files begins cold; the list is of seconds that dropping took."""
    spent: list[float] = []
    parts = RawRows.parts

    def cold_parts(rows: RawRows, count: int) -> Any:
        began = time.perf_counter()
        _drop(path)
        spent.append(time.perf_counter() - began)
        return parts(rows, count)

    with patch.object(RawRows, "parts", cold_parts):
        yield spent


def _drop(path: Path) -> None:
    drop(path)
    share = cached_share(path)
    if share > STILL_CACHED:
        raise OSError(
            f"{share:.0%} of {path} are still in memory after it was dropped: choose a folder on a "
            "disk with --folder."
        )


def read_once(path: Path) -> dict[str, float]:
    """Time of a bare read of the file from its disk, in order, by one thread."""
    _drop(path)
    began = time.perf_counter()
    read_through(path)
    nothing = float("nan")
    return {
        "seconds": time.perf_counter() - began,
        "passes": 1.0,
        "memory": nothing,
        "mean_cosine": nothing,
    }


def _in_own_process(way: str, path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.outofcore", "--once", way, str(path)]
    root = Path(__file__).parent.parent
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def compare(path: Path, rows: int, rounds: int, ways: Iterable[str] = tuple(WAYS)) -> list[Row]:
    """A row for each way, ways taking turns."""
    runs: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, found in runs.items():
            found.append(_in_own_process(way, path))
            print(way, found[-1], flush=True)
    speed = {way: [rows * one["passes"] / one["seconds"] for one in runs[way]] for way in runs}
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
            # Ratios of consecutive runs: the speed of the machine varies.
            "rate": statistics.median(
                a / b for a, b in zip(speed[way], speed["memory"], strict=True)
            ),
            "memory_mb": max(one["memory"] for one in found) / 1e6,
            "mean_cosine": found[0]["mean_cosine"],
            "made_with": made_with(),
        }
        for way, found in runs.items()
    ]


def shown(rows: Iterable[Mapping[str, Any]]) -> str:
    """The rows as the table of docs/scaling.md."""
    lines = [
        "| way | rows per second | relative to memory | memory beyond the imports |",
        "| --- | --- | --- | --- |",
    ]
    for row in rows:
        memory = number(row, "memory_mb")
        beside = "" if np.isnan(memory) else f"{memory:.0f} MB"
        beside += " and the array" if row["way"] == "memory" else ""
        rate = "1" if row["way"] == "memory" else f"{number(row, 'rate'):.2f}"
        speed = number(row, "rows_per_second") / 1e6
        lines.append(f"| {NAMES[row['way']]} | {speed:.2f} million | {rate} | {beside} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="for the generated file")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--once", nargs=2, metavar=("WAY", "FILE"), help=argparse.SUPPRESS)
    parser.add_argument("--cold", action="store_true", help="from a cold disk too")
    parser.add_argument("--show", action="store_true", help="print the table of the last rows")
    options = parser.parse_args()
    if options.once:
        way, path = options.once[0], Path(options.once[1])
        print(json.dumps(read_once(path) if way == COLD_READ else fit_once(way, path)))
        return
    if options.show:
        print(shown(outofcore_table(options.out).read()))
        return
    ways = [*WAYS, *COLD] if options.cold else list(WAYS)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "rows.npy"
        generate(path, options.rows)
        found = compare(path, options.rows, options.rounds, ways)
    outofcore_table(options.out).replace(found)
    print(shown(found))


if __name__ == "__main__":
    main()
