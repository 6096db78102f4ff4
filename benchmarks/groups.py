"""Groups of texts compared with alternatives: agreement with known classes, and stability.

``python -m benchmarks.groups`` groups each data set with each method from several seeds, each in
its own process, and writes a row for each.  Existing rows are kept, so an interrupted race can be
resumed; ``--again`` replaces them.  ``--data``, ``--only`` and ``--seeds`` choose parts.
BERTopic and turftopic are not among the requirements: where they are not installed they are
skipped, and the output says so.
Texts with the label -1 count as a group, and in the columns that end in ``_assigned`` they are
left out.  ``summary`` prints the means, and the lead of ours.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, v_measure_score

from benchmarks.groupers import DATA, METHODS
from benchmarks.machine import made_with
from benchmarks.real import MissingDataError
from benchmarks.table import ResultTable, Row, number
from sphericalpca.linalg import Labels
from sphericalpca.metrics import nmi, paired_difference

__all__ = ["groups_table", "measured", "provenance", "race", "scores", "summary"]

SEEDS = 5
ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
MEASURES = {"nmi": nmi, "v_measure": v_measure_score, "ari": adjusted_rand_score}
COLUMNS = (
    *("data", "method", "seed", "n", "k", "groups", *MEASURES, "assigned"),
    *(f"{name}_assigned" for name in MEASURES),
    *("agreement", "seconds", "peak_mb", "commit", "made_with"),
)


def groups_table(folder: Path) -> ResultTable:
    """A row for each data set, method and seed."""
    return ResultTable(folder / "groups.csv", COLUMNS, ("data", "method", "seed"))


def provenance(*packages: str) -> Row:
    """The commit, the processor and the libraries of the measurement."""
    asked = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    versions = [f"{name} {metadata.version(name)}" for name in packages]
    processor = (models or [platform.machine()])[0]
    return {"commit": commit.strip(), "made_with": "; ".join([processor, made_with(), *versions])}


def scores(classes: Labels, labels: Labels) -> Row:
    """Agreement with known classes, -1 as a group; and without the texts that have it."""
    known = labels >= 0
    found: Row = {"assigned": float(known.mean()), "groups": len(np.unique(labels[known]))}
    for name, measure in MEASURES.items():
        found[name] = measure(classes, labels)
        found[f"{name}_assigned"] = measure(classes[known], labels[known])
    return found


def measured(name: str, method: str, seed: int, path: Path) -> Row:
    """Group in this process; labels go to a file.  The clock starts with texts in memory."""
    task = DATA[name]()
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = np.asarray(METHODS[method].run(task, seed))
    seconds = time.perf_counter() - began
    np.save(path, labels)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    where: Row = {"data": name, "method": method, "seed": seed, "n": len(labels), "k": task.k}
    return where | scores(task.classes, labels) | {"seconds": seconds, "peak_mb": peak}


def race(name: str, method: str, seeds: int) -> list[Row]:
    """Rows of a method on a data set, with the agreement of each seed with the others."""
    rows, labels = [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(seeds):
            path = Path(folder) / f"{seed}.npy"
            arguments = ["one", "--data", name, "--only", method, "--seeds", str(seed)]
            command = [sys.executable, "-m", "benchmarks.groups", *arguments, "--out", str(path)]
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
            rows.append(json.loads(done.stdout.splitlines()[-1]))
            labels.append(np.load(path))
    for row, found in zip(rows, labels, strict=True):
        mine = [adjusted_rand_score(found, other) for other in labels if other is not found]
        row["agreement"] = float(np.mean(mine)) if mine else float("nan")
    needs = METHODS[method].needs
    facts = provenance(*([needs] if needs else []))
    return [row | facts for row in rows]


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each data set and method: means, and ours minus theirs with a 95 % interval."""
    for name in dict.fromkeys(row["data"] for row in rows):
        cells = {m: [r for r in rows if (r["data"], r["method"]) == (name, m)] for m in METHODS}
        mine = [number(row, "nmi") for row in cells["ours"]]
        header = "NMI    V      ARI    assigned  agreement  seconds     MB  ours ahead"
        yield f"\n{name}\n{'':28}  {header}"
        for method, found in cells.items():
            if not found:
                continue
            mean = {c: np.mean([number(row, c) for row in found]) for c in COLUMNS[6:-2]}
            line = f"{method:28}  {mean['nmi']:.3f}  {mean['v_measure']:.3f}  {mean['ari']:.3f}  "
            line += f"{mean['assigned']:8.1%}  {mean['agreement']:9.2f}  {mean['seconds']:7.1f}  "
            line += f"{mean['peak_mb']:5.0f}"
            theirs = [number(row, "nmi") for row in found]
            if method != "ours" and len(theirs) == len(mine):
                gap = paired_difference(mine, theirs)
                line += f"  {gap.mean:+.3f} ({gap.low:+.3f}, {gap.high:+.3f})"
            yield line


def _run(names: Sequence[str], methods: Sequence[str], args: Any) -> None:
    table = groups_table(args.out or RESULTS)
    for name in names:
        try:
            given = "texts" if DATA[name]().vectors is None else "vectors"
        except MissingDataError as missing:
            print(f"{name} SKIPPED, {missing}", flush=True)
            continue
        for method in methods:
            grouper = METHODS[method]
            there = [r for r in table.read() if (r["data"], r["method"]) == (name, method)]
            if not getattr(grouper, given) or (len(there) >= args.seeds and not args.again):
                continue
            if grouper.needs and find_spec(grouper.needs) is None:
                print(f"{name}: {method} SKIPPED, {grouper.needs} is not installed", flush=True)
                continue
            try:
                rows = race(name, method, args.seeds)
            except subprocess.CalledProcessError:
                print(f"{name}: {method} FAILED, see above", flush=True)
                continue
            table.replace(rows)
            print(*(f"{row['nmi']:.3f}" for row in rows), name, method, flush=True)


def main() -> None:
    """Run the given parts, add the rows, and print the summary."""
    parser = argparse.ArgumentParser("python -m benchmarks.groups", description=__doc__)
    parts = "race (default), summary (print only), or one (a run of a race, in its own process)"
    known = ("race", "one", "summary")
    parser.add_argument("part", nargs="?", default="race", choices=known, help=parts)
    for name, choices in (("data", DATA), ("only", METHODS)):
        said = f"may be repeated; one of {', '.join(map(repr, choices))} (default: all)"
        options: Any = {"metavar": "NAME", "choices": list(choices), "help": said}
        parser.add_argument(f"--{name}", action="append", **options)
    parser.add_argument(
        "--seeds", type=int, default=SEEDS, help="runs of each (default: %(default)s)"
    )
    parser.add_argument("--again", action="store_true", help="replace rows that are there")
    parser.add_argument(
        "--out", type=Path, help="folder of groups.csv (default: the committed one)"
    )
    args = parser.parse_args()
    names, methods = args.data or list(DATA), args.only or list(METHODS)
    if args.part == "one":  # one run of a race, in a separate process
        print(json.dumps(measured(names[0], methods[0], args.seeds, args.out)))
        return
    if args.part == "race":
        _run(names, methods, args)
    print("\n".join(summary(groups_table(args.out or RESULTS).read())))


if __name__ == "__main__":
    main()
