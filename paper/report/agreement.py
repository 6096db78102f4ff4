"""The paper's methods and its 96 numbers compared with ours: distance, ranking, leader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import rankdata

from paper.printed import PAPER_METHODS, paper_pair
from paper.report.compare import OURS, Cell, ComparisonLine, Outcome

__all__ = [
    "CLOSE",
    "FAIR_RIVALS",
    "PAPER_MEASURES",
    "READINGS",
    "JointOutcome",
    "Match",
    "best_of_six",
    "joint_outcome",
    "left_out",
    "lines_by_reading",
    "main_lines",
    "matches",
    "order_agreement",
    "outcomes",
    "paper_number",
    "rivals",
    "with_rivals",
]

# Numbers this close to each other are called close.
CLOSE = 0.05

# Our measure, and the field of the paper's pair that it stands beside.
PAPER_MEASURES = {"accuracy": "accuracy", "nmi_max": "nmi"}

# The variant of each table that follows the paper's words; Table 1 has two, see `READINGS`.
MAIN_VARIANT = {"newsgroups": "main", "uci": "unit"}

# "Mutual information between words and documents" can mean either.  Both are main tables, and
# a claim is made only if it holds in both.
READINGS = {"main": "words chosen by the documents", "labels": "words chosen by the labels"}

# The fair comparisons for Spherical PCA: the paper's reducers with unit rows, which Spherical PCA
# returns anyway, the SVD with unit rows, and clustering without a reduction.
FAIR_RIVALS = (
    *("mua-unit", "pca-unit", "r1-pca-unit", "k-svd-unit"),
    *("svd-unit", "spherical-kmeans"),
)

JointOutcome = Outcome | Literal["differs"]


@dataclass(frozen=True)
class Match:
    """One number of the paper, and ours."""

    line: ComparisonLine
    method: str
    measure: str
    paper: float
    cell: Cell

    @property
    def difference(self) -> float:
        """Ours minus the paper's."""
        return self.cell.mean - self.paper


def paper_number(line: ComparisonLine, method: str, measure: str) -> float | None:
    """The number that the paper prints for this cell, if there is one."""
    pair = paper_pair(line.key.experiment, line.key.dataset, line.key.groups, method)
    field = PAPER_MEASURES.get(measure)
    return None if pair is None or field is None else float(getattr(pair, field))


def main_lines(lines: list[ComparisonLine], experiment: str) -> list[ComparisonLine]:
    """The lines of the table as in the paper, without variants and views."""
    return [
        line
        for line in lines
        if line.key.experiment == experiment
        and line.key.variant == MAIN_VARIANT[experiment]
        and not line.key.dataset.startswith("mfeat-")
    ]


def lines_by_reading(lines: list[ComparisonLine]) -> dict[str, list[ComparisonLine]]:
    """The lines of Table 1 by each reading of the paper's words that was run."""
    found = {
        reading: [
            line
            for line in lines
            if line.key.experiment == "newsgroups" and line.key.variant == reading
        ]
        for reading in READINGS
    }
    return {reading: part for reading, part in found.items() if part}


def joint_outcome(
    by_reading: dict[str, list[ComparisonLine]], groups: str, rival: str, measure: str
) -> JointOutcome:
    """How Spherical PCA compares with a rival in all readings; "differs" if they disagree."""
    outcomes = {
        cell.outcome
        for lines in by_reading.values()
        for line in lines
        if line.key.groups == groups and (cell := line.cells[measure].get(rival)) is not None
    }
    if len(outcomes) == 1:
        return outcomes.pop()
    return "differs" if outcomes else "untested"


def matches(lines: list[ComparisonLine]) -> list[Match]:
    """Every number of the paper for which `lines` have one of ours."""
    return [
        Match(line, method, measure, paper, cell)
        for line in lines
        for measure in PAPER_MEASURES
        for method, cell in line.cells[measure].items()
        if (paper := paper_number(line, method, measure)) is not None
    ]


def order_agreement(line: ComparisonLine, measure: str) -> float:
    """Spearman's correlation between the paper's order of methods and ours, in one line.

    NaN where the paper has no such line, where fewer than three methods can be compared, or
    where all are level.
    """
    pairs = [
        (paper, line.cells[measure][method].mean)
        for method in PAPER_METHODS
        if method in line.cells[measure]
        and (paper := paper_number(line, method, measure)) is not None
    ]
    if len(pairs) < 3:
        return float("nan")
    theirs, ours = (rankdata(values) for values in zip(*pairs, strict=True))
    if np.ptp(theirs) == 0 or np.ptp(ours) == 0:
        return float("nan")
    return float(np.corrcoef(theirs, ours)[0, 1])


def rivals(line: ComparisonLine) -> list[str]:
    """The paper's other methods in a line, without cells borrowed from other data."""
    cells = line.cells["accuracy"]
    return [m for m in PAPER_METHODS if m in cells and m != OURS and not _is_borrowed(line, m)]


def left_out(lines: Sequence[ComparisonLine]) -> dict[str, list[ComparisonLine]]:
    """The methods of the paper that do not count in some lines, as their data differ there."""
    return {
        method: borrowed
        for method in PAPER_METHODS
        if (borrowed := [ln for ln in lines if _is_borrowed(ln, method)])
    }


def _is_borrowed(line: ComparisonLine, method: str) -> bool:
    cell = line.cells["accuracy"].get(method)
    return cell is not None and cell.borrowed


def with_rivals(lines: Sequence[ComparisonLine]) -> list[ComparisonLine]:
    """The lines that have Spherical PCA and another method of the paper."""
    return [line for line in lines if OURS in line.cells["accuracy"] and rivals(line)]


def outcomes(lines: Sequence[ComparisonLine]) -> Counter[str]:
    """How often each outcome occurs against the paper's other methods, by both measures."""
    found = Counter(
        str(line.cells[measure][rival].outcome)
        for line in lines
        for measure in PAPER_MEASURES
        for rival in rivals(line)
    )
    del found["untested"]
    return found


def best_of_six(line: ComparisonLine, measure: str) -> list[str]:
    """The methods with the highest mean among the paper's six, to three decimals."""
    means = {m: round(line.cells[measure][m].mean, 3) for m in (*rivals(line), OURS)}
    return [method for method, mean in means.items() if mean == max(means.values())]
