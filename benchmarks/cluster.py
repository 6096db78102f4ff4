"""The overhead of a Dask cluster: ``python -m benchmarks.cluster``.

A pass on workers that are processes of this machine is compared with the same pass on as many
threads of one process; both take turns.
"""

from __future__ import annotations

import argparse
import importlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.clock import TimedAnswer, race, ratio
from benchmarks.machine import made_with
from benchmarks.table import ResultTable, Row
from benchmarks.task import random_subspace
from sphericalpca.linalg import Array
from sphericalpca.problem import Problem
from sphericalpca.rows import ClusterRows, as_rows
from sphericalpca.rows.cluster import from_dask

__all__ = ["LIMIT", "Size", "cluster_table", "main", "measure"]

# A pass of two workers may take this many times as long as one of two threads.
LIMIT = 1.5

COLUMNS = (
    "workers",
    "action",
    "n",
    "m",
    "r",
    "seconds",
    "quartile_1",
    "quartile_3",
    "ratio",
    "bytes_out",
    "bytes_back",
    "made_with",
)

RESULTS = Path(__file__).parent / "results"
QUICK_RESULTS = Path("build") / "benchmarks"


@dataclass(frozen=True)
class Size:
    """Rows, features, components, and rows of a chunk."""

    n: int
    m: int
    r: int
    chunk: int


FULL = Size(200_000, 768, 64, 25_000)
QUICK = Size(4_000, 50, 5, 500)


def cluster_table(folder: Path) -> ResultTable:
    """A row for each number of workers and action."""
    return ResultTable(folder / "cluster.csv", COLUMNS, ("workers", "action", "n", "m", "r"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write the table; 1 if the cluster is too slow."""
    parser = argparse.ArgumentParser("python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small data, to see that it works")
    parser.add_argument("--repeats", type=int, default=15, help="rounds (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="folder of cluster.csv")
    args = parser.parse_args(arguments)
    table = cluster_table(args.out or (QUICK_RESULTS if args.quick else RESULTS))
    print(made_with(quick=args.quick))
    slow = False
    for workers in (1, 2):
        rows = measure(workers, QUICK if args.quick else FULL, args.repeats)
        table.replace([{**row, "made_with": made_with(quick=args.quick)} for row in rows])
        slow |= any(_is_slow(row) for row in rows) and not args.quick
        for row in rows:
            print(_line(row), flush=True)
    print(f"wrote {table.path}")
    return int(slow)


def measure(workers: int, size: Size, repeats: int) -> list[Row]:
    """One row for each action: a pass on threads, one on workers, and an empty pass."""
    distributed: Any = importlib.import_module("distributed")
    options = {"n_workers": workers, "threads_per_worker": 1, "memory_limit": 0}
    quiet = {"dashboard_address": ":0", "silence_logs": logging.ERROR}
    with (
        distributed.LocalCluster(**options, **quiet) as cluster,
        distributed.Client(cluster),
    ):
        here, there = _in_memory(size), _on_cluster(size)
        U = random_subspace(size.m, size.r).astype(np.float32)
        outcomes = race(_actions(workers, here, there, U), repeats)
        moved = _bytes_of_a_pass(there, U)
    facts = {"workers": workers, "n": size.n, "m": size.m, "r": size.r}
    base = outcomes["threads"].timing
    return [
        {**facts, "action": name, **_measures(outcome), "ratio": ratio(outcome.timing, base)[0]}
        | (moved if name == "workers" else {})
        for name, outcome in outcomes.items()
    ]


def _actions(
    workers: int, here: Problem, there: Problem, U: Array
) -> dict[str, Callable[[], object]]:
    def on_threads() -> object:
        with threadpool_limits(workers, user_api="blas"):
            return here.evaluate(U)

    return {
        "threads": on_threads,
        "workers": lambda: there.evaluate(U),
        "nothing": lambda: there.rows.sweep(lambda block: (0.0,)),  # noqa: ARG005 - not read
    }


def _draw(seed: int, size: Size) -> Array:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((size.chunk, size.m), dtype=np.float32)


def _in_memory(size: Size) -> Problem:
    chunks = [_draw(seed, size) for seed in range(size.n // size.chunk)]
    return Problem(as_rows(np.vstack(chunks)))


def _on_cluster(size: Size) -> Problem:
    dask: Any = importlib.import_module("dask")
    da: Any = importlib.import_module("dask.array")
    shape, dtype = (size.chunk, size.m), np.dtype(np.float32)
    lazy = [dask.delayed(_draw)(seed, size) for seed in range(size.n // size.chunk)]
    array = da.concatenate([da.from_delayed(chunk, shape, dtype) for chunk in lazy])
    return Problem(as_rows(from_dask(array, dtype)))


def _bytes_of_a_pass(problem: Problem, U: Array) -> Row:
    """Bytes sent to each worker, and bytes received from all."""
    dumps: Any = importlib.import_module("cloudpickle").dumps
    moved: Row = {}

    class Weighed(ClusterRows):
        def _run_on_workers(self, kernel: Any) -> list[list[Any]]:
            answers = super()._run_on_workers(kernel)
            moved["bytes_out"] = len(dumps(kernel))
            moved["bytes_back"] = sum(part.nbytes for answer in answers for part in answer)
            return answers

    rows = problem.rows
    assert isinstance(rows, ClusterRows)
    Problem(Weighed(rows._matrix)).evaluate(U)
    return moved


def _measures(outcome: TimedAnswer) -> Row:
    low, high = outcome.timing.quartiles
    return {"seconds": outcome.timing.median, "quartile_1": low, "quartile_3": high}


def _is_slow(row: Row) -> bool:
    return bool(row["action"] == "workers" and row["ratio"] > LIMIT)


def _line(row: Row) -> str:
    moved = (
        f", {row['bytes_out']} bytes out, {row['bytes_back']} back" if "bytes_out" in row else ""
    )
    return (
        f"{row['n']} x {row['m']}, r = {row['r']}, {row['workers']} workers or threads: "
        f"{row['action']:8} {1e3 * row['seconds']:7.1f} ms ({1e3 * row['quartile_1']:.1f} to "
        f"{1e3 * row['quartile_3']:.1f}), {row['ratio']:.2f} times the threads{moved}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
