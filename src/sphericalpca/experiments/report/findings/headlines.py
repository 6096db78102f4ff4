"""The page's first lines: one short sentence for each part of the paper."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import pandas as pd

from sphericalpca.experiments.methods import METHODS
from sphericalpca.experiments.paper import CLASS_SIZES
from sphericalpca.experiments.report.agreement import (
    CLOSE,
    PAPER_MEASURES,
    main_lines,
    matches,
    with_rivals,
)
from sphericalpca.experiments.report.compare import OURS, Line, lines_of
from sphericalpca.experiments.report.doubt import doubts
from sphericalpca.experiments.report.findings.clustering import RIVAL, wins
from sphericalpca.experiments.report.findings.words import cost_range, count, percent, places
from sphericalpca.experiments.report.read import MEASURES, Results
from sphericalpca.experiments.report.tables.clustering import line_name
from sphericalpca.experiments.report.tables.grid import plain_number
from sphericalpca.experiments.report.tables.lsa import LSA, VARIANTS
from sphericalpca.experiments.report.tables.solvers import solver_name

__all__ = ["Headline", "headlines"]

# The methods beside which a reduction, and one without centring, has to prove its worth.
ALTERNATIVES = {
    "spherical-kmeans": "Spherical k-means, which reduces nothing,",
    "spherical-pca-centred": "Centred Spherical PCA",
}


@dataclass(frozen=True)
class Headline:
    """A short sentence, and the section that says more."""

    section: str
    label: str
    text: str


def headlines(results: Results, lines: list[Line]) -> list[Headline]:
    """What the page opens with, for whatever the results hold."""
    newsgroups, uci = main_lines(lines, "newsgroups"), main_lines(lines, "uci")
    found = {
        ("toy", "Toy."): _toy(lines_of(lines, "toy")),
        ("convergence", "Convergence."): _convergence(results.solvers),
        ("newsgroups", "Text."): [*_table(newsgroups), *_alternatives(newsgroups)],
        ("uci", "UCI."): _table(uci),
        ("lsa", "Against LSA."): _lsa(lines_of(lines, "lsa")),
        ("findings", "The paper's numbers."): _numbers([*newsgroups, *uci]),
    }
    return [
        Headline(section, label, " ".join(sentences))
        for (section, label), parts in found.items()
        if (sentences := list(parts))
    ]


def _toy(lines: Sequence[Line]) -> Iterator[str]:
    for line in lines:
        cells = line.cells["accuracy"]
        if "kmeans-raw" not in cells or OURS not in cells:
            continue
        yield (
            f"K-means is right on {percent(cells['kmeans-raw'].mean)} of the raw points and on "
            f"{percent(cells[OURS].mean)} of Spherical PCA's components, over "
            f"{cells[OURS].n} draws."
        )
        if RIVAL in cells and cells[RIVAL].outcome != "untested":
            standing = {"level": "level with", "ahead": "behind", "behind": "ahead of"}
            yield (
                f"{METHODS[RIVAL].label}, at {percent(cells[RIVAL].mean)}, is "
                f"{standing[cells[RIVAL].outcome]} it."
            )


def _convergence(solvers: pd.DataFrame) -> Iterator[str]:
    runs = [run for _, run in solvers.iterrows() if run["data"] == "toy"]
    theory = [run for run in runs if run["applies"] == 1 and run["p1_steps"] > 0]
    for run in theory:
        steps = count(int(run["p1_held"]), int(run["p1_steps"]), "steps")
        yield (
            f"On the toy, Algorithm 1 keeps what its theory promises (P1) at {steps}; after "
            f"{run['passes']:,.0f} passes its residual is {plain_number(run['residual'], 2)}."
        )
    others = [run for run in runs if not math.isfinite(run["lipschitz"])]
    if theory and others:
        run = others[0]
        name = solver_name(run["solver"])
        yield (
            f"{name[0].upper()}{name[1:]} is at {plain_number(run['residual'], 2)} after "
            f"{run['passes']:,.0f}."
        )


def _table(lines: Sequence[Line]) -> Iterator[str]:
    lines = with_rivals(lines)
    if not lines:
        return
    accuracy, nmi = (wins(lines, measure) for measure in PAPER_MEASURES)
    where = f"accuracy in {accuracy} and the highest mean NMI in {nmi}"
    if accuracy == nmi:
        where = f"accuracy and NMI in {accuracy}"
    yield f"Of the paper's six methods Spherical PCA has the highest mean {where}."
    outcomes = Counter(
        cell.outcome
        for line in lines
        for measure in PAPER_MEASURES
        if (cell := line.cells[measure].get(RIVAL)) is not None and cell.outcome != "untested"
    )
    if outcomes:
        yield (
            f"Against {METHODS[RIVAL].label} it is ahead in {outcomes['ahead']}, level in "
            f"{outcomes['level']} and behind in {outcomes['behind']} of {outcomes.total()} "
            "comparisons."
        )


def _alternatives(lines: Sequence[Line]) -> Iterator[str]:
    """Where one of `ALTERNATIVES` has the higher mean, and whether that is shown."""
    for rival, name in ALTERNATIVES.items():
        higher: dict[str, list[str]] = {}
        shown: dict[str, list[str]] = {}
        for measure, line in product(PAPER_MEASURES, with_rivals(lines)):
            cells = line.cells[measure]
            if rival in cells and round(cells[rival].mean, 3) > round(cells[OURS].mean, 3):
                higher.setdefault(MEASURES[measure], []).append(line_name(line))
                if cells[rival].outcome == "behind":
                    shown.setdefault(MEASURES[measure], []).append(line_name(line))
        if higher:
            proof = f"shown for {_by_measure(shown)}" if shown else "not shown at 5 %"
            yield f"{name} has the higher mean {_by_measure(higher)} ({proof})."


def _by_measure(found: dict[str, list[str]]) -> str:
    """Such as: accuracy and NMI at 5 and 10 groups; accuracy at 5 groups and NMI at 10 groups."""
    if len(found) == 2 and len({tuple(names) for names in found.values()}) == 1:
        return f"{' and '.join(found)} at {places(next(iter(found.values())))}"
    return " and ".join(f"{measure} at {places(names)}" for measure, names in found.items())


def _lsa(lines: Sequence[Line]) -> Iterator[str]:
    found: dict[str, Counter[str]] = {}
    for line in lines:
        cell = line.cells["nmi_arithmetic"].get(LSA)
        if cell is not None and cell.outcome != "untested":
            found.setdefault(line.key.variant, Counter())[cell.outcome] += 1
    if found:
        parts = [
            f"over {VARIANTS.get(variant, variant)} the V-measure is higher in {of['ahead']}, "
            f"level in {of['level']} and lower in {of['behind']} of {of.total()} settings"
            for variant, of in found.items()
        ]
        yield (
            "Spherical PCA in the SVD's place, in the usual recipe for clustering documents: "
            f"{'; '.join(parts)}."
        )
        if cost := cost_range(lines, LSA):
            yield f"It costs {cost} times the CPU time."


def _numbers(lines: Sequence[Line]) -> Iterator[str]:
    differences = [match.difference for match in matches(list(lines))]
    if not differences:
        return
    close = sum(abs(value) <= CLOSE for value in differences)
    higher = sum(value > CLOSE for value in differences)
    yield (
        f"Of {len(differences)} that stand beside ours, {close} lie within {CLOSE}; ours are "
        f"higher in {higher} and lower in {len(differences) - close - higher}."
    )
    impossible = sum(doubt.verdict == "impossible" for doubt in doubts().values())
    if impossible and any(line.key.dataset in CLASS_SIZES for line in lines):
        yield f"{impossible} of its pairs for diabetes cannot be true."
