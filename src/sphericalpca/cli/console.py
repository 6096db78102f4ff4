"""How commands speak: rich on terminals, plain text that loses nothing elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["against_svd", "examples", "open_console", "print_table"]


def examples(*lines: str) -> str:
    """The end of a help text: lines to type."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def against_svd(ratio: float) -> str:
    """What `svd_ratio_` says, in words."""
    if ratio > 0.9999:
        return "the plain SVD keeps as much of the rows' directions, up to 0.01 %."
    gain = 100 * (1 / ratio - 1)
    return f"{gain:.2f} % more of the rows' directions is kept than by the plain SVD."


def open_console(*, stderr: bool = False) -> Console:
    """A console that takes text literally: brackets in file names are not markup."""
    from rich.console import Console  # noqa: PLC0415 - slow to import

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def print_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[str] = ()
) -> None:
    """Print a table to stdout.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequences of str
    numbers : sequence of str, default=()
        Names of the columns that are aligned at the right.
    """
    right = [name in numbers for name in header]
    console = open_console()
    if console.is_terminal:
        _print_framed(console, header, rows, right)
    else:
        _print_plain([header, *rows], right)


def _print_framed(
    console: Console, header: Sequence[str], rows: Sequence[Sequence[str]], right: list[bool]
) -> None:
    from rich import box  # noqa: PLC0415 - slow to import
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    between = 2
    widths = _widths([header, *rows], right, console.width - between * len(header))
    for name, at_right, width in zip(header, right, widths, strict=True):
        # Narrow terminals get broken words, never shortened ones.
        side: Literal["left", "right"] = "right" if at_right else "left"
        table.add_column(name, justify=side, overflow="fold", width=width)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _widths(
    lines: Sequence[Sequence[str]], right: Sequence[bool], room: int
) -> Sequence[int | None]:
    """Widths with which lines break between words only; None where that is not to be had.

    Numbers are not broken at all, but for their header.
    """
    columns = list(zip(*lines, strict=True))
    wanted = [max(map(len, column)) for column in columns]
    least = []
    for (name, *cells), at_right in zip(columns, right, strict=True):
        pieces = cells if at_right else " ".join(cells).split()
        least.append(max(map(len, [*name.split(), *pieces]), default=0))
    spare = room - sum(least)
    if spare < 0 or sum(wanted) <= room:
        return [None] * len(columns)  # too narrow for that, or wide enough for all
    widths = []
    for full, small in zip(wanted, least, strict=True):
        more = min(full - small, spare)
        spare -= more
        widths.append(small + more)
    return widths


def _print_plain(lines: Sequence[Sequence[str]], right: list[bool]) -> None:
    """Columns as wide as they need to be, whatever the width of the terminal."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.rjust(width) if at_right else cell.ljust(width)
            for cell, width, at_right in zip(line, widths, right, strict=True)
        ]
        click.echo("  ".join(cells).rstrip())
