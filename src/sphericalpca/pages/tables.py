"""Tables: entries, rows, and the format of numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = [
    "HIGHER",
    "LEVEL",
    "LOWER",
    "MINUS",
    "NONE",
    "NOTHING",
    "Entry",
    "Row",
    "Table",
    "share",
    "shift",
]

MINUS = "\N{MINUS SIGN}"

# In place of a missing value.
NONE = "\N{EN DASH}"

# Signs of comparisons.
HIGHER, LOWER, LEVEL = "▲", "▼", "≈"


@dataclass(frozen=True)
class Entry:
    """One cell, in order of reading."""

    text: str
    beside: str = ""  # in smaller type after it, such as a standard deviation
    below: tuple[str, ...] = ()  # further lines in smaller type
    best: bool = False  # bold, with a star
    sign: str = ""  # one character that says how the number compares
    meaning: str = ""  # the same in words


NOTHING = Entry(NONE)


@dataclass(frozen=True)
class Row:
    """One row: its headings and cells."""

    head: str
    subhead: str
    entries: tuple[Entry, ...]
    first_of_head: bool = True
    span: int = 1


@dataclass(frozen=True)
class Table:
    """A table for a page or file."""

    name: str  # of its file, without the suffix
    title: str
    caption: str
    corner: str  # the heading of the first column
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    subcorner: str = ""  # the heading of the second column, if rows have a second heading
    accent: int | None = None  # the column to emphasize
    over: tuple[tuple[str, int], ...] = ()  # headings over several columns each, and how many


def share(value: float) -> str:
    """A number up to 1 with three decimals and no leading zero: .742, 1.000."""
    if not math.isfinite(value):
        return NONE
    bare = f"{abs(value):.3f}".removeprefix("0")
    return f"{MINUS}{bare}" if value < 0 and bare != ".000" else bare


def shift(value: float) -> str:
    """A difference, always with its sign: +.012, ±.000."""
    if not math.isfinite(value):
        return NONE
    text = share(value)
    if text == ".000":
        return "±.000"
    return text if value < 0 else f"+{text}"
