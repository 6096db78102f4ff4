"""Pieces of sentences that all findings share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paper.methods import METHODS
from paper.report.agreement import left_out
from paper.report.compare import OURS, ComparisonLine, Outcome
from paper.report.tables.clustering import line_name
from sphericalpca.pages.tables import shift

__all__ = [
    "ReportFinding",
    "by_measure",
    "cost_range",
    "count",
    "differences",
    "listed",
    "not_counted",
    "percent",
    "places",
    "standing",
    "tally",
]


# Words for each outcome of a test.
OUTCOMES: dict[Outcome, str] = {
    "ahead": "ahead",
    "level": "level",
    "behind": "behind",
    "open": "not significantly different",
}


@dataclass(frozen=True)
class ReportFinding:
    """A sentence that follows from the rows.

    Attributes
    ----------
    section : str
        The part of the page that it belongs to.
    text : str
    """

    section: str
    text: str


def listed(items: Iterable[str]) -> str:
    """Join items as in a sentence: "a", "a and b", "a, b and c"."""
    names = list(items)
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def percent(value: float) -> str:
    """A share in percent, with one decimal: "91.6 %"."""
    return f"{100 * value:.1f} %"


def count(number: int, total: int, noun: str) -> str:
    """A count in words: "all 4 rows", "3 of 4 rows", "none of 4 rows", "the one row", "no row"."""
    if total == 1:
        return f"{'the one' if number else 'no'} {noun.removesuffix('s')}"
    if number == total:
        return f"all {total:,} {noun}"
    return f"{f'{number:,}' if number else 'none'} of {total:,} {noun}"


def tally(found: Mapping[Any, int]) -> str:
    """Counts of outcomes that occur: ahead in 8, level in 1, not significantly different in 1."""
    counts = [f"{words} in {found[name]}" for name, words in OUTCOMES.items() if found.get(name)]
    return listed(counts or ["ahead in 0"])


def differences(values: Sequence[float]) -> str:
    """A difference by itself, several from the lowest to the highest."""
    low, high = shift(min(values)), shift(max(values))
    if len(values) == 1:
        return f"difference {low}"
    return f"differences all {low}" if low == high else f"differences {low} to {high}"


def not_counted(lines: Sequence[ComparisonLine]) -> str:
    """Say, for example, "MUA is left out at isolet, where its data differ", or nothing."""
    return "; ".join(
        f"{METHODS[method].label} is left out at {places([line_name(line) for line in part])}, "
        "where its data differ"
        for method, part in left_out(lines).items()
    )


def by_measure(found: dict[str, list[str]]) -> str:
    """Say, for example, "accuracy and NMI at 5 groups" or "accuracy at 5 and NMI at 10 groups"."""
    if len(found) == 2 and len({tuple(names) for names in found.values()}) == 1:
        return f"{' and '.join(found)} at {places(next(iter(found.values())))}"
    return " and ".join(f"{measure} at {places(names)}" for measure, names in found.items())


def standing(
    lines: Sequence[ComparisonLine], rival: str, measure: str, names: Sequence[str]
) -> str:
    """Where Spherical PCA is ahead of a rival, level with it and behind it, with the range."""
    found: dict[Outcome, list[str]] = {outcome: [] for outcome in OUTCOMES}
    gains = []
    for line, name in zip(lines, names, strict=True):
        cell = line.cells[measure].get(rival)
        if cell is not None and cell.gain is not None and cell.outcome in found:
            found[cell.outcome].append(name)
            gains.append(cell.gain.mean)
    if not gains:
        return ""
    parts = [
        f"{OUTCOMES[outcome]} "
        f"{'everywhere' if len(where) == len(gains) > 1 else f'at {places(where)}'}"
        for outcome, where in found.items()
        if where
    ]
    return f"{', '.join(parts)} ({differences(gains)})"


def places(names: Sequence[str]) -> str:
    """List names; "r =" of dimensions and "groups" of numbers occur only once."""
    if all(name.endswith(" groups") for name in names):
        return listed(name.removesuffix(" groups") for name in names) + " groups"
    first, *rest = names
    return listed([first, *(name.removeprefix("r = ") for name in rest)])


def cost_range(lines: Sequence[ComparisonLine], rival: str) -> str:
    """The ratios of Spherical PCA's CPU time to a rival's: "2.1 to 9.4"; "" if unknown."""
    ratios = [
        line.seconds[OURS] / line.seconds[rival]
        for line in lines
        if line.seconds.get(rival, 0) > 0 and line.seconds.get(OURS, 0) > 0
    ]
    ends = dict.fromkeys(f"{end(ratios):.1f}" for end in (min, max) if ratios)
    return " to ".join(ends)
