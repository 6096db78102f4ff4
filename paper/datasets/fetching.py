"""Fetch data sets from their publishers, and convert them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from paper.datasets.download import Sleep, download, persist
from paper.datasets.home import ENVIRONMENT, PathLike, get_data_home
from paper.datasets.integrity import Content, examine, fault, write_content
from paper.datasets.registry import DATASETS, Dataset, Source, find
from paper.datasets.sources import from_openml, from_scikit_learn, from_zip
from sphericalpca.exceptions import DataError
from sphericalpca.files import beside, sweep

__all__ = ["Fetched", "batches", "fetch"]

_ANOTHER_HOME = f"name another folder with --data-home DIR or in {ENVIRONMENT}"

# Content of the scratch folder: an archive, or the copy of scikit-learn.
SCRATCH = ("archive.zip", "scikit-learn")

# Called with the name of a data set, the bytes so far, and the total if it is known.
NamedProgress = Callable[[str, int, int | None], None]


class Fetched(NamedTuple):
    """A data set that is available now; `fresh` if it was downloaded."""

    name: str
    path: Path
    fresh: bool


def fetch(
    names: str | Iterable[str] | None = None,
    data_home: PathLike | None = None,
    *,
    force: bool = False,
    progress: NamedProgress | None = None,
    tries: int = 3,
    timeout: float = 30.0,
    sleep: Sleep = time.sleep,
) -> list[Fetched]:
    """Fetch data sets into the data home.

    Existing files that pass the check are kept.  A new file appears under its name only when
    it is complete and its content is verified.

    Parameters
    ----------
    names : str, iterable of str or None, default=None
        None for all.
    data_home : path-like or None, default=None
        Folder of the data files, created if necessary; see :func:`get_data_home`.
    force : bool, default=False
        Also fetch existing files.
    progress : callable or None, default=None
        Called with the name of a data set, the number of bytes received so far, and the
        total, or None if it is unknown.
    tries : int, default=3
        Number of tries, with growing waits.
    timeout : float, default=30.0
        Seconds to wait for an answer.
    sleep : callable, default=time.sleep
        Waits for the given seconds.

    Returns
    -------
    list of Fetched
        In the order of the names.

    Raises
    ------
    DataError
        If a name is not known, or a source cannot be reached or holds something else, or
        the folder cannot be written to.
    """
    home = get_data_home(data_home)
    chosen = [names] if isinstance(names, str) else names or DATASETS
    records = [find(name) for name in dict.fromkeys(chosen)]
    wanted = [r.name for r in records if force or examine(r, home).state != "present"]
    connection = _Connection(
        partial(persist, tries=tries, sleep=sleep), timeout, progress or _silent
    )
    for batch in batches(wanted):
        _fetch_batch([find(name) for name in batch], home, connection)
    return [Fetched(r.name, home / r.file, r.name in wanted) for r in records]


def batches(names: Iterable[str]) -> list[list[str]]:
    """The names, grouped by download."""
    shared: dict[Source, list[str]] = {}
    for name in dict.fromkeys(names):
        shared.setdefault(find(name).source, []).append(name)
    return list(shared.values())


class _Connection(NamedTuple):
    """Settings of downloads."""

    patiently: Callable[..., Any]
    timeout: float
    progress: NamedProgress


def _silent(*_: object) -> None:
    """No progress is shown."""


def _fetch_batch(batch: list[Dataset], home: Path, connection: _Connection) -> None:
    with _scratch_folder(home) as scratch, _explained(batch, home):
        contents = list(_contents(batch, scratch, connection))
        for record, content in contents:
            if reason := fault(record, content, fetched=True):
                raise ValueError(f"{record.name}: {reason}")
        for record, content in contents:
            write_content(record, home, content)


def _contents(
    batch: list[Dataset], scratch: Path, connection: _Connection
) -> Iterator[tuple[Dataset, Content]]:
    """The content that the source has for each data set of the batch."""
    first = batch[0]
    connection.progress(first.name, 0, None)
    if first.source.kind == "zip":
        archive, report = scratch / SCRATCH[0], partial(connection.progress, first.name)
        get = partial(download, timeout=connection.timeout, progress=report)
        connection.patiently(partial(get, first.source.address, archive))
        yield from ((record, from_zip(record, archive)) for record in batch)
    elif first.source.kind == "openml":
        yield first, connection.patiently(partial(from_openml, first, timeout=connection.timeout))
    else:
        read = partial(from_scikit_learn, scratch / SCRATCH[1], timeout=connection.timeout)
        yield first, connection.patiently(read)


@contextmanager
def _scratch_folder(home: Path) -> Iterator[Path]:
    """A temporary folder in the data home."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        sweep(home / "fetch", ours=SCRATCH)
        scratch = beside(home / "fetch")
        scratch.mkdir()
    except OSError as error:
        raise DataError(
            f"Cannot write to the data home {home} ({error.strerror})", remedy=_ANOTHER_HOME
        ) from error
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _explained(batch: list[Dataset], home: Path) -> Iterator[None]:
    """Add to errors what was fetched, from where, and a remedy."""
    names, files = ", ".join(r.name for r in batch), ", ".join(r.file for r in batch)
    address = batch[0].source.address
    by_hand = f"put {files} into {home}, or {_ANOTHER_HOME}"
    try:
        yield
    except ConnectionError as error:
        raise DataError(
            f"Could not fetch {names} from {address} ({error})",
            remedy=f"check the network and try again, {by_hand}",
        ) from error
    except OSError as error:
        raise DataError(f"Could not fetch {names} into {home} ({error})") from error
    except (ValueError, LookupError) as error:
        raise DataError(
            f"The download from {address} does not match {names} ({error}), so nothing was written",
            remedy=f"try again later, {by_hand}",
        ) from error
