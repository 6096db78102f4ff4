"""The paper's claims, quoted, and the verdict of the rows on each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from paper.report.agreement import (
    PAPER_MEASURES,
    READINGS,
    best_of_six,
    lines_by_reading,
    main_lines,
    outcomes,
    rivals,
    with_rivals,
)
from paper.report.compare import OURS, ComparisonLine, lines_of
from paper.report.findings.clustering import comparisons
from paper.report.findings.readings import UNIT_RIVALS, differing, in_readings, joint_tally
from paper.report.findings.runs import POOR
from paper.report.findings.words import count, listed, percent, tally
from paper.report.read import Results
from paper.report.tables.clustering import line_name
from paper.report.tables.entries import plain_number
from paper.report.tables.reading import is_tested
from paper.report.tables.solvers import rate_in_words, shrinks
from sphericalpca.pages.tables import Entry, Row, Table

__all__ = ["Claim", "claims", "claims_by_row", "on_text"]

Verdict = Literal["holds", "better than claimed", "holds in part", "does not hold"]

# Above this a clustering of two groups is called good.
GOOD = 0.9


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, and the verdict of the rows.

    Attributes
    ----------
    text : str
    verdict : {"holds", "better than claimed", "holds in part", "does not hold"}
    evidence : str
        What the verdict rests on.
    quoted : bool
        Whether the text is the paper's own.
    """

    text: str
    verdict: Verdict
    evidence: str
    quoted: bool = True


def claims(results: Results, lines: list[ComparisonLine]) -> list[Claim]:
    """Every claim of the paper that these results can test."""
    return [
        *_on_the_toy(lines_of(lines, "toy")),
        *_on_convergence(results.solvers),
        *on_text(lines),
        *_on_tables([line for line in main_lines(lines, "uci") if not line.stands_in]),
    ]


def claims_by_row(lines: Sequence[ComparisonLine]) -> Table:
    """The claim "always both higher", row by row: in the mean, and where significant."""
    rows = []
    compared = with_rivals(lines)
    readings_of = Counter(line.key.groups for line in compared)
    seen: set[str] = set()
    for line in sorted(compared, key=lambda line: list(readings_of).index(line.key.groups)):
        best = [best_of_six(line, measure) == [OURS] for measure in PAPER_MEASURES]
        shown = all(
            line.cells[measure][rival].outcome == "ahead"
            for measure in PAPER_MEASURES
            for rival in rivals(line)
        )
        entries = [Entry("yes" if answer else "no") for answer in (*best, all(best), shown)]
        if not is_tested([line]):
            entries[-1] = Entry("not tested")
        first = line.key.groups not in seen
        seen.add(line.key.groups)
        reading = READINGS[line.key.variant]
        number = readings_of[line.key.groups]
        rows.append(Row(line_name(line), reading, tuple(entries), first, number))
    return Table(
        name="claims",
        title="“Always both higher”, row by row",
        caption=(
            "Of the paper's six methods, has Spherical PCA alone the highest mean accuracy, the "
            "highest mean NMI, both, and is it significantly ahead of all five others by both?"
        ),
        corner="Data",
        subcorner="Reading",
        columns=("Highest accuracy", "Highest NMI", "Both", "Both significant"),
        rows=tuple(rows),
    )


def _on_the_toy(lines: Sequence[ComparisonLine]) -> Iterator[Claim]:
    for line in lines:
        cells = line.cells["accuracy"]
        if OURS not in cells or "kmeans-raw" not in cells or not is_tested([line]):
            continue
        raw, ours = cells["kmeans-raw"], cells[OURS]
        worse, poor, good = raw.outcome == "ahead", raw.mean < POOR, ours.mean >= GOOD
        verdict: Verdict = "holds in part" if worse or good else "does not hold"
        if worse and poor and good:
            verdict = "holds"
        yield Claim(
            "Euclidean distance-based method (such as K-means) will yield poor clustering result "
            "[…], while spherical-PCA will obtain good clustering result.",
            verdict,
            f"{percent(raw.mean)} accuracy on raw points, {percent(ours.mean)} on Spherical PCA's "
            f"components: raw points are {'worse' if worse else 'not significantly worse'}, and "
            f"{'poor' if poor else 'not poor'} (poor: below {percent(POOR)}).",
        )


def _on_convergence(solvers: pd.DataFrame) -> Iterator[Claim]:
    runs = [run for _, run in solvers.iterrows() if run["solver"].startswith("Algorithm 1")]
    theory = [run for run in runs if run["applies"] == 1 and run["p1_steps"] > 0]
    if theory:
        held, steps = (int(sum(run[name] for run in theory)) for name in ("p1_held", "p1_steps"))
        yield Claim(
            "With constants above L_c, every step decreases the loss sufficiently (P1).",
            "holds" if held == steps else "does not hold",
            f"P1 held at {count(held, steps, 'steps')}, on {listed(r['data'] for r in theory)}.",
            quoted=False,
        )
    for run in runs:
        if run["data"] == "toy":
            yield _rate_claimed(run) if run["applies"] == 1 else _without_theory(run)


def _rate_claimed(run: Any) -> Claim:
    """A linear rate is faster than the sublinear one of the claim."""
    verdict: Verdict = "does not hold"
    if shrinks(run):
        verdict = "better than claimed" if run["rate"] == "linear" else "holds"
    return Claim(
        "[…] it converges fast with a sublinear rate […]",
        verdict,
        f"The rate fitted to the steps on the toy, with constants above L_c: {rate_in_words(run)}"
        f"{', which is faster than sublinear' if verdict == 'better than claimed' else ''}. "
        f"{_residual(run)}",
    )


def _without_theory(run: Any) -> Claim:
    """Below L_c nothing is proven; only the run shows whether it converges."""
    constant, evidence = plain_number(run["mu"], 4), _residual(run)
    if shrinks(run):
        evidence = f"The rate fitted to the steps on the toy: {rate_in_words(run)}. {evidence}"
    else:
        evidence = (
            f"The steps on the toy do not shrink. {evidence} {constant} is below L_c, so the "
            "theory promises nothing; it is below 2 λ_max(V'V) too, which is at least n = 200 "
            "there, and the step of U overshoots."
        )
    return Claim(
        f"With λ = μ = {constant}, as in the authors' program, Algorithm 1 converges.",
        "holds" if shrinks(run) else "does not hold",
        evidence,
        quoted=False,
    )


def _residual(run: Any) -> str:
    residual = plain_number(run["residual"], 2)
    return f"After {run['passes']:,.0f} passes the residual is {residual}."


def on_text(lines: list[ComparisonLine]) -> Iterator[Claim]:
    """The claim that Spherical PCA always wins on text; stand-in data say nothing about it.

    It holds only if it holds in every row of both readings.
    """
    parts = {
        reading: own
        for reading, part in lines_by_reading(lines).items()
        if (own := [line for line in with_rivals(part) if not line.stands_in])
    }
    if not parts:
        return
    wins = {reading: sum(map(_wins_both, part)) for reading, part in parts.items()}
    partly: Verdict = "holds in part" if any(wins.values()) else "does not hold"
    counts = listed(
        f"{count(wins[reading], len(part), 'rows')} with {READINGS[reading]}"
        for reading, part in parts.items()
    )
    yield Claim(
        "Spherical PCA can always achieve both higher clustering accuracy and normalized mutual "
        "information in text analysis.",
        "holds" if all(wins[reading] == len(part) for reading, part in parts.items()) else partly,
        "It alone has both the highest mean accuracy and the highest mean NMI of the six in "
        f"{counts}.",
    )
    yield from _with_unit_rows(parts)


def _wins_both(line: ComparisonLine) -> bool:
    return all(best_of_six(line, measure) == [OURS] for measure in PAPER_MEASURES)


def _with_unit_rows(parts: dict[str, list[ComparisonLine]]) -> Iterator[Claim]:
    """The paper's advantage, once its other reducers get unit rows too."""
    found = joint_tally(parts, UNIT_RIVALS)
    if not found:
        return
    total = sum(found.values())
    partly: Verdict = "holds in part" if found["ahead"] else "does not hold"
    yield Claim(
        "The advantage remains when the paper's other reducers get unit rows too.",
        "holds" if found["ahead"] == total else partly,
        f"By accuracy and NMI it is, {in_readings(parts)}, {tally(found)} of {total} comparisons"
        f"{differing(found)}.",
        quoted=False,
    )


def _on_tables(lines: Sequence[ComparisonLine]) -> Iterator[Claim]:
    lines = with_rivals(lines)
    found = outcomes(lines)
    if not found:
        return
    verdict: Verdict = "holds" if found["ahead"] >= found["behind"] else "does not hold"
    yield Claim(
        "[…] though our method doesn't show the absolute advantage as on text, still the result "
        "is considerably good.",
        verdict,
        f"Against the paper's other five, by accuracy and NMI, it is {tally(found)} of "
        f"{comparisons(found.total(), lines)}. The claim is taken to hold where it is ahead at "
        "least as often as behind.",
    )
