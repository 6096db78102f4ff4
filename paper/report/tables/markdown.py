"""A table as markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from sphericalpca.pages.tables import Entry, Row, Table

__all__ = ["to_markdown"]


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
