"""Fetching data sets from where they are published, in our form."""

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

# What is in the scratch folder: an archive, or what scikit-learn keeps.
SCRATCH = ("archive.zip", "scikit-learn")

# Called with the name of a data set, the bytes so far, and the bytes in all if known.
NamedProgress = Callable[[str, int, int | None], None]


class Fetched(NamedTuple):
    """A data set that is there now; `fresh` if it was not before."""

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

    Files that are there and are right are left alone.  A new file appears under its name
    only when it is complete and its content is what it should be.

    Parameters
    ----------
    names : str, iterable of str or None, default=None
        None for all.
    data_home : path-like or None, default=None
        Folder of the data files, made if it is not there; see :func:`get_data_home`.
    force : bool, default=False
        Fetch files that are there, too.
    progress : callable or None, default=None
        Called with the name of a data set, the bytes that came so far, and the number of
        bytes in all or None.
    tries : int, default=3
        How often to try, with growing waits.
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
    """The names, those that share a download together."""
    shared: dict[Source, list[str]] = {}
    for name in dict.fromkeys(names):
        shared.setdefault(find(name).source, []).append(name)
    return list(shared.values())


class _Connection(NamedTuple):
    """How to get things over the network."""

    patiently: Callable[..., Any]
    timeout: float
    progress: NamedProgress


def _silent(*_: object) -> None:
    """Nobody watches."""


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
    """What the source holds for each data set of the batch."""
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
    """A folder in the data home, gone afterwards."""
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
    """Say of an error what was to be fetched from where, and what to do."""
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
