"""Pieces of sentences that all findings share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sphericalpca.experiments.report.compare import OURS, Line, Outcome
from sphericalpca.experiments.report.tables.grid import shift

__all__ = [
    "Finding",
    "cost_range",
    "count",
    "listed",
    "percent",
    "places",
    "range_of",
    "standing",
]


@dataclass(frozen=True)
class Finding:
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
    """a; a and b; a, b and c."""
    names = list(items)
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def percent(value: float) -> str:
    """A share in percent, with one decimal: 91.6 %."""
    return f"{100 * value:.1f} %"


def count(number: int, total: int, noun: str) -> str:
    """A count in words: all 4 rows, 3 of 4 rows, none of 4 rows."""
    if number == total:
        return f"all {total:,} {noun}" if total > 1 else f"the one {noun.removesuffix('s')}"
    return f"{f'{number:,}' if number else 'none'} of {total:,} {noun}"


def range_of(values: Sequence[float]) -> str:
    """Differences from the lowest to the highest."""
    low, high = shift(min(values)), shift(max(values))
    return low if low == high else f"{low} to {high}"


def standing(lines: Sequence[Line], rival: str, measure: str, names: Sequence[str]) -> str:
    """Where Spherical PCA is ahead of a rival, level with it and behind it, with the range."""
    found: dict[Outcome, list[str]] = {"ahead": [], "level": [], "behind": []}
    gains = []
    for line, name in zip(lines, names, strict=True):
        cell = line.cells[measure].get(rival)
        if cell is not None and cell.gain is not None and cell.outcome in found:
            found[cell.outcome].append(name)
            gains.append(cell.gain.mean)
    if not gains:
        return ""
    parts = [
        f"{word} {'everywhere' if len(where) == len(gains) > 1 else f'at {places(where)}'}"
        for word, where in found.items()
        if where
    ]
    return f"{', '.join(parts)} (differences {range_of(gains)})"


def places(names: Sequence[str]) -> str:
    """Names in a row; "r =" of dimensions and "groups" of numbers are said once."""
    if all(name.endswith(" groups") for name in names):
        return listed(name.removesuffix(" groups") for name in names) + " groups"
    first, *rest = names
    return listed([first, *(name.removeprefix("r = ") for name in rest)])


def cost_range(lines: Sequence[Line], rival: str) -> str:
    """How many times a rival's CPU time Spherical PCA takes: 2.1 to 9.4; "" if not known."""
    ratios = [
        line.seconds[OURS] / line.seconds[rival]
        for line in lines
        if line.seconds.get(rival, 0) > 0 and line.seconds.get(OURS, 0) > 0
    ]
    ends = dict.fromkeys(f"{end(ratios):.1f}" for end in (min, max) if ratios)
    return " to ".join(ends)
