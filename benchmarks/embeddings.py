"""Measurements on embeddings: neighbours kept, dimensions chosen, files transformed.

``python -m benchmarks.embeddings`` measures, on the MiniLM vectors of the newsgroups, the
recall of neighbours compared with rivals, and `choose_components` on unseen queries;
and on 4,000,000 x 384 generated numbers (6 GB in a temporary folder) `transform_file` beside
a bare product of the same blocks, each in a separate process, in turns.  Parts by name:
``recall``, ``choose``, ``transform``; ``--rows`` and ``--folder`` as in `outofcore`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.machine import made_with
from benchmarks.memory import resident_peak
from benchmarks.outofcore import generate
from benchmarks.real import MissingDataError, minilm
from benchmarks.table import ResultTable, Row
from sphericalpca import SphericalPCA, choose_components, evaluate, open_rows
from sphericalpca.linalg import Array
from sphericalpca.metrics import mean_share, nearest_neighbours, recall_per_query
from sphericalpca.parallel import allowed_threads
from sphericalpca.rows.reading import best_block_rows
from sphericalpca.transforming import transform_file

__all__ = ["PARTS", "WAYS", "embeddings_table"]

DIMENSIONS = (64, 128, 192)
METHODS = {"refit": "Spherical PCA", "svd-unit": "SVD + unit rows", "pca-dot": "centred PCA, dot"}
QUERIES, K, WANTED = 1000, 10, 0.9
FEATURES, COMPONENTS = 384, 64

COLUMNS = (
    *("part", "method", "n", "m", "r", "queries", "recall", "low", "high"),
    *("seconds", "ratio", "memory_mb", "rounds", "made_with"),
)


def embeddings_table(folder: Path) -> ResultTable:
    """A row for each measurement."""
    return ResultTable(folder / "embeddings.csv", COLUMNS, ("part", "method", "n", "r"))


def recall_rows() -> Iterator[Row]:
    """Recall of ten neighbours by cosine for held-out queries, all methods on the same draw."""
    X = minilm()
    for r in DIMENSIONS:
        model = SphericalPCA(r, random_state=0).fit(X)
        found = evaluate(model, X, queries=QUERIES, at=(K,), random_state=0)
        for method in METHODS:
            row = found.row(method, k=K)
            numbers = {"recall": row.recall, "low": row.low, "high": row.high}
            yield _row("recall", method, X.shape, r) | numbers | {"queries": found.n_queries}


def choose_rows(rounds: int) -> Iterator[Row]:
    """The choice for a recall of 0.9, on other queries, and the cost of the whole curve.

    The ratio is the time of everything but the searches, over the time of one fit to the same rows
    with the chosen number of components and the same settings; both are medians over rounds.  No
    fit of the curve has fewer components, so the largest takes no less time.
    """
    X = minilm()
    rng = np.random.default_rng(1)
    apart = np.sort(rng.choice(len(X), QUERIES, replace=False))
    base = np.delete(X, apart, axis=0)
    curves, fits = [], []
    for _ in range(rounds):
        began = time.perf_counter()
        choice = choose_components(base, recall=WANTED, k=K, queries=QUERIES, random_state=0)
        curves.append(time.perf_counter() - began - choice.search_seconds)
        single = SphericalPCA(choice.n_components, random_state=0)
        fits.append(_seconds(partial(single.fit, base)))
    share = mean_share(_recalls(choice.model, base, X[apart]), K)
    numbers = {"recall": share.mean, "low": share.low, "high": share.high, "queries": QUERIES}
    curve, fit = statistics.median(curves), statistics.median(fits)
    times = {"seconds": curve, "ratio": curve / fit, "rounds": rounds}
    yield _row("choose", "whole curve", base.shape, choice.n_components) | numbers | times


def _recalls(model: SphericalPCA, base: Array, queries: Array) -> Array:
    right = nearest_neighbours(base, queries, K).ids
    found = nearest_neighbours(model.transform(base), model.transform(queries), K).ids
    return recall_per_query(right, found, K)


def _bare(model: SphericalPCA, source: Path, output: Path) -> None:
    """A product, unit rows and a write for every block, without any checks."""
    X, U = np.load(source, mmap_mode="r"), np.ascontiguousarray(model.components_.T)
    height = best_block_rows(open_rows(source), allowed_threads())
    header = X.offset
    with source.open("rb", buffering=0) as file, output.open("wb", buffering=0) as out:
        file.seek(header)
        buffer = np.empty((height, X.shape[1]), dtype=X.dtype)
        for first in range(0, len(X), height):
            block = buffer[: min(height, len(X) - first)]
            file.readinto(block.data.cast("B"))
            V = block @ U
            V /= np.linalg.norm(V, axis=1, keepdims=True)
            out.write(V.data.cast("B"))


def _ours(model: SphericalPCA, source: Path, output: Path) -> None:
    transform_file(model, open_rows(source), output)


WAYS: dict[str, Callable[[SphericalPCA, Path, Path], None]] = {
    "bare product": _bare,
    "transform_file": _ours,
}


def transform_once(way: str, source: Path) -> dict[str, float]:
    """Time of one transform, and how far memory rises above its level after the imports."""
    some = np.load(source, mmap_mode="r")[:20_000]
    model = SphericalPCA(COMPONENTS, random_state=0, tol=1e-3).fit(np.array(some))
    output = source.with_name("out.npy")
    found: dict[str, float] = {}

    def act() -> None:
        found["seconds"] = _seconds(lambda: WAYS[way](model, source, output))

    memory = resident_peak(act, pause=0.02)
    output.unlink()
    return {**found, "memory": memory}


def transform_rows(rows: int, rounds: int, folder: Path | None) -> Iterator[Row]:
    """Both ways in turns; the ratio is ours to the bare product, in rows per second."""
    runs: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        path = Path(temporary) / "rows.npy"
        generate(path, rows, FEATURES)
        for _ in range(rounds):
            for way, found in runs.items():
                found.append(_in_own_process(way, path))
                print(way, found[-1], flush=True)
    bare = runs["bare product"]
    for way, found in runs.items():
        pairs = zip(found, bare, strict=True)
        yield _row("transform", way, (rows, FEATURES), COMPONENTS) | {
            "seconds": statistics.median(one["seconds"] for one in found),
            "ratio": statistics.median(other["seconds"] / one["seconds"] for one, other in pairs),
            "memory_mb": max(one["memory"] for one in found) / 1e6,
            "rounds": rounds,
        }


def _in_own_process(way: str, path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.embeddings", "--once", way, str(path)]
    root = Path(__file__).parent.parent
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _row(part: str, method: str, shape: tuple[int, ...], r: int) -> Row:
    n, m = shape
    return {"part": part, "method": method, "n": n, "m": m, "r": r, "made_with": made_with()}


def _seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


PARTS = ("recall", "choose", "transform")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="all by default")
    parser.add_argument("--rows", type=int, default=4_000_000, help="of the file to transform")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="for the generated file")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--once", nargs=2, metavar=("WAY", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        print(json.dumps(transform_once(options.once[0], Path(options.once[1]))))
        return
    measure: dict[str, Callable[[], Iterator[Row]]] = {
        "recall": recall_rows,
        "choose": lambda: choose_rows(options.rounds),
        "transform": lambda: transform_rows(options.rows, options.rounds, options.folder),
    }
    for part in options.parts or PARTS:
        try:
            embeddings_table(options.out).replace(list(measure[part]()))
        except MissingDataError as missing:
            print(f"{part}: skipped, {missing}")


if __name__ == "__main__":
    main()
