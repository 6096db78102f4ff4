"""Findings from the tables of clusterings: where Spherical PCA is best, level or behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from paper.methods import METHODS
from paper.printed import CLASS_SIZES
from paper.report.agreement import (
    CLOSE,
    PAPER_MEASURES,
    best_of_six,
    left_out,
    matches,
    order_agreement,
    outcomes,
    with_rivals,
)
from paper.report.compare import OURS, ComparisonLine
from paper.report.doubt import doubts
from paper.report.findings.words import (
    ReportFinding,
    by_measure,
    count,
    differences,
    listed,
    not_counted,
    standing,
    tally,
)
from paper.report.read import MEASURES
from paper.report.tables.clustering import line_name
from paper.report.tables.reading import too_few
from sphericalpca.pages.tables import MINUS, share, shift

__all__ = ["RIVAL", "agreement_findings", "comparisons", "table_findings", "wins"]

# The rival with the same kind of output and no new solver.
RIVAL = "svd-unit"


def table_findings(
    lines: Sequence[ComparisonLine], section: str, *, always: bool
) -> Iterator[ReportFinding]:
    """Sentences on one table; `always` where the paper claims that Spherical PCA always wins.

    Stand-in data do not test the paper's claims.
    """
    always = always and not any(line.stands_in for line in lines)
    compared = with_rivals(lines)
    if compared:
        yield ReportFinding(section, _against_the_six(compared, always=always))
        yield from _pair_by_pair(compared, section)
    if few := too_few(lines):
        yield ReportFinding(section, few)
    names = [line_name(line) for line in lines]
    sentences = [
        f"by {MEASURES[measure]} {where}"
        for measure in PAPER_MEASURES
        if (where := standing(lines, RIVAL, measure, names))
    ]
    if sentences:
        text = f"Against {METHODS[RIVAL].label}, Spherical PCA is {'; '.join(sentences)}."
        yield ReportFinding(section, text)
    yield from _other_rivals(lines, section)


def wins(lines: Sequence[ComparisonLine], measure: str) -> str:
    """In how many rows Spherical PCA is the best of the six, alone or shared."""
    best = [best_of_six(line, measure) for line in lines]
    won = [methods for methods in best if OURS in methods]
    shared = sum(len(methods) > 1 for methods in won)
    text = count(len(won), len(lines), "rows")
    if not shared:
        return text
    number = "" if len(won) == 1 else f"{shared} of them "
    return f"{text} ({number}shared with others)"


def _against_the_six(lines: Sequence[ComparisonLine], *, always: bool) -> str:
    text = (
        "Of the paper's six methods Spherical PCA has the highest mean accuracy in "
        f"{wins(lines, 'accuracy')} and the highest mean NMI in {wins(lines, 'nmi_max')}."
    )
    if missing := not_counted(lines):
        text += f" {missing}."
    lost = [
        f"{METHODS[best].label} at {line_name(line)} by {MEASURES[measure]} "
        f"({share(line.cells[measure][best].mean)} against "
        f"{share(line.cells[measure][OURS].mean)})"
        for measure in PAPER_MEASURES
        for line in lines
        for best in best_of_six(line, measure)[:1]
        if OURS not in best_of_six(line, measure)
    ]
    if always:
        alone = all(best_of_six(line, m) == [OURS] for line in lines for m in PAPER_MEASURES)
        holds = "holds in the mean" if alone else "does not hold"
        text += f" The paper's claim that it always has both {holds}."
    return text + (f" Higher are {listed(lost)}." if lost else "")


def _pair_by_pair(lines: Sequence[ComparisonLine], section: str) -> Iterator[ReportFinding]:
    if found := outcomes(lines):
        yield ReportFinding(
            section,
            "Tested pair by pair against the paper's other five, by accuracy and NMI, Spherical "
            f"PCA is {tally(found)} of {comparisons(found.total(), lines)}.",
        )


def comparisons(number: int, lines: Sequence[ComparisonLine]) -> str:
    """How many there are, and why not more."""
    missing = left_out(lines)
    if not missing:
        return f"{number} comparisons"
    full = number + len(PAPER_MEASURES) * sum(map(len, missing.values()))
    names = listed(METHODS[method].label for method in missing)
    return f"{number} comparisons (not {full}: {names} is left out where its data differ)"


def _other_rivals(lines: Sequence[ComparisonLine], section: str) -> Iterator[ReportFinding]:
    """Baselines that the paper did not include, where one of them is better, or worse."""
    others = [name for name, method in METHODS.items() if not method.in_paper and name != RIVAL]
    better = []
    for rival in others:
        places = [
            f"{line_name(line)} ({listed(excess)})"
            for line in lines
            if (excess := _excess(line, rival))
        ]
        if places:
            better.append(f"{METHODS[rival].label} at {listed(places)}")
    known = any(
        (cell := line.cells["accuracy"].get(rival)) is not None and cell.outcome != "untested"
        for rival in others
        for line in lines
    )
    if better:
        yield ReportFinding(section, f"Better than Spherical PCA: {'; '.join(better)}.")
    elif known:
        yield ReportFinding(
            section,
            "No baseline beyond the paper's is significantly better than Spherical PCA.",
        )
    worse = [
        f"{METHODS[rival].label} ({by_measure(where)})"
        for rival in others
        if (where := _where_worse(lines, rival))
    ]
    if worse:
        yield ReportFinding(section, f"Worse than Spherical PCA: {'; '.join(worse)}.")


def _where_worse(lines: Sequence[ComparisonLine], rival: str) -> dict[str, list[str]]:
    """The lines in which a rival is significantly worse, for each measure."""
    found: dict[str, list[str]] = {}
    for measure in PAPER_MEASURES:
        for line in lines:
            cell = line.cells[measure].get(rival)
            if cell is not None and cell.outcome == "ahead":
                found.setdefault(MEASURES[measure], []).append(line_name(line))
    return found


def _excess(line: ComparisonLine, rival: str) -> list[str]:
    """By how much a rival is better than Spherical PCA, for each measure where it is."""
    return [
        f"{MEASURES[measure]} {shift(-cell.gain.mean)}"
        for measure in PAPER_MEASURES
        if (cell := line.cells[measure].get(rival)) is not None
        and cell.gain is not None
        and cell.outcome == "behind"
    ]


def agreement_findings(lines: Sequence[ComparisonLine]) -> Iterator[ReportFinding]:
    """How our numbers differ from the paper's, and which of the paper's cannot be true."""
    found = matches(list(lines))
    if found:
        yield ReportFinding("findings", _how_close([match.difference for match in found]))
    orders = [order_agreement(line, measure) for line in lines for measure in PAPER_MEASURES]
    orders = [value for value in orders if np.isfinite(value)]
    if orders:
        same = sum(value > 0 for value in orders)
        yield ReportFinding(
            "findings",
            f"The paper's ranking of its six methods and ours have a Spearman correlation of "
            f"{np.median(orders):.2f} in the median; it is positive in "
            f"{count(same, len(orders), 'rows and measures')} (from {min(orders):.2f} to "
            f"{max(orders):.2f}).".replace("-", MINUS),
        )
    if any(line.key.dataset in CLASS_SIZES for line in lines):
        yield _doubt_finding()


def _how_close(values: Sequence[float]) -> str:
    close = sum(abs(value) <= CLOSE for value in values)
    higher = sum(value > CLOSE for value in values)
    lower = sum(value < -CLOSE for value in values)
    return (
        f"{count(len(values), 96, 'numbers').capitalize()} of the paper stand beside ours: "
        f"{close} lie within {CLOSE}, ours are higher by more in {higher} and lower by more in "
        f"{lower} ({differences(values)}, mean {shift(float(np.mean(values)))})."
    )


def _doubt_finding() -> ReportFinding:
    verdicts = Counter(doubt.verdict for doubt in doubts().values())
    impossible = [d for d in doubts().values() if d.verdict == "impossible"]
    pairs = listed(f"{share(d.pair.accuracy)}/{share(d.pair.nmi)}" for d in impossible)
    text = (
        f"Of the paper's {verdicts.total()} pairs of accuracy and NMI for diabetes, "
        f"{verdicts['impossible']} are impossible for any clusterings of all 768 samples into two "
        f"({pairs}), and {verdicts['only a mean of very unequal runs']} are possible only as means "
        "of very unequal runs."
    )
    return ReportFinding("findings", text)
