"""Findings on the toy data, the solvers, the dimension and the usual recipe."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from paper.report.agreement import PAPER_MEASURES
from paper.report.compare import OURS, Cell, ComparisonLine
from paper.report.findings.words import (
    ReportFinding,
    by_measure,
    cost_range,
    count,
    listed,
    percent,
    standing,
    tally,
)
from paper.report.read import MEASURES
from paper.report.tables.clustering import line_name
from paper.report.tables.entries import plain_number
from paper.report.tables.lsa import LSA, VARIANTS
from paper.report.tables.reading import is_tested, too_few
from paper.report.tables.solvers import rate_in_words, shrinks, solver_name
from sphericalpca.pages.tables import MINUS, share

__all__ = [
    "POOR",
    "gain_in_points",
    "lsa_findings",
    "rank_findings",
    "seconds_findings",
    "solver_findings",
    "toy_findings",
]

# Halfway between chance and perfect, for two groups of the same size.
POOR = 0.75

# A gap below this is rounding.
EXACT = 1e-12


def toy_findings(lines: Sequence[ComparisonLine]) -> Iterator[ReportFinding]:
    """The paper's claim on its toy: poor on raw points, good on Spherical PCA's components."""
    for line in lines:
        cells = line.cells["accuracy"]
        if OURS not in cells:
            continue
        ours = cells[OURS]
        if (raw := cells.get("kmeans-raw")) is not None:
            yield ReportFinding("toy", _raw_points(raw, ours))
        for view, name in (("kmeans", "Unit rows alone"), ("svd-unit", "SVD + unit rows")):
            if (cell := cells.get(view)) is not None and cell.outcome != "untested":
                yield ReportFinding(
                    "toy", f"{name} give {percent(cell.mean)}: {gain_in_points(cell)}."
                )


def _raw_points(raw: Cell, ours: Cell) -> str:
    text = (
        f"On the toy, over {ours.n} draws, k-means gets {percent(raw.mean)} of the raw points "
        f"right and {percent(ours.mean)} of Spherical PCA's components"
    )
    if raw.outcome == "untested":
        return f"{text}."
    if raw.outcome != "ahead":
        return f"{text}: {gain_in_points(raw)}. The paper's claim that raw points do worse fails."
    poor = "and it is poor" if raw.mean < POOR else "but it is not poor"
    judged = f"K-means on raw points does worse, as the paper says, {poor}"
    return f"{text}: {gain_in_points(raw)}. {judged}."


def gain_in_points(cell: Cell) -> str:
    """The gain of Spherical PCA over a method in points of a percent, with its interval."""
    if cell.gain is None or not cell.tested:
        return "not tested"
    if cell.gain.low == cell.gain.high == 0:
        return "the same in every draw"
    mean, low, high = (100 * value for value in (cell.gain.mean, cell.gain.low, cell.gain.high))
    word = {
        "ahead": f"a gain of {mean:.2f} points",
        "behind": f"a loss of {-mean:.2f} points",
        "level": f"level ({mean:+.2f} points)",
    }.get(cell.outcome, f"no significant difference ({mean:+.2f} points)")
    return f"{word}, 95 % interval {low:+.2f} to {high:+.2f}".replace("-", MINUS)


def solver_findings(solvers: pd.DataFrame) -> Iterator[ReportFinding]:
    """Does the theory hold at every step, and which solver converges?"""
    for data, part in solvers.groupby("data", sort=False):
        where = f"the {data}"
        runs = [run for _, run in part.iterrows()]
        for run in runs:
            if run["applies"] == 1 and run["p1_steps"] > 0:
                yield ReportFinding("convergence", f"On {where}, {_theory(run)}")
            elif math.isfinite(run["lipschitz"]):
                yield ReportFinding("convergence", f"On {where}, {_outside_theory(run)}")
        others = [run for run in runs if not math.isfinite(run["lipschitz"])]
        if others:
            yield ReportFinding("convergence", f"On {where}, {_arrivals(others)}")


def _theory(run: Any) -> str:
    steps = count(int(run["p1_held"]), int(run["p1_steps"]), "steps")
    text = f"{solver_name(run['solver'])}: sufficient decrease (P1) held at {steps}"
    ratio = run["largest_subgradient_ratio"]
    if math.isfinite(ratio):
        kept = "kept" if ratio <= 1 else "broke"
        text += f", and the subgradient {kept} its bound (largest ratio {ratio:.2f})"
    return f"{text}. {_pace(run)}"


def _outside_theory(run: Any) -> str:
    return (
        f"{solver_name(run['solver'])}: the constants are below "
        f"L_c = {plain_number(run['lipschitz'], 4)}, so the theory does not apply to this run. "
        f"{_pace(run)}"
    )


def _pace(run: Any) -> str:
    pace = "the steps do not shrink"
    if shrinks(run):
        pace = f"the steps shrink at a rate that is {rate_in_words(run)}"
    return (
        f"After {run['passes']:,.0f} passes the residual is "
        f"{plain_number(run['residual'], 2)}; {pace}."
    )


def _arrivals(runs: Sequence[Any]) -> str:
    reached = listed(
        f"{solver_name(run['solver'])} reaches a residual of {plain_number(run['residual'], 2)} "
        f"after {run['passes']:,.0f} passes"
        for run in runs
    )
    proved = [run for run in runs if math.isfinite(run["gap"])]
    if not proved:
        return f"{reached}."
    best = min(proved, key=lambda run: float(run["gap"]))
    doubt = "" if best["rigorous"] == 1 else ", by estimate,"
    share_of = f" by more than a share of {plain_number(best['gap'], 2)}"
    rounded = best["gap"] < EXACT
    return (
        f"{reached}. The certificate says{doubt} that no subspace is better"
        f"{', to rounding' if rounded else share_of}."
    )


def lsa_findings(lines: Sequence[ComparisonLine]) -> Iterator[ReportFinding]:
    """Does Spherical PCA improve the usual recipe when it takes the SVD's place?"""
    compared = [ln for ln in lines if (c := ln.cells["nmi_arithmetic"].get(LSA)) and c.gain]
    tested = [ln for ln in compared if ln.cells["nmi_arithmetic"][LSA].tested]
    if tested:
        found = Counter(line.cells["nmi_arithmetic"][LSA].outcome for line in tested)
        yield ReportFinding(
            "lsa",
            "In the usual recipe for documents, Spherical PCA in the place of LSA is, by "
            f"V-measure, {tally(found)} of {len(tested)} settings.",
        )
    if few := too_few(compared):
        yield ReportFinding("lsa", few)
    if cost := cost_range(compared, LSA):
        yield ReportFinding("lsa", f"It costs {cost} times the CPU time of LSA.")
    parts: dict[tuple[str, str], list[ComparisonLine]] = {}
    for line in tested:
        parts.setdefault((line.key.groups, line.key.variant), []).append(line)
    for (groups, variant), part in parts.items():
        where = standing(part, LSA, "nmi_arithmetic", [line_name(line) for line in part])
        text = f"{groups} groups, {VARIANTS.get(variant, variant)}: by V-measure {where}."
        yield ReportFinding("lsa", text)


def rank_findings(lines: Sequence[ComparisonLine]) -> Iterator[ReportFinding]:
    """Where along the dimension Spherical PCA is ahead, and where each method is best."""
    lines = [line for line in lines if OURS in line.cells["accuracy"]]
    if not lines:
        return
    names = [line_name(line) for line in lines]
    if where := standing(lines, LSA, "accuracy", names):
        text = f"Against SVD + unit rows, by accuracy, Spherical PCA is {where}."
        yield ReportFinding("rank", text)
    if few := too_few(lines):
        yield ReportFinding("rank", few)
    yield from _svd_higher(lines)
    best = max(lines, key=lambda line: line.cells["accuracy"][OURS].mean)
    mean = share(best.cells["accuracy"][OURS].mean)
    yield ReportFinding("rank", f"Its mean accuracy is highest at {line_name(best)}, {mean}.")


def _svd_higher(lines: Sequence[ComparisonLine]) -> Iterator[ReportFinding]:
    """Where the SVD's mean is higher, though not significantly."""
    found: dict[str, list[str]] = {}
    for measure in PAPER_MEASURES:
        for line in lines:
            svd, ours = line.cells[measure].get(LSA), line.cells[measure][OURS]
            higher = svd is not None and round(svd.mean, 3) > round(ours.mean, 3)
            if svd is not None and higher and svd.outcome != "behind":
                found.setdefault(MEASURES[measure], []).append(line_name(line))
    if found:
        proof = ", which is not significant at 5 %" if is_tested(lines) else ""
        text = f"SVD + unit rows has the higher mean {by_measure(found)}{proof}."
        yield ReportFinding("rank", text)


def seconds_findings(
    lines: Sequence[ComparisonLine], lsa: Sequence[ComparisonLine]
) -> Iterator[ReportFinding]:
    """What Spherical PCA costs beside the SVD: that of the tables, and that of the recipe."""
    parts = (
        (lines, "In Tables 1 and 2", "SVD + unit rows, which is the exact SVD there"),
        (lsa, "In Table 3", "LSA, whose SVD is the randomised one"),
    )
    for part, where, rival in parts:
        if cost := cost_range(part, LSA):
            text = f"{where} Spherical PCA takes {cost} times the CPU time of {rival}."
            yield ReportFinding("seconds", text)
