"""Tables that keep words whole on terminals of any width; plain columns elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import click

from sphericalpca.cli.console import open_console, say
from sphericalpca.exceptions import printable

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_table"]

# Between two columns.
GAP = 2
# Longer words (paths, checksums) may be broken if there is no room.
LONGEST = 24


def print_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Sequence[str] = (),
    spare: Sequence[str] = (),
) -> None:
    """Print a table; `numbers` are never broken, and narrow terminals omit `spare` columns."""
    columns = [
        _Column(name, [printable(cell) for cell in cells], number=name in numbers)
        for name, *cells in zip(header, *rows, strict=True)
    ]
    console = open_console()
    if not console.is_terminal:
        _print_plain(columns)
        return
    kept, dropped = columns, list[str]()
    for name in (name for name in spare if name in header):
        if not _fits(kept, console.width):
            kept = [column for column in kept if column.name != name]
            dropped.append(name)
    if not _fits(kept, console.width):
        _print_stacked(columns)
        return
    _print_framed(console, kept)
    if dropped:
        say(f"Columns left out because the terminal is narrow: {', '.join(dropped)}.")


@dataclass(frozen=True)
class _Column:
    name: str
    cells: list[str]
    number: bool

    @property
    def natural(self) -> int:
        """The width at which nothing is wrapped."""
        return max(map(len, [self.name, *self.cells]))

    @property
    def least(self) -> int:
        """The width at which no word and no number is broken; headers and texts are wrapped."""
        whole = self.cells if self.number else []
        texts = [self.name] if self.number else [self.name, *self.cells]
        words = [min(len(word), LONGEST) for text in texts for word in text.split()]
        return max([1, *map(len, whole), *words])


def _fits(columns: list[_Column], width: int) -> bool:
    return sum(column.least for column in columns) + GAP * (len(columns) - 1) <= width


def _widths(columns: list[_Column], width: int) -> list[int]:
    """Divide the width among columns: all get their least width, then texts grow first."""
    widths = [column.least for column in columns]
    free = width - sum(widths) - GAP * (len(columns) - 1)
    for k in sorted(range(len(columns)), key=lambda k: columns[k].number):
        more = min(columns[k].natural - widths[k], free)
        widths[k] += more
        free -= more
    return widths


def _print_framed(console: Console, columns: list[_Column]) -> None:
    from rich.align import Align  # noqa: PLC0415 - slow to import
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    widths = _widths(columns, console.width)
    # Gaps are columns, too: before rich 15 padding took room from tables that just fit.
    table = Table(box=None, padding=0)
    for column, width in zip(columns, widths, strict=True):
        if table.columns:
            table.add_column("", width=GAP)
        side: Literal["left", "right"] = "right" if column.number else "left"
        # Words that are longer than their column are broken, never shortened.
        name = Align(Text(column.name, justify=side, overflow="fold"), side, vertical="bottom")
        table.add_column(name, justify=side, overflow="fold", width=width)
    rule = "\N{BOX DRAWINGS LIGHT HORIZONTAL}" if console.encoding.startswith("utf") else "-"
    lines = zip(*(column.cells for column in columns), strict=True)
    for cells in ([rule * width for width in widths], *lines):
        table.add_row(*[part for cell in cells for part in ("", cell)][1:])
    console.print()
    console.print(table)
    console.print()


def _print_stacked(columns: list[_Column]) -> None:
    """Print one line per cell: the terminal is too narrow for columns."""
    for row in zip(*(column.cells for column in columns), strict=True):
        click.echo()
        for column, cell in zip(columns, row, strict=True):
            if cell:
                say(f"{column.name}: {cell}" if column.name else cell)
    click.echo()


def _print_plain(columns: list[_Column]) -> None:
    """Print columns as wide as their content, whatever the width of the terminal."""
    widths = [column.natural for column in columns]
    for line in zip(*([column.name, *column.cells] for column in columns), strict=True):
        cells = [
            cell.rjust(width) if column.number else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        ]
        click.echo("  ".join(cells).rstrip())
