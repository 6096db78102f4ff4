"""The page's first lines: one short sentence for each part of the paper."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from paper.methods import METHODS
from paper.printed import CLASS_SIZES
from paper.report.agreement import (
    CLOSE,
    PAPER_MEASURES,
    READINGS,
    Match,
    lines_by_reading,
    main_lines,
    matches,
    with_rivals,
)
from paper.report.compare import OURS, ComparisonLine, lines_of, methods_of
from paper.report.doubt import doubts
from paper.report.findings.claims import on_text
from paper.report.findings.clustering import RIVAL, wins
from paper.report.findings.further import constants_headlines
from paper.report.findings.readings import text_headlines
from paper.report.findings.words import (
    cost_range,
    count,
    listed,
    not_counted,
    percent,
    tally,
)
from paper.report.read import Results
from paper.report.tables.entries import plain_number
from paper.report.tables.lsa import LSA, VARIANTS
from paper.report.tables.reading import is_tested, too_few
from paper.report.tables.solvers import solver_name

__all__ = ["Headline", "headlines", "verdict"]

# From these shares of close numbers on, the paper's are said to reproduce, or to do so in part.
MOST, HALF = 0.9, 0.5

# A headline with more sentences than these is a list.
MOST_IN_A_LINE = 3


@dataclass(frozen=True)
class Headline:
    """A few short sentences, and the section that says more."""

    section: str
    label: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it in one line."""
        return " ".join(self.sentences)

    @property
    def lead(self) -> str:
        """What stands beside the label: all of a short headline, the start of a long one."""
        return self.sentences[0] if self.details else self.text

    @property
    def details(self) -> tuple[str, ...]:
        """The other sentences of a long headline, which are listed below it."""
        return self.sentences[1:] if len(self.sentences) > MOST_IN_A_LINE else ()


def verdict(lines: list[ComparisonLine]) -> str:
    """The paper's claim on text, as it is and with unit rows for all, and its numbers, in one line.

    Nothing for stand-in data.
    """
    claimed, fairly = ([*(claim.verdict for claim in on_text(lines)), "", ""])[:2]
    shares = [
        _close([*part, *main_lines(lines, "uci")]) for part in lines_by_reading(lines).values()
    ]
    if not claimed or not any(map(math.isfinite, shares)):
        return ""
    close = min(shares)
    numbers = "do not reproduce"
    if close >= HALF:
        numbers = "reproduce" if close >= MOST else "reproduce in part"
    same = claimed.startswith("holds") == (close >= HALF)
    if fairly:
        return (
            f"On text the paper's claim {claimed}; with unit rows for its other reducers too, it "
            f"{fairly}. Its numbers {numbers}."
        )
    return f"On text the paper's claim {claimed}{', and' if same else ';'} its numbers {numbers}."


def _close(lines: list[ComparisonLine]) -> float:
    """The share of the paper's numbers that ours are close to; NaN where there are none."""
    found = matches(lines)
    close = sum(abs(match.difference) <= CLOSE for match in found)
    return close / len(found) if found else math.nan


def headlines(results: Results, lines: list[ComparisonLine]) -> list[Headline]:
    """What the page opens with, for whatever the results hold."""
    newsgroups, uci = main_lines(lines, "newsgroups"), main_lines(lines, "uci")
    found = {
        ("toy", "Toy."): _toy(lines_of(lines, "toy")),
        ("convergence", "Convergence."): _convergence(results.solvers),
        ("newsgroups", _label("Text", newsgroups)): text_headlines(lines),
        ("uci", _label("UCI", uci)): _table(uci),
        ("lsa", "Against LSA."): _lsa(lines_of(lines, "lsa")),
        ("embeddings", "Embeddings."): _embeddings(lines_of(lines, "embeddings")),
        ("constants", "Constants."): constants_headlines(results.rows),
        ("findings", "The paper's numbers."): _numbers(lines_by_reading(lines), uci),
    }
    return [
        Headline(section, label, sentences)
        for (section, label), parts in found.items()
        if (sentences := tuple(parts))
    ]


def _label(name: str, lines: Sequence[ComparisonLine]) -> str:
    """The name of a part; stand-in data keep their name."""
    names = dict.fromkeys(line.key.dataset for line in lines)
    return f"{listed(names)}." if lines and all(line.stands_in for line in lines) else f"{name}."


def _toy(lines: Sequence[ComparisonLine]) -> Iterator[str]:
    for line in lines:
        cells = line.cells["accuracy"]
        if "kmeans-raw" not in cells or OURS not in cells:
            continue
        yield (
            f"K-means reaches {percent(cells['kmeans-raw'].mean)} accuracy on the raw points and "
            f"{percent(cells[OURS].mean)} on Spherical PCA's components, over "
            f"{cells[OURS].n} draws."
        )
        if RIVAL in cells and cells[RIVAL].outcome != "untested":
            standing = {
                "level": "level with",
                "ahead": "behind",
                "behind": "ahead of",
                "open": "not significantly different from",
            }
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
            f"On the toy data Algorithm 1 satisfies its theory, with sufficient decrease in "
            f"every step (P1), at {steps}; after {run['passes']:,.0f} passes its residual, the "
            "relative size of the gradient, is "
            f"{plain_number(run['residual'], 2)}."
        )
    others = [run for run in runs if not math.isfinite(run["lipschitz"])]
    if theory and others:
        run = others[0]
        name = solver_name(run["solver"])
        yield (
            f"{name[0].upper()}{name[1:]} is at {plain_number(run['residual'], 2)} after "
            f"{run['passes']:,.0f}."
        )


def _table(lines: Sequence[ComparisonLine]) -> Iterator[str]:
    lines = with_rivals(lines)
    if not lines:
        return
    accuracy, nmi = (wins(lines, measure) for measure in PAPER_MEASURES)
    where = f"accuracy in {accuracy} and the highest mean NMI in {nmi}"
    if accuracy == nmi:
        where = f"accuracy and NMI in {accuracy}"
    yield f"Of the paper's six methods Spherical PCA has the highest mean {where}."
    if missing := not_counted(lines):
        yield f"{missing.replace('MUA', 'MUA, multiplicative-update NMF,', 1)}."
    if few := too_few(lines):
        yield few
    outcomes = Counter(
        cell.outcome
        for line in lines
        for measure in PAPER_MEASURES
        if (cell := line.cells[measure].get(RIVAL)) is not None and cell.outcome != "untested"
    )
    if outcomes:
        yield (
            f"Against {METHODS[RIVAL].label} it is {tally(outcomes)} of {outcomes.total()} "
            "comparisons."
        )


def _lsa(lines: Sequence[ComparisonLine]) -> Iterator[str]:
    found: dict[str, Counter[str]] = {}
    lines = [line for line in lines if LSA in line.cells["accuracy"]]
    for line in lines:
        cell = line.cells["nmi_arithmetic"].get(LSA)
        if cell is not None and cell.outcome != "untested":
            found.setdefault(line.key.variant, Counter())[cell.outcome] += 1
    few = too_few(lines)
    if found or few:
        parts = [
            f"over {VARIANTS.get(variant, variant)} it is, by V-measure, {tally(of)} of "
            f"{of.total()} settings"
            for variant, of in found.items()
        ]
        parts += [few.removesuffix(".")] if few else []
        yield (
            "Spherical PCA in the SVD's place, in the usual recipe for clustering documents: "
            f"{'; '.join(parts)}."
        )
        if cost := cost_range(lines, LSA):
            yield f"It costs {cost} times the CPU time."


def _embeddings(lines: Sequence[ComparisonLine]) -> Iterator[str]:
    tested = [line for line in lines if is_tested([line])]
    if few := too_few(lines):
        yield few
    if tested:
        yield "Spherical PCA is compared on MiniLM vectors, by accuracy and NMI of the clusters."
    for rival in methods_of(list(tested)):
        found = Counter(
            str(cell.outcome)
            for line in tested
            for measure in PAPER_MEASURES
            if (cell := line.cells[measure].get(rival)) is not None and cell.gain is not None
        )
        if found:
            name = METHODS[rival].label
            yield f"Against {name} it is {tally(found)} of {found.total()} comparisons."


def _numbers(
    by_reading: dict[str, list[ComparisonLine]], uci: Sequence[ComparisonLine]
) -> Iterator[str]:
    tables = {"Table 1": by_reading, "Table 2": {"": list(uci)}}
    for table, parts in tables.items():
        found = {reading: matches(part) for reading, part in parts.items()}
        if any(found.values()):
            counts = listed(_within(reading, own) for reading, own in found.items())
            number = max(map(len, found.values()))
            yield f"Of the {number} numbers of {table} beside ours, {counts}."
    impossible = sum(doubt.verdict == "impossible" for doubt in doubts().values())
    if impossible and any(line.key.dataset in CLASS_SIZES for line in uci):
        yield (
            f"{impossible} of its pairs for diabetes cannot be true of clusterings of all 768 "
            "samples."
        )


def _within(reading: str, found: Sequence[Match]) -> str:
    close = sum(abs(match.difference) <= CLOSE for match in found)
    return f"{close} lie within {CLOSE}{f' with {READINGS[reading]}' if reading else ''}"
