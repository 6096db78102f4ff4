"""Checks of output files, before the work begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

import sphericalpca
from sphericalpca.exceptions import AbsentError, ExistsError, Parameter, ParameterError, WriteError
from sphericalpca.files import check_writable, refuse_devices, resolved

__all__ = [
    "check_apart",
    "check_folder",
    "check_model_output",
    "check_output",
    "check_output_path",
    "check_picture",
]

FORCE = Parameter("force", value=True)


def check_output(output: Path, *, force: bool, reads: Sequence[str | Path] = ()) -> None:
    """Refuse to overwrite inputs, or any file without `force`; check that `output` is writable."""
    check_output_path(output)
    read = sphericalpca.rows.sources.opening.find_paths(reads) if reads else []
    if output.exists() and any(path.exists() and path.samefile(output) for path in read):
        raise ExistsError(f"{output} is read by this command", remedy="choose another output")
    if output.exists() and not force:
        raise ExistsError(f"{output} exists", remedy=("choose another name, or pass ", FORCE))
    with _writing(output):
        check_writable(output)


def check_output_path(output: Path) -> None:
    """Refuse pipes, devices, and files in folders that do not exist."""
    if str(output) == "-":
        value = "Cannot write to a pipe (-)"
        raise ParameterError(value, remedy="pass a file name")
    if output.name in {"", ".."}:
        remedy = f"use a name such as {output / 'reducer'}"
        raise ParameterError(f"{output} is a folder", "a new name is needed", remedy)
    refuse_devices(output)
    resolved(output)  # refused if the current folder was removed
    if not output.parent.is_dir():
        raise AbsentError(f"The folder {output.parent} does not exist", "", "create it first")


def check_folder(out: Path, names: Sequence[str], *, force: bool) -> None:
    """Like `check_output`, for files in a folder that may not exist yet."""
    for name in names:
        if (out / name).exists() and not force:
            remedy = ("choose another folder, or pass ", FORCE)
            raise ExistsError(f"{out / name} exists", remedy=remedy)
    resolved(out)
    there = next(folder for folder in (out, *out.parents) if folder.exists())
    with _writing(out):
        check_writable(there / names[0])


def check_model_output(output: Path, *, force: bool, reads: Sequence[str | Path]) -> None:
    """Like `check_output`, for a model; its library must be installed."""
    sphericalpca.modelfile.check_model_name(output)
    check_output(output, force=force, reads=reads)
    sphericalpca.modelfile.require_library()


def check_picture(output: Path, *, force: bool, reads: Sequence[str | Path]) -> None:
    """Like `check_output`, for a picture; needs a supported format and matplotlib."""
    check_output(output, force=force, reads=reads)
    sphericalpca.plotting.style.picture_format(output)
    sphericalpca.plotting.style.pyplot()  # says what to install if matplotlib is missing


def check_apart(**files: Path | None) -> None:
    """Refuse two options that name the same file."""
    roles: dict[Path, str] = {}
    for option, path in files.items():
        if path is not None and (first := roles.setdefault(resolved(path), option)) != option:
            raise click.UsageError(f"--{first} and --{option} are the same file, {path}: name two.")


@contextmanager
def _writing(output: Path) -> Iterator[None]:
    """Add a remedy to errors of the system."""
    try:
        yield
    except OSError as error:
        found = f"{output} cannot be written ({error.strerror or error})"
        remedy = "free some space, get write permission, or choose another place"
        raise WriteError(found, remedy=remedy) from error
