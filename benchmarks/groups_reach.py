"""Measurements of text groups, a row for each: ``python -m benchmarks.groups_reach [PART ...]``.

``posts``: the newsgroups from file to page.  ``million``: a million short texts, made of their
sentences.  ``auto``: 5 and 20 generated groups are counted.  ``kernels``: labels under other BLAS
kernels.  ``threads``: bytes of groups.csv for 1, 2 and 4 threads.  Without names all parts run.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.groupers import DATA
from benchmarks.groups import RESULTS, ROOT, provenance
from benchmarks.table import ResultTable, Row
from sphericalpca import TextClusters
from sphericalpca.linalg import Labels

__all__ = ["PARTS", "reach_table", "topics"]

COLUMNS = ("goal", "measured", "limit", "met", "note", "commit", "made_with")
KERNELS = ("Haswell", "Sandybridge", "Nehalem")
POSTS, DRAWS, LEAST_WORDS = "newsgroups, headers kept", 10, 5


def reach_table(folder: Path) -> ResultTable:
    """A row for each measurement."""
    return ResultTable(folder / "groups_reach.csv", COLUMNS, ("goal",))


def _row(
    goal: str, measured: float, limit: float, *, at_least: bool = False, note: str = ""
) -> Row:
    met = measured >= limit if at_least else measured <= limit
    return {"goal": goal, "measured": measured, "limit": limit, "met": met, "note": note}


def _write(texts: Any, path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["text"])
        table.writerows([text.replace("\0", " ")] for text in texts)
    return path


def _cluster(path: Path, out: Path, k: int = 20, **environment: str) -> tuple[float, float]:
    """Seconds and peak megabytes of the command, from its start to its end."""
    command = [sys.executable, "-m", "sphericalpca", "cluster", path, "-k", k, "--out", out]
    before, began = os.environ | environment, time.perf_counter()
    subprocess.run(
        [*map(str, command), "--quiet"], env=before, check=True, stdout=subprocess.DEVNULL
    )
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return time.perf_counter() - began, peak


def posts(folder: Path) -> Iterator[Row]:
    """18,846 posts in 20 groups, from file to page."""
    seconds, peak = _cluster(_write(DATA[POSTS]().texts, folder / "posts.csv"), folder / "posts")
    yield _row("18,846 posts, k = 20: seconds", seconds, 25, note=f"{peak:.0f} MB")


def million(folder: Path) -> Iterator[Row]:
    """A million short texts, made of pairs of sentences of the posts."""
    posts = DATA["newsgroups, stripped"]().texts
    parts = [" ".join(part.split()) for text in posts for part in text.split(".")]
    sentences = [part for part in parts if len(part.split()) >= LEAST_WORDS]
    pairs = np.random.default_rng(0).integers(len(sentences), size=(1_000_000, 2))
    texts = (f"{sentences[a]}. {sentences[b]}." for a, b in pairs)
    seconds, peak = _cluster(_write(texts, folder / "million.csv"), folder / "million")
    yield _row("1,000,000 short texts, k = 20: seconds", seconds, 600)
    yield _row("1,000,000 short texts, k = 20: MB", peak, 6 * 1024)


def topics(k: int, n: int, seed: int) -> list[str]:
    """Texts of k topics, with words of the topic among common words."""
    rng = np.random.default_rng(seed)
    own, common = rng.dirichlet(np.full(1000, 0.05), k), 1 / np.arange(1, 1001)
    texts = []
    for label in rng.integers(k, size=n):
        mine = rng.choice(1000, rng.binomial(40, 0.4), p=own[label])
        others = rng.choice(1000, 40 - len(mine), p=common / common.sum())
        texts.append(" ".join([*(f"own{w}" for w in mine), *(f"common{w}" for w in others)]))
    return texts


def auto(folder: Path) -> Iterator[Row]:  # noqa: ARG001
    """How often the number is found within one, and the cost."""
    for k in (5, 20):
        found, costs = [], []
        for seed in range(DRAWS):
            texts = topics(k, 3000, seed)
            one, _ = _seconds(TextClusters(k), texts)
            all_of_it, model = _seconds(TextClusters("auto"), texts)
            found.append(len(model.sizes_))
            costs.append(all_of_it / one)
        near = sum(abs(count - k) <= 1 for count in found)
        note = f"found {found}"
        yield _row(
            f"-k auto, {k} groups: within one, of {DRAWS}", near, 8, at_least=True, note=note
        )
        yield _row(f"-k auto, {k} groups: times the cost of a run", float(np.median(costs)), 15)


def _seconds(model: TextClusters, texts: list[str]) -> tuple[float, TextClusters]:
    began = time.perf_counter()
    model.fit(texts)
    return time.perf_counter() - began, model


def _labels(path: Path) -> tuple[Labels, Any]:
    with (path / "groups.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    doubts = np.array([row["uncertain"] == "1" for row in rows])
    return np.array([int(row["group"]) for row in rows]), doubts


def kernels(folder: Path) -> Iterator[Row]:
    """Equal labels, and whether those that differ were marked as uncertain."""
    path = _write(DATA[POSTS]().texts, folder / "posts.csv")
    for name in KERNELS:
        _cluster(path, folder / name, OPENBLAS_CORETYPE=name)
    first, doubts = _labels(folder / KERNELS[0])
    for name in KERNELS[1:]:
        labels, others = _labels(folder / name)
        differ = labels != first
        sure = int((differ & ~doubts & ~others).sum())
        note = f"{differ.sum()} differ, {sure} of them not marked as uncertain"
        yield _row(
            f"equal labels, {KERNELS[0]} and {name}",
            float((~differ).mean()),
            0.999,
            at_least=True,
            note=note,
        )


def threads(folder: Path) -> Iterator[Row]:
    """How many runs on several threads wrote other bytes than the run on one thread."""
    path, written = _write(DATA[POSTS]().texts, folder / "posts.csv"), []
    for count in ("1", "2", "4"):
        out = folder / f"threads{count}"
        _cluster(path, out, OPENBLAS_NUM_THREADS=count, OMP_NUM_THREADS=count)
        written.append((out / "groups.csv").read_bytes())
    others = sum(content != written[0] for content in written[1:])
    yield _row("groups.csv on 2 and 4 threads: files with other bytes", others, 0)


PARTS: dict[str, Callable[[Path], Iterator[Row]]] = {
    part.__name__: part for part in (posts, threads, kernels, auto, million)
}


def main() -> None:
    """Measure the given parts, and add the rows."""
    parser = argparse.ArgumentParser("python -m benchmarks.groups_reach", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    out = "folder of groups_reach.csv (default: the committed one)"
    parser.add_argument("--out", type=Path, default=RESULTS, help=out)
    args = parser.parse_args()
    if unknown := [part for part in args.parts if part not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}: choose from {', '.join(PARTS)}")
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    )
    for part in args.parts or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            for row in PARTS[part](Path(folder)):
                reach_table(args.out).replace([row | provenance()])
                print(
                    f"{row['goal']}: {row['measured']:.4g} ({row['limit']}) {row['note']}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
