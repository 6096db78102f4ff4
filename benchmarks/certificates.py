"""Measurements of certificates, a row for each: ``python -m benchmarks.certificates [PART ...]``.

``text20`` and ``text100``: newsgroup tf-idf, gap and seconds of a bound of kind "probable".
``direct``: up to 2,048 features, seconds against an earlier version, whose `src` folder is given
with ``--before``; each in separate processes, in turns.  Without names all parts run.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sklearn.datasets import load_digits

from benchmarks import real
from benchmarks.groups import RESULTS, ROOT, provenance
from benchmarks.table import ResultTable, Row
from sphericalpca import Certificate, SphericalPCA

__all__ = ["CASES", "direct", "reach_table", "text"]

COLUMNS = ("goal", "measured", "limit", "met", "note", "commit", "made_with")
GAP = 3e-4
ROUNDS = 3
# Up to 2,048 features, and the number of components.
CASES: dict[str, tuple[Callable[[], Any], int]] = {
    "digits, 1,797 x 64": (lambda: load_digits().data, 10),
    "MiniLM newsgroups, 18,846 x 384": (real.minilm, 64),
    "text, 4,000 x 2,000": (real.text_4000x2000, 20),
}


def reach_table(folder: Path) -> ResultTable:
    """A row for each measurement."""
    return ResultTable(folder / "certificates.csv", COLUMNS, ("goal",))


def _row(goal: str, measured: float, limit: float, note: str) -> Row:
    met = measured <= limit
    return {"goal": goal, "measured": measured, "limit": limit, "met": met, "note": note}


def _timed(X: object, r: int) -> tuple[float, float, Certificate]:
    """Seconds of the fit and of the certificate, and the certificate."""
    began = time.perf_counter()
    model = SphericalPCA(r, random_state=0).fit(X)
    fitted = time.perf_counter()
    found = model.certify(X)
    return fitted - began, time.perf_counter() - fitted, found


def text(X: Any, r: int, seconds: float, times: float) -> Iterator[Row]:
    """Gap and seconds; the limit is `seconds`, or `times` as long as the fit if that is more."""
    fit, certify, found = _timed(X, r)
    name = f"text {X.shape[0]:,} x {X.shape[1]:,}, r = {r}"
    risk = f'kind "{found.kind}", probability {found.probability}'
    yield _row(f"{name}: gap", found.gap, GAP, risk)
    limit = max(seconds, times * fit)
    yield _row(f"{name}: seconds", certify, limit, f"{risk}; the fit took {fit:.2f} s")


def direct(case: str, before: Path) -> Row:
    """Median seconds of a certificate over those of an earlier version."""
    sides: list[tuple[Path, list[tuple[float, float]]]] = [(ROOT / "src", []), (before, [])]
    for _ in range(ROUNDS):
        for source, found in sides:
            path = os.pathsep.join([str(source), str(ROOT)])
            command = [sys.executable, "-m", "benchmarks.certificates", "--time", case]
            environment = os.environ | {"PYTHONPATH": path}
            done = subprocess.run(
                command, env=environment, check=True, capture_output=True, text=True
            )
            seconds, gap = map(float, done.stdout.split())
            found.append((seconds, gap))
    ours, theirs = (statistics.median(seconds for seconds, _ in found) for _, found in sides)
    note = f"{ours:.3f} s against {theirs:.3f} s, medians of {ROUNDS} in turns; gaps "
    note += " and ".join(f"{found[0][1]:.3e}" for _, found in sides)
    # Two processes of the same version differ by a tenth.
    return _row(f"{case}: certify / that of the version before", ours / theirs, 1.1, note)


def _rows(part: str, before: Path | None) -> Iterator[Row]:
    if part == "direct" and before is not None:
        for case in CASES:
            yield direct(case, before)
    elif part != "direct":
        limits = {"text20": (20, 10.0, 10.0), "text100": (100, 60.0, 0.0)}[part]
        yield from text(real.newsgroups_full(), *limits)


def main(arguments: list[str] | None = None) -> None:
    """Measure the given parts, and add the rows."""
    parts = ("text20", "text100", "direct")
    parser = argparse.ArgumentParser("python -m benchmarks.certificates", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    parser.add_argument("--before", type=Path, help="src folder of an earlier version")
    parser.add_argument("--time", choices=CASES, help="print seconds and gap of one certificate")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args(arguments)
    if args.time:
        load, r = CASES[args.time]
        _, seconds, found = _timed(load(), r)
        print(seconds, found.gap)
        return
    for part in args.parts or parts:
        for row in _rows(part, args.before):
            reach_table(args.out).replace([row | provenance()])
            print(f"{row['goal']}: {row['measured']:.3g} ({row['limit']:.3g}) {row['note']}")


if __name__ == "__main__":
    main()
