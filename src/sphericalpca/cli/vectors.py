"""Files that hold rows, for commands: their options, and the one place that opens them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from sphericalpca.exceptions import DataError

__all__ = ["check_new", "named", "open_vectors", "reading_options"]

Command = TypeVar("Command", bound=Callable[..., Any])

OPTIONS = (
    click.option("--column", help="Column that holds the vectors (Parquet, Arrow)."),
    click.option("--columns", help="Numeric columns, separated by commas (Parquet, Arrow)."),
    click.option("--key", help="Path of the data set (HDF5)."),
    click.option(
        "--memory-budget", default="512MB", show_default=True, help="For readers and blocks."
    ),
)


def reading_options(command: Command) -> Command:
    """Add the options that tell how files are read."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def open_vectors(files: Sequence[str], options: dict[str, Any]) -> Any:
    """The rows of one or several files."""
    open_rows = getattr(importlib.import_module("sphericalpca"), "open_rows", None)
    if open_rows is None:
        return _array(files)
    columns = options["columns"]
    return open_rows(
        files[0] if len(files) == 1 else list(files),
        column=options["column"],
        columns=None if columns is None else [name.strip() for name in columns.split(",")],
        key=options["key"],
        memory_budget=options["memory_budget"],
    )


def named(files: Sequence[str]) -> str:
    """What to call the rows: the name of their file, or of the first of several."""
    first = Path(files[0]).name
    return first if len(files) == 1 else f"{first} and {len(files) - 1} more"


def check_new(path: Path, *, force: bool) -> None:
    """Refuse to overwrite a file, and to write to a folder that is not there."""
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists: choose another name, or overwrite it with --force.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} does not exist: make it first.")


def _array(files: Sequence[str]) -> Any:
    import numpy as np  # noqa: PLC0415 - slow to import

    if len(files) != 1 or not files[0].endswith(".npy"):
        raise DataError(f"{', '.join(files)}: only a single .npy file can be read here.")
    return np.load(files[0], mmap_mode="r", allow_pickle=False)
