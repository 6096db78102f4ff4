"""Table 1 in a few columns, for the site."""

from __future__ import annotations

import pandas as pd

from paper.methods import METHODS
from paper.report.agreement import PAPER_MEASURES, main_lines, paper_number
from paper.report.compare import OURS, Cell, ComparisonLine, compare
from paper.report.tables.clustering import line_name
from sphericalpca.pages.tables import NONE, share

__all__ = ["summary_markdown"]

SHOWN = ("kmeans", "pca-unit", "svd-unit", "spherical-kmeans", OURS, "spherical-pca-centred")


def summary_markdown(rows: pd.DataFrame) -> str:
    """Accuracy / NMI of Table 1: Spherical PCA, its nearest rivals, and the paper's own.

    Parameters
    ----------
    rows : DataFrame
        As read from ``rows.csv``.

    Returns
    -------
    str
        A markdown table; empty where the rows hold no newsgroups.
    """
    lines = main_lines(compare(rows), "newsgroups")
    if not lines:
        return ""
    shown = [m for m in SHOWN if any(m in line.cells["accuracy"] for line in lines)]
    heads = [
        "accuracy / NMI",
        *(METHODS[method].label for method in shown),
        "Spherical PCA in the paper",
    ]
    body = [
        [line_name(line), *(_measured(line, method) for method in shown), _printed(line)]
        for line in lines
    ]
    rule = ["---", *(["---:"] * (len(heads) - 1))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rule, *body)) + "\n"


def _measured(line: ComparisonLine, method: str) -> str:
    return " / ".join(_mean(line.cells[measure], method) for measure in PAPER_MEASURES)


def _mean(cells: dict[str, Cell], method: str) -> str:
    """A mean, bold where no method of the row has a higher one, shown here or not."""
    if method not in cells:
        return NONE
    text = share(cells[method].mean)
    return f"**{text}**" if cells[method].best else text


def _printed(line: ComparisonLine) -> str:
    numbers = [paper_number(line, OURS, measure) for measure in PAPER_MEASURES]
    return " / ".join(share(number) for number in numbers if number is not None) or NONE
