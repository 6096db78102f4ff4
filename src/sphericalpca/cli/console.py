"""How commands speak: rich on terminals, plain text that loses nothing elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sphericalpca.exceptions import printable

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["against_svd", "examples", "open_console", "say", "write_line"]


def examples(*lines: str) -> str:
    """The end of a help text: lines to type."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def against_svd(ratio: float, what: str = "directions") -> str:
    """What `svd_ratio_` says, in words; `what` of the rows is kept."""
    if ratio > 0.9999:
        return f"the plain SVD keeps as much of the rows' {what}, up to 0.01 %."
    gain = 100 * (1 / ratio - 1)
    return f"{gain:.2f} % more of the rows' {what} is kept than by the plain SVD."


def open_console(*, stderr: bool = False) -> Console:
    """A console that takes text literally: brackets in file names are not markup."""
    from rich.console import Console  # noqa: PLC0415 - slow to import

    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    # rich would end the program, with a status of its own.
    console.on_broken_pipe = _raise_again  # type: ignore[method-assign]
    return console


def _raise_again() -> None:
    raise  # noqa: PLE0704 - called where an error is being handled


def say(text: str) -> None:
    """Print a sentence to stdout; on terminals lines end between words."""
    console = open_console()
    if console.is_terminal:
        console.print(_harmless(text))
    else:
        write_line(text)


def write_line(text: str, *, err: bool = False) -> None:
    """Print lines as they are; names of files and of what is in them cannot command a terminal."""
    click.echo(_harmless(text), err=err)


def _harmless(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))
