"""Convert the publishers' formats, in memory."""

from __future__ import annotations

import re
import socket
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from paper.datasets.download import over_https_only
from paper.datasets.registry import VIEWS, Dataset
from paper.datasets.tables import LabelledTable, as_labels
from sphericalpca.datasets import Corpus
from sphericalpca.linalg import Array

__all__ = ["from_openml", "from_scikit_learn", "from_zip"]

# Many times the largest member that is needed: anything larger is a decompression bomb.
LARGEST_MEMBER = 64 << 20

_DIABETES = {"tested_negative": 0, "tested_positive": 1}


def from_zip(record: Dataset, archive: Path) -> LabelledTable:
    """Glass, or one or all views of the multiple features; a ValueError describes problems."""
    try:
        with zipfile.ZipFile(archive) as opened:
            return _glass(opened) if record.name == "glass" else _mfeat(opened, record)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"not a sound zip archive: {error}") from error


def from_openml(record: Dataset, *, timeout: float) -> LabelledTable:
    """Diabetes and isolet, by scikit-learn, which keeps its own copy."""
    from sklearn.datasets import fetch_openml  # noqa: PLC0415 - slow to import

    with _patience(timeout):
        X, target = fetch_openml(
            data_id=int(PurePosixPath(record.source.address).name),
            as_frame=False,
            return_X_y=True,
            parser="liac-arff",  # the other one needs pandas
            n_retries=1,
        )
    return LabelledTable(
        np.asarray(X, dtype=np.float64), np.array([_label(value) for value in target])
    )


def from_scikit_learn(folder: Path, *, timeout: float) -> Corpus:
    """The newsgroups, by scikit-learn, in a folder that nobody else has written to.

    scikit-learn keeps a pickle there, and loads it again.
    """
    from sklearn.datasets import fetch_20newsgroups  # noqa: PLC0415 - slow to import

    posts: list[tuple[str, int, str, str]] = []
    for subset in ("train", "test"):
        with _patience(timeout):
            found = fetch_20newsgroups(
                data_home=str(folder), subset=subset, shuffle=False, n_retries=1
            )
        # Its order is shuffled nevertheless; ours is by group and number.
        posts += sorted(
            (*_group_and_number(name), subset, text)
            for name, text in zip(found.filenames, found.data, strict=True)
        )
    groups, numbers, subsets, texts = zip(*posts, strict=True)
    ids = [f"{group}/{number}" for group, number in zip(groups, numbers, strict=True)]
    return Corpus.of(ids, groups, subsets, texts)


@contextmanager
def _patience(timeout: float) -> Iterator[None]:
    """scikit-learn's fetchers wait forever, follow any redirect, and warn before each retry."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(timeout)
    try:
        with over_https_only(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        socket.setdefaulttimeout(before)


def _glass(opened: zipfile.ZipFile) -> LabelledTable:
    """The first column numbers the samples, the last is the class."""
    values = _read_member(opened, "glass.data", ",")
    return LabelledTable(values[:, 1:-1], as_labels(values[:, -1]))


def _mfeat(opened: zipfile.ZipFile, record: Dataset) -> LabelledTable:
    """Rows are in the order of the classes, which the files do not name."""
    views = VIEWS if record.name == "mfeat" else [record.name.removeprefix("mfeat-")]
    X = np.hstack([_read_member(opened, f"mfeat-{view}", None) for view in views])
    if len(X) != record.rows:
        raise ValueError(f"{len(X)} rows, not {record.rows}")
    labels = [int(digit) for digit in record.classes]
    return LabelledTable(X, np.repeat(labels, list(record.classes.values())))


def _read_member(opened: zipfile.ZipFile, name: str, delimiter: str | None) -> Array:
    """Numbers in a file of the archive, whatever folder of the archive it is in."""
    found = [member for member in opened.namelist() if PurePosixPath(member).name == name]
    if not found:
        raise ValueError(f"the zip archive has no {name}")
    if (size := opened.getinfo(found[0]).file_size) > LARGEST_MEMBER:
        raise ValueError(f"{name} would unpack to {size} bytes, more than {LARGEST_MEMBER}")
    lines = opened.read(found[0]).decode("ascii").split("\n")
    values = np.loadtxt([*filter(str.strip, lines)] or ["nan"], delimiter=delimiter, ndmin=2)
    if not np.isfinite(values).all():
        raise ValueError(f"{name} is empty, or contains NaN")
    return values


def _label(value: Any) -> int:
    """Classes are names or numbers, with or without quotes."""
    text = str(value).strip(" '\"")
    return _DIABETES[text] if text in _DIABETES else int(float(text))


def _group_and_number(filename: str) -> tuple[str, int]:
    """The last two parts of a path of any system."""
    group, number = re.split(r"[\\/]", str(filename))[-2:]
    return group, int(number)
