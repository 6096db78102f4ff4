"""Findings on embeddings, other starts and other constants of Algorithm 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from paper.methods import METHODS
from paper.report.agreement import PAPER_MEASURES
from paper.report.compare import OURS, ComparisonLine, methods_of
from paper.report.findings.words import ReportFinding, count, listed, standing
from paper.report.read import MEASURES
from paper.report.tables.clustering import line_name
from paper.report.tables.constants import Sweep, sweeps
from paper.report.tables.reading import too_few
from sphericalpca.pages.tables import share

__all__ = ["constants_findings", "constants_headlines", "embeddings_findings", "starts_findings"]

# How far apart two runs may end to have found the same subspace, as a share of the mean cosine.
SAME = 1e-5
SAME_IN_WORDS = "0.001 %"


def embeddings_findings(lines: Sequence[ComparisonLine]) -> Iterator[ReportFinding]:
    """Spherical PCA against every other method, on vectors of an encoder."""
    yield from _against_all(lines, "embeddings")


def starts_findings(lines: Sequence[ComparisonLine]) -> Iterator[ReportFinding]:
    """Whether clusters depend on the start, and how often a random one ends elsewhere."""
    yield from _against_all(lines, "starts")
    for line in lines:
        cosines = line.rows.pivot(index="repetition", columns="method", values="mean_cosine")
        for method in methods_of([line]):
            if method != OURS:
                change = cosines[method] / cosines[OURS] - 1
                higher, lower = int((change > SAME).sum()), int((change < -SAME).sum())
                where = (
                    f"higher in {higher} of {len(change)} draws, lower in {lower}"
                    if higher + lower
                    else f"the same in all {len(change)} draws"
                )
                yield ReportFinding(
                    "starts",
                    f"At {line_name(line)}, the mean cosine of {METHODS[method].label} is {where} "
                    f"(to {SAME_IN_WORDS}).",
                )


def _against_all(lines: Sequence[ComparisonLine], section: str) -> Iterator[ReportFinding]:
    if few := too_few(lines):
        yield ReportFinding(section, few)
    names = [line_name(line) for line in lines]
    for rival in methods_of(list(lines)):
        parts = [
            f"by {MEASURES[measure]} {where}"
            for measure in PAPER_MEASURES
            if (where := standing(lines, rival, measure, names))
        ]
        if parts:
            text = f"Against {METHODS[rival].label}, Spherical PCA is {'; '.join(parts)}."
            yield ReportFinding(section, text)


def constants_headlines(rows: pd.DataFrame) -> Iterator[str]:
    """How many pairs of constants take Algorithm 1 to the optimum, in short."""
    parts = [f"{_share(sweep, list(sweep.runs))} on {sweep.where}" for sweep in sweeps(rows)]
    if parts:
        yield (
            "From a random start, in at most 1,000 iterations, Algorithm 1 comes within a "
            f"thousandth of the default solver's mean cosine with {listed(parts)}."
        )


def constants_findings(rows: pd.DataFrame) -> Iterator[ReportFinding]:
    """Which constants take Algorithm 1 to the optimum, and what the others cost."""
    for sweep in sweeps(rows):
        yield ReportFinding("constants", f"On {sweep.where}, {_reached(sweep)}")


def _reached(sweep: Sweep) -> str:
    theory = [pair for pair in sweep.runs if min(pair) > 1]
    accuracies = [float(run["accuracy"]) for run in sweep.runs.values()]
    covered = f"; of those that the theory covers, {_share(sweep, theory)}" if theory else ""
    return (
        "Algorithm 1 comes within a thousandth of the default solver's mean cosine, in at most "
        f"1,000 iterations from a random start, with {_share(sweep, list(sweep.runs))} of "
        f"constants{covered}. Accuracy goes from {share(min(accuracies))} to "
        f"{share(max(accuracies))}; the default solver has "
        f"{share(float(sweep.default['accuracy']))}."
    )


def _share(sweep: Sweep, pairs: Sequence[tuple[float, float]]) -> str:
    return count(sum(map(sweep.reaches, pairs)), len(pairs), "pairs")
