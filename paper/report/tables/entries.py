"""Entries that several tables have: numbers in few digits, and gains with what is known of them."""

from __future__ import annotations

import math

from paper.report.compare import Cell
from paper.report.enough import MARGIN
from sphericalpca.pages.tables import (
    HIGHER,
    LEVEL,
    LOWER,
    MINUS,
    NONE,
    NOTHING,
    Entry,
    share,
    shift,
)

__all__ = ["LEVEL_MEANS", "gain_entry", "interval", "plain_number", "probability"]

LEVEL_MEANS = (
    f"{LEVEL} level (two one-sided tests show a difference below {share(MARGIN)}), no sign: no "
    "significant difference"
)


def gain_entry(cell: Cell | None) -> Entry:
    """What Spherical PCA gains over a method: mean, interval, p-value and a sign."""
    if cell is None or cell.gain is None:
        return NOTHING
    signs = {
        "ahead": (HIGHER, "a gain"),
        "behind": (LOWER, "a loss"),
        "level": (LEVEL, "level"),
    }
    sign, meaning = signs.get(cell.outcome, ("", ""))
    below = []
    if math.isfinite(cell.gain.low):
        below.append(interval(cell.gain.low, cell.gain.high))
    if math.isfinite(cell.p):
        below.append(probability(cell.p))
    return Entry(shift(cell.gain.mean), "", tuple(below), sign=sign, meaning=meaning)


def interval(low: float, high: float) -> str:
    """Both ends of an interval of differences."""
    return f"[{shift(low)}, {shift(high)}]"


def probability(p: float) -> str:
    """A p-value, never printed as zero."""
    if not math.isfinite(p):
        return NONE
    return "p < .001" if p < 0.0005 else f"p = {share(p)}"


def plain_number(value: float, digits: int = 3) -> str:
    """Any number in few digits: 472, 0.0132, 1e9."""
    if value is None or not math.isfinite(value):
        return NONE
    text = f"{value:.{digits}g}"
    if "e" in text and 1 <= abs(value) < 1e6:
        text = f"{value:,.0f}"
    mantissa, e, exponent = text.partition("e")
    if e:
        text = f"{mantissa}e{int(exponent)}"
    return text.replace("-", MINUS)
