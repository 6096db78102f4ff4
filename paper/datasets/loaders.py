"""Data sets as arrays, read from the files in the data home."""

from __future__ import annotations

from paper.datasets.home import PathLike, get_data_home
from paper.datasets.integrity import read_content
from paper.datasets.registry import DATASETS, Dataset, find
from paper.datasets.tables import LabelledTable
from sphericalpca.datasets import Corpus
from sphericalpca.exceptions import DataError

__all__ = ["available", "load_newsgroups", "load_uci"]


def available(name: str, data_home: PathLike | None = None) -> bool:
    """Whether the file of a data set exists; its content is not checked.

    Parameters
    ----------
    name : str
        A key of `DATASETS`.
    data_home : path-like or None, default=None
        Folder of the data files; see :func:`get_data_home`.

    Returns
    -------
    bool
    """
    return (get_data_home(data_home) / find(name).file).exists()


def load_newsgroups(data_home: PathLike | None = None) -> Corpus:
    """The 20 newsgroups, by date, with headers: train first, then test.

    Parameters
    ----------
    data_home : path-like or None, default=None
        Folder of the data files; see :func:`get_data_home`.

    Returns
    -------
    Corpus
        18,846 texts in 20 groups.

    Raises
    ------
    DataError
        If the file is missing or damaged.
    """
    content = read_content(find("newsgroups"), get_data_home(data_home))
    assert isinstance(content, Corpus)
    return content


def load_uci(name: str, data_home: PathLike | None = None) -> LabelledTable:
    """A table of the UCI repository, neither scaled nor resampled.

    Parameters
    ----------
    name : str
        "glass", "diabetes", "isolet", "mfeat" with all its views, or one view: "mfeat-fac",
        "mfeat-fou", "mfeat-kar", "mfeat-mor", "mfeat-pix", "mfeat-zer".
    data_home : path-like or None, default=None
        Folder of the data files; see :func:`get_data_home`.

    Returns
    -------
    X : ndarray of float64 of shape (n, m)
    y : ndarray of int of shape (n,)
        The classes, by the numbers of the source.

    Raises
    ------
    DataError
        If there is no such table, or its file is missing or damaged.
    """
    content = read_content(_table(name), get_data_home(data_home))
    assert isinstance(content, LabelledTable)
    return content


def _table(name: str) -> Dataset:
    record = find(name)
    if record.is_text:
        tables = ", ".join(r.name for r in DATASETS.values() if not r.is_text)
        raise DataError(f"{name!r} holds texts, not a table", remedy=f"load one of {tables}")
    return record
