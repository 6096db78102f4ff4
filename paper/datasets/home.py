"""The folder of the data files, and how messages name it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from pathlib import Path

from paper.datasets.registry import Dataset
from sphericalpca.exceptions import DataError

__all__ = ["ENVIRONMENT", "existing_file", "fetch_command", "get_data_home"]

ENVIRONMENT = "SPHERICALPCA_DATA_HOME"

PathLike = str | os.PathLike[str]


def get_data_home(data_home: PathLike | None = None) -> Path:
    """The folder of the data files, which need not exist yet.

    Parameters
    ----------
    data_home : path-like or None, default=None
        If None, the folder named by the environment variable ``SPHERICALPCA_DATA_HOME``,
        or else ``sphericalpca`` in the user's cache folder.

    Returns
    -------
    Path

    Raises
    ------
    DataError
        If no folder is named and there is no home folder.

    Examples
    --------
    >>> from paper.datasets import get_data_home
    >>> get_data_home("data").name
    'data'
    """
    chosen = data_home or os.environ.get(ENVIRONMENT)
    try:
        return Path(chosen).expanduser() if chosen else _cache() / "sphericalpca"
    except RuntimeError:
        raise DataError(
            "No home folder was found for the data",
            remedy=f"name a folder with --data-home DIR or in the environment variable "
            f"{ENVIRONMENT}",
        ) from None


def _cache() -> Path:
    # The specification of XDG says to ignore paths that are not absolute.
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return named if named.is_absolute() else Path("~/.cache").expanduser()


def existing_file(record: Dataset, home: Path) -> Path:
    """The file of a data set; a DataError names the expected path and a remedy."""
    path = home / record.file
    if not path.exists():
        command = fetch_command([record.name], home)
        raise DataError(
            f"No file {record.file} in {home}",
            remedy=f"fetch it with '{command}', or name the folder that has it with --data-home "
            f"DIR (in Python data_home=DIR) or in the environment variable {ENVIRONMENT}",
        )
    return path


def fetch_command(names: Iterable[str], home: Path, *, force: bool = False) -> str:
    """The command that fetches these data sets into this folder."""
    words = ["python", "-m", "paper", "datasets", "fetch", *names]
    words += ["--force"] * force
    if home != get_data_home():
        words += ["--data-home", str(home)]
    return shlex.join(words)
