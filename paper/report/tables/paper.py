"""How the paper's numbers agree with ours, and which of them cannot be true."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paper.methods import METHODS
from paper.report.agreement import (
    CLOSE,
    PAPER_MEASURES,
    READINGS,
    Match,
    best_of_six,
    left_out,
    matches,
    order_agreement,
    with_rivals,
)
from paper.report.compare import ComparisonLine
from paper.report.doubt import Doubt, doubts
from paper.report.read import MEASURES
from paper.report.tables.clustering import line_name
from sphericalpca.pages.tables import MINUS, NONE, Entry, Row, Table, share, shift

__all__ = ["agreement_table", "doubt_table"]


def agreement_table(lines: Sequence[ComparisonLine]) -> Table:
    """The paper's numbers against ours, line by line."""
    rows = []
    for line in lines:
        found = matches([line])
        if found:
            rows += [
                Row(_name(line), MEASURES[m], _agreement(line, m, found), i == 0, 2)
                for i, m in enumerate(PAPER_MEASURES)
            ]
    return Table(
        name="paper-agreement",
        title="The paper's numbers against ours",
        caption=(
            f"Of the paper's six methods in each row: how many of our means lie within {CLOSE} of "
            "the printed number, how many are higher or lower by more; the mean difference; "
            "Spearman's correlation between the two orders of methods (1: the same order); and "
            f"the best method by each account.{_borrowed_note(lines)}"
        ),
        corner="Data",
        subcorner="Measure",
        columns=(
            *("Close", "Ours higher", "Ours lower", "Mean difference"),
            *("Order", "Best, paper", "Best, ours"),
        ),
        rows=tuple(rows),
    )


def _name(line: ComparisonLine) -> str:
    """Lines of Table 1 with the reading that they belong to."""
    reading = READINGS.get(line.key.variant)
    return f"{line_name(line)}, {reading}" if reading else line_name(line)


def _borrowed_note(lines: Sequence[ComparisonLine]) -> str:
    notes = [
        f" {METHODS[method].label} at {' and '.join(map(line_name, part))} saw min-max data, and "
        "is left out of the last column there."
        for method, part in left_out(lines).items()
    ]
    return "".join(notes)


def doubt_table() -> Table:
    """Two-cluster cells of the paper and their ceilings."""
    return Table(
        name="paper-doubts",
        title="Diabetes: what the paper prints, and what can be",
        caption=(
            "768 samples, classes of 500 and 268, two clusters: if the paper left out samples, the "
            "ceilings are others. They are the highest NMI "
            "at the printed accuracy, under the normalisation most generous to the paper: for one "
            "clustering, and for a mean over any clusterings. Above the first, or where no single "
            "clustering has the accuracy (no whole number of 768 samples gives it to three "
            "digits), a pair can only be a mean of very unequal runs; above the second, it is "
            "impossible."
        ),
        corner="Method",
        columns=("Accuracy", "NMI", "Ceiling, one clustering", "Ceiling, a mean", "Verdict"),
        rows=tuple(_doubt_row(doubt) for doubt in doubts().values()),
    )


def _doubt_row(doubt: Doubt) -> Row:
    one = "none has it" if np.isnan(doubt.one) else share(doubt.one)
    texts = (*(share(number) for number in doubt.pair), one, share(doubt.mean), doubt.verdict)
    entries = tuple(Entry(text) for text in texts)
    return Row(METHODS[doubt.method].label, "", entries)


def _agreement(line: ComparisonLine, measure: str, found: list[Match]) -> tuple[Entry, ...]:
    part = [match for match in found if match.measure == measure]
    differences = np.array([match.difference for match in part])
    close = int((np.abs(differences) <= CLOSE).sum())
    higher, lower = int((differences > CLOSE).sum()), int((differences < -CLOSE).sum())
    theirs = max(part, key=lambda match: match.paper).method
    return (
        *(Entry(str(count)) for count in (close, higher, lower)),
        Entry(shift(float(differences.mean()))),
        Entry(_correlation(order_agreement(line, measure))),
        Entry(METHODS[theirs].label),
        Entry(_leaders(line, measure)),
    )


def _leaders(line: ComparisonLine, measure: str) -> str:
    """The best of the six by our means; a place that several share is called so."""
    best = best_of_six(line, measure) if with_rivals([line]) else []
    if len(best) > 2:
        return f"{len(best)} methods alike"
    return " and ".join(METHODS[method].label for method in best) or NONE


def _correlation(value: float) -> str:
    return NONE if np.isnan(value) else f"{value:+.2f}".replace("-", MINUS)
