"""What a table is, apart from what stands in it: entries, lines, and the same in markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from sphericalpca.experiments.report.compare import NEGLIGIBLE, Cell

__all__ = [
    "HIGHER",
    "LEVEL",
    "LEVEL_MEANS",
    "LOWER",
    "MINUS",
    "NONE",
    "NOTHING",
    "Entry",
    "Row",
    "Table",
    "file_name",
    "gain_entry",
    "interval",
    "plain_number",
    "probability",
    "share",
    "shift",
    "to_markdown",
]

MINUS = "\N{MINUS SIGN}"

# What stands where there is nothing.
NONE = "\N{EN DASH}"

# A number that is shown to be higher, or lower, than the one it is compared with.
HIGHER, LOWER, LEVEL = "▲", "▼", "≈"


@dataclass(frozen=True)
class Entry:
    """One cell, from what is read first to what is read last.

    Attributes
    ----------
    text : str
    beside : str
        In smaller type behind it, such as a standard deviation.
    below : tuple of str
        Further lines in smaller type.
    best : bool
        Bold, with a star.
    sign : str
        One character that says how the number compares, and
    meaning : str
        the same in words.
    """

    text: str
    beside: str = ""
    below: tuple[str, ...] = ()
    best: bool = False
    sign: str = ""
    meaning: str = ""


NOTHING = Entry(NONE)


@dataclass(frozen=True)
class Row:
    """One line: what it is about, and its cells."""

    head: str
    subhead: str
    entries: tuple[Entry, ...]
    first_of_head: bool = True
    span: int = 1


@dataclass(frozen=True)
class Table:
    """A table, ready to be written as HTML or markdown.

    Attributes
    ----------
    name : str
        Its file name, without the ending.
    title : str
    caption : str
        What must be known to read it.
    corner : str
        The heading of the first column.
    columns : tuple of str
    rows : tuple of Row
    subcorner : str
        The heading of the second column; none where the rows have no second heading.
    accent : int or None
        The column to be set off, that of Spherical PCA.
    over : tuple of (str, int)
        Headings over several columns each, and how many.
    """

    name: str
    title: str
    caption: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    subcorner: str = ""
    accent: int | None = None
    over: tuple[tuple[str, int], ...] = ()


def file_name(*parts: str) -> str:
    """A name for a file and for ids on the page, whatever the rows say.

    Rows may come from anybody, and "../x" is a folder above.
    """
    return re.sub(r"[^0-9A-Za-z]+", "-", "-".join(parts)).strip("-")


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


def share(value: float) -> str:
    """A number up to 1 with three decimals and no leading zero: .742, 1.000."""
    if not math.isfinite(value):
        return NONE
    text = f"{abs(value):.3f}"
    bare = text.removeprefix("0") if text != "0.000" else ".000"
    return f"{MINUS}{bare}" if value < 0 and bare != ".000" else bare


def shift(value: float) -> str:
    """A difference, always with its sign: +.012, ±.000."""
    if not math.isfinite(value):
        return NONE
    text = share(value)
    if text == ".000":
        return "±.000"
    return text if value < 0 else f"+{text}"


def interval(low: float, high: float) -> str:
    """Both ends of an interval of differences."""
    return f"[{shift(low)}, {shift(high)}]"


LEVEL_MEANS = f"{LEVEL} no difference shown, or a mean one below {share(NEGLIGIBLE)}"


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


def to_markdown(table: Table) -> str:
    """The table as GitHub-flavoured markdown, with its title and caption."""
    heads = [table.corner, *([table.subcorner] if table.subcorner else []), *_columns(table)]
    heads = [_literal(head) for head in heads]
    first = 2 if table.subcorner else 1
    rule = ["---"] * first + ["---:"] * len(table.columns)
    body = [_line([*_heads(table, row), *map(_cell, row.entries)]) for row in table.rows]
    title, caption = _literal(table.title), _literal(table.caption)
    lines = [f"### {title}", "", _line(heads), _line(rule), *body, "", caption]
    return "\n".join(lines).rstrip() + "\n"


def _columns(table: Table) -> list[str]:
    """Markdown has one line of headings: where names repeat, the one above goes before."""
    if len(set(table.columns)) == len(table.columns):
        return list(table.columns)
    above = [text for text, width in table.over for _ in range(width)]
    return [
        f"{head}: {name}" if head else name for head, name in zip(above, table.columns, strict=True)
    ]


def _heads(table: Table, row: Row) -> list[str]:
    head = row.head if row.first_of_head else ""
    heads = [head, row.subhead] if table.subcorner else [head]
    return [_literal(text) for text in heads]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _cell(entry: Entry) -> str:
    text = _literal(entry.text)
    text = f"**{text}** ★" if entry.best else text
    first = " ".join(part for part in (text, _literal(entry.beside), entry.sign) if part)
    return "<br>".join([first, *map(_literal, entry.below)])


def _literal(text: str) -> str:
    """Names from rows as text: markdown may hold HTML, and ends a table at the end of a line."""
    text = re.sub(r"\s*[\r\n]+\s*", " ", text)
    return text if not re.search(r"<\S|&\S|\]\(", text) else _escaped(text)


def _escaped(text: str) -> str:
    return re.sub(r"([\[\]])", r"\\\1", escape(text, quote=False))
