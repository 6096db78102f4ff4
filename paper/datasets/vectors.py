"""The newsgroup posts as vectors of a sentence encoder, from a file that users provide.

The README of the data says how it was made; it cannot be downloaded.
"""

from __future__ import annotations

import zipfile
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paper.datasets.home import PathLike, get_data_home
from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array, Labels

__all__ = ["MINILM_FILE", "Vectors", "has_minilm", "load_minilm"]

MINILM_FILE = "newsgroups_minilm_f16.npz"


class Vectors(NamedTuple):
    """Vectors of shape (n, m), the group of each, and the names of the groups."""

    X: Array
    labels: Labels
    group_names: tuple[str, ...]


def has_minilm(data_home: PathLike | None = None) -> bool:
    """Whether the file exists; its content is not checked."""
    return (get_data_home(data_home) / MINILM_FILE).exists()


def load_minilm(data_home: PathLike | None = None) -> Vectors:
    """MiniLM vectors of the 20 newsgroups, in the order of `load_newsgroups`.

    Parameters
    ----------
    data_home : path-like or None, default=None
        Folder of the data files; see :func:`get_data_home`.

    Returns
    -------
    Vectors
        18,846 vectors of 384 numbers, float32, not scaled.

    Raises
    ------
    DataError
        If the file is missing or damaged.
    """
    return _read(get_data_home(data_home) / MINILM_FILE)


@lru_cache(maxsize=1)
def _read(path: Path) -> Vectors:
    try:
        with np.load(path) as content:
            X, labels = content["X"].astype(np.float32), content["label"].astype(np.int64)
            return Vectors(X, labels, tuple(content["group_names"].tolist()))
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(
            f"Cannot read MiniLM vectors from {path} ({type(error).__name__})",
            "it must be an .npz file with arrays X, label and group_names",
            "leave the file out to skip the tables on embeddings",
        ) from None
