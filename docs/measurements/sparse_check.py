"""The share of a fit that the check of a sparse matrix takes, on newsgroup tf-idf.

Writes ``sparse_check.csv`` beside this file: medians of ten runs, in turn, of the check (pointers,
indices, repetitions) and of a whole fit with 20 components.  ``docs/reliability.md`` names
the share.  Wants the newsgroups in the folder that SPHERICALPCA_DATA_HOME names::

    python -m docs.measurements.sparse_check
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from benchmarks.machine import made_with
from benchmarks.real import newsgroups_full
from sphericalpca import SphericalPCA
from sphericalpca.parallel import parallel
from sphericalpca.rows.structure import sound, summed

OUT = Path(__file__).with_name("sparse_check.csv")
TIMES = 11


def main() -> None:
    """Measure, and write one row."""
    X = newsgroups_full()

    def check() -> None:
        with parallel():
            summed(sound(X))

    calls = check, (lambda: SphericalPCA(20).fit(X))
    runs = [tuple(map(_seconds, calls)) for _ in range(TIMES)]
    checks, fits = map(median, zip(*runs[1:], strict=True))
    found = {
        "rows": X.shape[0],
        "columns": X.shape[1],
        "numbers": X.nnz,
        "check_ms": f"{1e3 * checks:.2f}",
        "fit_ms": f"{1e3 * fits:.1f}",
        "share": f"{checks / fits:.4f}",
        "made_with": made_with(),
    }
    with OUT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, found, lineterminator="\n")
        writer.writeheader()
        writer.writerow(found)


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
