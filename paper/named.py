"""The five newsgroups that the paper names, by the whole protocol: 40 draws, 5 k-means seeds each.

``python -m paper.named`` writes ``named.csv`` beside the committed rows in a few minutes.  It is
the part of Table 1 that the README shows.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from paper.journal import Journal
from paper.plan import ExperimentPlan, Trial
from paper.runner import run

__all__ = ["ROWS", "main", "trials"]

ROWS = Path(__file__).parent / "results" / "named.csv"


def trials() -> list[Trial]:
    """Those of Table 1 on the named groups, with words chosen in both ways."""
    plan = ExperimentPlan()
    part = replace(plan, groups=(plan.rank_groups,), text_variants=("main", "labels"))
    return list(part.trials("newsgroups"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run missing trials; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m paper.named", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROWS, help="file of rows, resumed if it exists")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    asked = parser.parse_args(arguments)
    journal = Journal(asked.out)
    failures = run(trials(), journal, data_home=None, jobs=asked.jobs, done=lambda _: None)
    sys.stdout.write("\n".join([*map(str, failures), f"{asked.out}: {len(journal.rows)} rows\n"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
