"""Fig. 2 in numbers: k-means on four views of the toy, over all draws."""

from __future__ import annotations

import math

from paper.methods import METHODS
from paper.report.compare import OURS, Cell, ComparisonLine
from paper.report.tables.entries import gain_entry
from paper.report.tables.reading import gain_reading, has_intervals
from sphericalpca.pages.tables import Entry, Row, Table, share

__all__ = ["VIEWS", "toy_table"]

# What k-means sees, from the points as they are to Spherical PCA's components.
VIEWS = {
    "kmeans-raw": "raw points",
    "kmeans": "unit rows",
    "svd-unit": "SVD, r = 2, unit rows",
    OURS: "Spherical PCA, r = 2",
}

GAIN = "the gain in accuracy of Spherical PCA over the view, paired"
P_VALUE = "Holm-corrected Wilcoxon p-value"


def toy_table(line: ComparisonLine) -> Table:
    """Accuracy and NMI of each view, and what Spherical PCA adds to it."""
    views = [view for view in VIEWS if view in line.cells["accuracy"]]
    views += [method for method in line.cells["accuracy"] if method not in VIEWS]
    n = max(cell.n for cell in line.cells["accuracy"].values())
    return Table(
        name="toy",
        title=f"K-means on views of the toy, {n} {'draw' if n == 1 else 'draws'}",
        caption=(
            f"Means over draws{' with their 95 % intervals' if has_intervals([line]) else ''}; the "
            f"lowest accuracy of any draw; {gain_reading([line], GAIN, P_VALUE)} ★ best mean. "
            "K-means takes the best of ten starts."
        ),
        corner="K-means on",
        columns=("Accuracy", "NMI", "Lowest accuracy", "Gain of Spherical PCA"),
        rows=tuple(_row(line, view) for view in views),
    )


def _row(line: ComparisonLine, view: str) -> Row:
    accuracy, nmi = line.cells["accuracy"][view], line.cells["nmi_max"][view]
    lowest = line.rows.loc[line.rows["method"] == view, "accuracy"].min()
    entries = (_mean(accuracy), _mean(nmi), Entry(share(lowest)), gain_entry(accuracy))
    return Row(VIEWS.get(view, METHODS[view].label), "", entries)


def _mean(cell: Cell) -> Entry:
    low, high = cell.interval
    below = (f"[{share(low)}, {share(high)}]",) if math.isfinite(low) else ()
    return Entry(share(cell.mean), "", below, best=cell.best)
