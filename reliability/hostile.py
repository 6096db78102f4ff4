"""Hostile arrays: many times the examples of the suite, different in every run, and counted.

``python -m reliability.hostile --times 40`` runs ``tests/hostile`` with forty times as many
examples and writes, for each test, how many examples hypothesis drew, and how many failed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.machine import made_with
from benchmarks.table import ResultTable, Row

__all__ = ["counted", "main"]

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "hostile.csv"
COLUMNS = ("test", "times", "passed", "failed", "invalid", "seconds", "made_with")
KEY = ("test",)

TITLE = re.compile(r"^tests/hostile/(\S+\.py::.+):$")
PHASE = re.compile(r"^ +- during \w+ phase \(([\d.]+) seconds\)")
# Versions of hypothesis speak of examples, or of test cases.
COUNTS = re.compile(r"(\d+) passing\D+(\d+) failing\D+(\d+) invalid")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests, write a row for each; the exit code is pytest's."""
    parser = argparse.ArgumentParser("python -m reliability.hostile", description=__doc__)
    parser.add_argument("--times", type=float, default=40.0, help="how many times the examples")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the table that gets the rows")
    args = parser.parse_args(arguments)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--hypothesis-show-statistics", "tests/hostile"],
        cwd=ROOT,
        env={**os.environ, "HOSTILE_TIMES": str(args.times)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    made = made_with()
    rows = [{**row, "times": args.times, "made_with": made} for row in counted(ran.stdout)]
    ResultTable(args.out, COLUMNS, KEY).replace(rows)
    drawn, failed = (sum(row[name] for row in rows) for name in ("passed", "failed"))
    print(f"{drawn + failed:,} examples for {len(rows)} tests, {failed} broke the law: {args.out}")
    if ran.returncode:
        print(ran.stdout[-4000:], file=sys.stderr)
    return ran.returncode


def counted(statistics: str) -> Iterator[Row]:
    """What hypothesis drew for each test, from its own statistics, over all phases."""
    row: Row = {}
    for line in statistics.splitlines():
        if title := TITLE.match(line):
            if row:
                yield row
            row = {"test": title[1], "passed": 0, "failed": 0, "invalid": 0, "seconds": 0.0}
        elif row and (phase := PHASE.match(line)):
            row["seconds"] += float(phase[1])
        elif row and (found := COUNTS.search(line)):
            for name, count in zip(("passed", "failed", "invalid"), found.groups(), strict=True):
                row[name] += int(count)
    if row:
        yield row


if __name__ == "__main__":
    sys.exit(main())
