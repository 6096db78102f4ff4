"""Many fits and transforms in one process: memory, open files and threads stay as they were.

``python -m reliability.soak --minutes 60`` works through all kinds of fits, in random
order, and measures the process after each hundred.  The first tenth warms up; memory is flat if
the median of the last tenth is within 5 % of that of the second.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.machine import made_with
from benchmarks.memory import resident_bytes
from benchmarks.table import ResultTable, Row
from sphericalpca import DataError, SphericalPCA, open_rows
from sphericalpca.registry.solvers import SOLVERS

__all__ = ["TASKS", "soak", "verdict"]

COLUMNS = ("rounds", "seconds", "memory_kb", "files", "threads", "made_with")
LOOK_EVERY = 100
FLAT = 0.05
OPEN_FILES = Path("/proc/self/fd")

EXACT = [name for name, entry in SOLVERS.items() if not entry.moves_pairs]

Task = Callable[[np.random.Generator, Path], object]


def _dense(rng: np.random.Generator) -> np.ndarray:
    rows, features = int(rng.integers(20, 400)), int(rng.integers(10, 60))
    return rng.standard_normal((rows, features)).astype(rng.choice(["float32", "float64"]))


def _fit(rng: np.random.Generator, _folder: Path) -> object:
    X = _dense(rng)
    solver = str(rng.choice(["auto", *EXACT]))
    return SphericalPCA(3, solver=solver, tol=1e-2).fit(X).transform(X)


def _fit_sparse(rng: np.random.Generator, _folder: Path) -> object:
    X = sparse.csr_array(np.where(rng.random((300, 80)) < 0.3, rng.random((300, 80)), 0.0))
    return SphericalPCA(3, tol=1e-2).fit_transform(X)


def _stream(rng: np.random.Generator, _folder: Path) -> object:
    X = _dense(rng)
    return SphericalPCA(2).partial_fit(X).partial_fit(X).transform(X)


def _from_a_file(rng: np.random.Generator, folder: Path) -> object:
    path, kept = folder / "rows.npy", folder / "run.ckpt"
    np.save(path, _dense(rng))
    model = SphericalPCA(2, tol=1e-2).fit(open_rows(path), checkpoint=kept)
    kept.unlink()
    return model.transform(open_rows(path))


def _save_and_load(rng: np.random.Generator, folder: Path) -> object:
    SphericalPCA(2, tol=1e-2).fit(_dense(rng)).save(folder / "model.st")
    return SphericalPCA.load(folder / "model.st")


def _certified(rng: np.random.Generator, _folder: Path) -> object:
    X = _dense(rng)[:30]
    return SphericalPCA(2, tol=1e-6).fit(X).certify(X)


def _refused(rng: np.random.Generator, folder: Path) -> object:
    """Errors must not leak anything, either."""
    X = _dense(rng)
    X[-1, -1] = np.nan
    np.save(folder / "bad.npy", X)
    try:
        SphericalPCA(2).fit(open_rows(folder / "bad.npy"))
    except DataError:
        return None
    raise AssertionError("NaN was accepted")


TASKS: tuple[Task, ...] = (
    _fit,
    _fit_sparse,
    _stream,
    _from_a_file,
    _save_and_load,
    _certified,
    _refused,
)


def soak(minutes: float) -> Iterator[Row]:
    """Work, and a row about this process after every `LOOK_EVERY` tasks."""
    rng, began, rounds = np.random.default_rng(0), time.perf_counter(), 0
    with tempfile.TemporaryDirectory() as temporary:
        while time.perf_counter() - began < 60 * minutes:
            for _ in range(LOOK_EVERY):
                TASKS[rng.integers(len(TASKS))](rng, Path(temporary))
            rounds += LOOK_EVERY
            gc.collect()
            yield {
                "rounds": rounds,
                "seconds": round(time.perf_counter() - began, 1),
                "memory_kb": round(resident_bytes() / 1024),
                "files": len(list(OPEN_FILES.iterdir())),
                "threads": threading.active_count(),
                "made_with": made_with(),
            }


def verdict(rows: list[Row]) -> dict[str, float]:
    """Relative growth of memory, and growth of open files and threads."""
    tenth = max(len(rows) // 10, 1)
    early, late = rows[tenth : 2 * tenth] or rows[:1], rows[-tenth:]

    def middle(part: list[Row], name: str) -> float:
        return float(statistics.median(row[name] for row in part))

    growth = middle(late, "memory_kb") / middle(early, "memory_kb") - 1
    more = {name: middle(late, name) - middle(early, name) for name in ("files", "threads")}
    return {"memory": growth, **more}


def main(arguments: list[str] | None = None) -> int:
    """Soak, write the rows, and print the verdict."""
    parser = argparse.ArgumentParser(prog="python -m reliability.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--out", type=Path, default=Path("reliability/results"))
    asked = parser.parse_args(arguments)
    rows = []
    for row in soak(asked.minutes):
        rows.append(row)
        print({name: row[name] for name in COLUMNS[:-1]}, flush=True)
    path = asked.out / "soak.csv"
    path.unlink(missing_ok=True)
    ResultTable(path, COLUMNS, ("rounds",)).replace(rows)
    found = verdict(rows)
    print(
        f"memory {found['memory']:+.1%}, files {found['files']:+g}, threads {found['threads']:+g}"
    )
    return 0 if abs(found["memory"]) <= FLAT and found["files"] <= 0 >= found["threads"] else 1


if __name__ == "__main__":
    sys.exit(main())
