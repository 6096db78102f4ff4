"""Measurements of codes, a row for each: ``python -m benchmarks.codes_reach [PART ...]``.

``recall``: neighbours that codes keep.  ``rivals``: methods ahead in the rows of the race.
``speed``: fit and encode beside training OPQ, which takes minutes.  ``scan``: codes per second
beside faiss ``IndexPQ``.  ``same``: bytes on other threads and BLAS kernels.  ``cover``: intervals
on queries that no fit has seen.  ``stream``: memory for 4,000,000 rows.  Without names all run.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.codes import DATA, METHODS, RESULTS, K, codes_table, facts, split
from benchmarks.generated import power_law
from benchmarks.table import ResultTable, Row, number
from sphericalpca import SphericalCodec
from sphericalpca.linalg import Array
from sphericalpca.metrics import nearest_neighbours, recall_per_query
from sphericalpca.parallel import allowed_threads
from sphericalpca.rows import RowSource

__all__ = ["PARTS", "Stream", "reach_table"]

COLUMNS = ("goal", "measured", "limit", "met", "note", "made_with")
ASKED = {
    ("minilm", 16): 0.59,
    ("minilm", 32): 0.73,
    ("minilm", 64): 0.85,
    ("minilm", 96): 0.91,
    ("minilm", 128): 0.94,
    ("glove", 25): 0.705,
    ("glove", 50): 0.895,
}
# The coder on other subspaces is expected to be level, and our export is not a rival.
NO_RIVALS = ("coder on", "ours")


def reach_table(folder: Path) -> ResultTable:
    """A row for each measurement."""
    return ResultTable(folder / "codes_reach.csv", COLUMNS, ("goal",))


def _row(
    goal: str, measured: float, least: float = -np.inf, most: float = np.inf, note: str = ""
) -> Row:
    ends = {"at least": least, "at most": most}
    limit = " ".join(f"{word} {end:g}" for word, end in ends.items() if np.isfinite(end))
    met = bool(least <= measured <= most)
    return {"goal": goal, "measured": measured, "limit": limit, "met": met, "note": note}


def recall() -> Iterator[Row]:
    """Recall of 10 neighbours by code alone, 1,000 queries that no fit has seen."""
    for name, sizes in itertools.groupby(ASKED, key=lambda place: place[0]):
        queries, base = split(name)
        truth = nearest_neighbours(base, queries, K).ids
        for _, size in sizes:
            answer: Any = METHODS["ours"](base, queries, size)
            found = recall_per_query(truth, answer.ids[:, :K], K).mean()
            second = recall_per_query(truth, answer.ids, K).mean()
            note = f"{second:.4f} after re-ranking 40"
            yield _row(f"recall@10, {name}, {size} bytes", found, ASKED[name, size], note=note)


def rivals() -> Iterator[Row]:
    """How many rows of the race have a rival significantly ahead, or not behind at 32 and 64."""
    rows = [row for row in codes_table(RESULTS).read() if row["behind_ours"]]
    rows = [row for row in rows if not row["method"].startswith(NO_RIVALS)]

    def listed(chosen: list[Row]) -> str:
        each = (
            f"{r['data']} {r['method']} {r['bytes']}: {number(r, 'behind_ours'):.4f}"
            for r in chosen
        )
        return "; ".join(each)

    ahead = [row for row in rows if number(row, "high") < 0]
    note = f"{len(rows)} rows; {listed(ahead)}"
    yield _row("rivals ahead in rows of the race", len(ahead), most=0, note=note)
    at = [row for row in rows if row["bytes"] in ("32", "64")]
    level = [row for row in at if number(row, "low") <= 0]
    note = f"{len(at)} rows; {listed(level)}"
    yield _row("rivals not behind at 32 and 64 bytes", len(level), most=0, note=note)


def speed(name: str = "minilm", size: int = 64) -> Iterator[Row]:
    """Fit and encode, over the time that training OPQ of as many bytes takes."""
    queries, base = split(name)
    ours, rival = (METHODS[method](base, queries, size) for method in ("ours", "OPQ"))
    assert ours is not None
    assert rival is not None
    spent = ours.fit + ours.encode
    note = f"{spent:.1f} s and {rival.fit:.0f} s"
    goal = f"fit and encode / training OPQ{size}, {name}"
    yield _row(goal, spent / rival.fit, most=0.05, note=note)


def scan(n: int = 1_000_000, size: int = 64, count: int = 32) -> Iterator[Row]:
    """Codes per second over those of faiss IndexPQ, for one query and for many."""
    import faiss  # noqa: PLC0415 - only here

    faiss.omp_set_num_threads(allowed_threads())
    X = power_law(10_000, 128, 0.5)
    codec = SphericalCodec(size, random_state=0).fit(X)
    codes = np.random.default_rng(0).integers(0, 250, (n, size), dtype=np.uint8)
    index = faiss.IndexPQ(128, size, 8, faiss.METRIC_INNER_PRODUCT)
    index.train(X)
    faiss.copy_array_to_vector(codes.ravel(), index.codes)
    index.ntotal = n
    for asked in (1, count):
        Q = X[:asked]
        mine, theirs = [], []
        for _ in range(5):  # in turns: other programs slow down both
            mine.append(_seconds(partial(codec.search, Q, codes, K)))
            theirs.append(_seconds(partial(index.search, Q, K)))
        rate = asked * n / min(mine)
        goal = f"codes per second / faiss IndexPQ{size}, {n:,} codes, queries: {asked}"
        note = f"{rate:.3g} codes per second, threads: {allowed_threads()}"
        yield _row(goal, min(theirs) / min(mine), 0.5, note=note)


SETTINGS = (
    *({"OPENBLAS_NUM_THREADS": count, "OMP_NUM_THREADS": count} for count in "124"),
    *({"OPENBLAS_CORETYPE": name} for name in ("Haswell", "Sandybridge", "Nehalem")),
    {"SPHERICALPCA_KERNELS": "scipy"},
)
ENCODE = """
import hashlib, sys
from benchmarks.codes import DATA
from sphericalpca import SphericalCodec
codes = SphericalCodec.load(sys.argv[1]).encode(DATA[sys.argv[2]]())
print(hashlib.sha256(codes.tobytes()).hexdigest())
"""


def same(names: Sequence[str] = ("minilm", "glove"), size: int = 64) -> Iterator[Row]:
    """Number of different bytes under several settings of threads and kernels."""
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/codec.safetensors"
            SphericalCodec(size, random_state=0).fit(DATA[name]()).save(path)
            words = [sys.executable, "-c", ENCODE, path, name]
            found = {_output(words, setting) for setting in SETTINGS}
        note = ", ".join(f"{k}={v}" for setting in SETTINGS for k, v in setting.items())
        goal = f"different codes of {name} in {len(SETTINGS)} settings"
        yield _row(goal, len(found), most=1, note=note)


def cover(sizes: Sequence[int] = (16, 64, 96)) -> Iterator[Row]:
    """Share of true cosines inside their intervals, for queries that no fit has seen."""
    for name, size in itertools.product(DATA, sizes):
        queries, base = split(name)
        codec = SphericalCodec(size, random_state=0).fit(base)
        found = codec.search(queries, codec.encode(base), K, return_interval=True)
        exact = np.einsum("ij,ikj->ik", queries, base[found.ids])
        inside = ((found.lower <= exact) & (exact <= found.upper)).mean()
        yield _row(f"coverage of 95 % intervals, {name}, {size} bytes", inside, 0.94, 0.96)


class Stream(RowSource):
    """Rows generated when they are read, without storage."""

    any_row, name, memory_budget, dtype = True, "a stream", 2**26, np.dtype(np.float32)

    def __init__(self, n: int, m: int = 384) -> None:
        self.shape, self.stored, self.cuts = (n, m), n * m, (0, n)

    row_bytes = property(lambda self: 4.0 * self.shape[1])

    def read(self, span: slice, rows: int) -> Generator[Array, None, None]:
        """Normal numbers of falling variance."""
        spectrum = np.arange(1, self.shape[1] + 1, dtype=np.float32) ** -0.5
        for first in range(span.start, span.stop, rows):
            size = (min(rows, span.stop - first), self.shape[1])
            rng = np.random.default_rng(first)
            yield rng.standard_normal(size, dtype=np.float32) * spectrum

    def check_unchanged(self) -> None:
        """Nothing to check."""


PEAK = """
import sys, tempfile
from pathlib import Path
from benchmarks.codes_reach import Stream
from sphericalpca import SphericalCodec
from sphericalpca.codec.files import write_folder
codec = SphericalCodec.load(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    write_folder(codec, Stream(int(sys.argv[2])), Path(folder) / "codes", None, None)
# Not ru_maxrss, which starts at the peak of the parent process.
lines = Path("/proc/self/status").read_text().splitlines()
print(next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")))
"""


def stream(n: int = 4_000_000, few: int = 100_000, size: int = 64) -> Iterator[Row]:
    """Peak memory of encoding many rows into a folder, over that for a few of them."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/codec.safetensors"
        sample = np.concatenate(list(Stream(20_000).read(slice(0, 20_000), 5000)))
        SphericalCodec(size, random_state=0).fit(sample).save(path)
        words = [sys.executable, "-c", PEAK, path]
        before = float(_output([*words, str(few)], {}))
        began = time.perf_counter()
        peak = float(_output([*words, str(n)], {}))
        seconds = time.perf_counter() - began
    note = f"{peak:.0f} MB, {seconds:.0f} s"
    goal = f"peak memory, encoding {n:,} x 384 / encoding {few:,} x 384"
    yield _row(goal, peak / before, most=1.1, note=note)


def _output(words: list[str], setting: dict[str, str]) -> str:
    env = {**os.environ, **setting}
    return subprocess.run(words, env=env, check=True, capture_output=True, text=True).stdout


def _seconds(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    part.__name__: part for part in (recall, rivals, scan, same, cover, stream, speed)
}


def main() -> None:
    """Measure the given parts, and add the rows."""
    parser = argparse.ArgumentParser("python -m benchmarks.codes_reach", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    for part in args.parts or PARTS:
        for row in PARTS[part]():
            reach_table(args.out).replace([row | {"made_with": facts()}])
            verdict = "" if row["met"] else "MISSED "
            print(
                f"{verdict}{row['goal']}: {row['measured']:.4g} ({row['limit']}) {row['note']}",
                flush=True,
            )


if __name__ == "__main__":
    main()
