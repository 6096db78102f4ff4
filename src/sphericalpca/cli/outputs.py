"""Checks of the files a command will write, before the work begins."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from sphericalpca.exceptions import AbsentError, ExistsError, Parameter, ParameterError, WriteError
from sphericalpca.files import check_writable, refuse_devices

__all__ = [
    "check_apart",
    "check_folder",
    "check_model_output",
    "check_output",
    "check_output_path",
    "check_picture",
    "not_left_empty",
]

FORCE = Parameter("force", value=True)


def check_output(output: Path, *, force: bool, reads: Sequence[str | Path] = ()) -> None:
    """Refuse to overwrite files, and outputs that cannot be written.

    What the command `reads`, files or patterns, is never overwritten, not even with force.
    """
    check_output_path(output)
    if output.exists() and _is_among(output, reads):
        raise ExistsError(f"{output} is read by this command", remedy="choose another output")
    if output.exists() and not force:
        raise ExistsError(f"{output} exists", remedy=("choose another name, or pass ", FORCE))
    with _writing(output):
        check_writable(output)


def check_output_path(output: Path) -> None:
    """Refuse pipes, devices, and files in folders that do not exist."""
    if str(output) == "-":
        value = "- is not the name of a file, and nothing is written to a pipe"
        raise ParameterError(value, remedy="pass a file name")
    if output.name in {"", ".."}:
        remedy = f"use {output / 'reducer'}, say"
        raise ParameterError(f"{output} is a folder", "must be a new name", remedy)
    refuse_devices(output)
    if not output.parent.is_dir():
        raise AbsentError(f"The folder {output.parent} does not exist", "", "create it first")


def check_folder(out: Path, names: Sequence[str], *, force: bool) -> None:
    """As `check_output`, for files in a folder that may not be there yet."""
    for name in names:
        if (out / name).exists() and not force:
            remedy = ("choose another folder, or pass ", FORCE)
            raise ExistsError(f"{out / name} exists", remedy=remedy)
    there = out
    while not there.exists() and there != there.parent:
        there = there.parent
    with _writing(out):
        check_writable(there / names[0])


def check_model_output(output: Path, *, force: bool, reads: Sequence[str | Path]) -> None:
    """As `check_output`, for a model; its library must be installed."""
    from sphericalpca.modelfile import check_model_name, require_library  # noqa: PLC0415 - slow

    check_model_name(output)
    check_output(output, force=force, reads=reads)
    require_library()


def check_picture(output: Path, *, force: bool, reads: Sequence[str | Path]) -> None:
    """As `check_output`, for a picture; its format and matplotlib must be there."""
    from sphericalpca.plotting.style import picture_format, pyplot  # noqa: PLC0415

    check_output(output, force=force, reads=reads)
    picture_format(output)
    pyplot()  # says what to install if matplotlib is missing


def check_apart(**files: Path | None) -> None:
    """Refuse one file for two options."""
    roles: dict[str, str] = {}
    for option, path in files.items():
        if path is None:
            continue
        first = roles.setdefault(os.path.realpath(path), option)
        if first != option:
            raise click.UsageError(f"--{first} and --{option} are the same file, {path}: use two.")


@contextmanager
def not_left_empty(folder: Path) -> Iterator[None]:
    """Remove folders that were made meanwhile and stayed empty."""
    absent = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        yield
    finally:
        with suppress(OSError):  # something is in it, or it was not made
            for place in absent:
                place.rmdir()


@contextmanager
def _writing(output: Path) -> Iterator[None]:
    """Say what to do about errors of the system."""
    try:
        yield
    except OSError as error:
        found = f"{output} cannot be written ({error.strerror or error})"
        remedy = "free some space, get write permission, or choose another place"
        raise WriteError(found, remedy=remedy) from error


def _is_among(output: Path, reads: Sequence[str | Path]) -> bool:
    from sphericalpca.rows.sources.opening import find_paths  # noqa: PLC0415 - slow to import

    paths = find_paths(reads) if reads else []
    return any(path.exists() and path.samefile(output) for path in paths)
