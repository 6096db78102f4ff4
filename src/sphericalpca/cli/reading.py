"""What commands that read files share: options, opening, progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

import sphericalpca
from sphericalpca.cli.console import open_console, with_options, write_line
from sphericalpca.exceptions import DataError, Parameter
from sphericalpca.registry.formats import FORMATS, format_of, joined, titles

__all__ = [
    "load_model",
    "named",
    "open_files",
    "reading_options",
    "showing_rows",
    "split_names",
    "tell_of_cut",
]

_KEYS = joined([known.key for known in FORMATS.values() if known.key], "or")
_TABLES = titles(lambda known: known.table)

# Options that select what is read from the files.
reading_options = with_options(
    click.option("--column", help=f"Column that holds the vectors ({_TABLES})."),
    click.option("--columns", help="Numeric columns or patterns, separated by commas."),
    click.option("--key", help=f"Name of the {_KEYS}."),
    click.option("--memory-budget", default="512MB", help="Memory for reading rows."),
)


def load_model(path: Path) -> sphericalpca.SphericalPCA:
    """Load the model named on the command line; a file of rows raises an error that says so."""
    try:
        return sphericalpca.SphericalPCA.load(path)
    except DataError:
        if format_of(path) is None:
            raise
        value = f"{str(path)!r} has the suffix of a file of rows"
        remedy = "pass a file that 'sphericalpca fit' wrote"
        raise DataError(value, "the first argument must be a model", remedy) from None


def open_files(files: Sequence[str], options: dict[str, Any], *, model: Any = None) -> Any:
    """Open the files named on the command line; for a model, select columns by its names."""
    names = getattr(model, "feature_names_in_", None)
    if "-" in files and not Path("-").exists():
        value = "Cannot read from a pipe, because rows are read several times"
        raise DataError(value, remedy="pass a file")
    chosen = {name: options[name] for name in ("column", "key", "memory_budget")}
    chosen["columns"] = split_names(options["columns"])
    rows = sphericalpca.rows.sources.opening.open_rows_for(names, list(files), **chosen)
    if names is not None and rows.columns is not None:
        refuse_other_names = sphericalpca.estimators.columns.refuse_other_names
        refuse_other_names(model, rows, remedy=("leave out ", Parameter("columns")))
    return rows


def named(files: Sequence[str]) -> str:
    """Return a title for the rows: the name of their file, or of the first of several."""
    first = Path(files[0]).name
    return first if len(files) == 1 else f"{first} and {len(files) - 1} more"


def tell_of_cut(asked: int, held_out: int) -> None:
    """Print that fewer queries were held out than requested."""
    source = click.get_current_context().get_parameter_source("queries")
    if held_out < asked and source is not click.core.ParameterSource.DEFAULT:
        line = f"--queries {asked} was cut to {held_out}: at most a fifth of the rows is held out."
        write_line(line, err=True)


def split_names(text: str | None) -> list[str] | None:
    """Split names that are separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


@contextmanager
def showing_rows(total: int, *, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """Show a progress bar; yield a callable that counts rows, or None without a terminal."""
    console = open_console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    from rich import progress as bars  # noqa: PLC0415 - slow to import

    done = (bars.BarColumn(), bars.MofNCompleteColumn(), bars.TextColumn("rows"))
    columns = (*done, bars.TimeRemainingColumn())
    with bars.Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=total)
        yield lambda rows: progress.advance(task, rows)
