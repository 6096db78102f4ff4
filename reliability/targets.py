"""Fuzz targets: how a file is read, and what must hold for the result.

Every reader returns a valid result or raises a documented error.  An `AssertionError`, any other
exception and any warning that is not documented are findings.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from paper.datasets.corpus import read_corpus
from paper.datasets.integrity import READING_ERRORS
from paper.datasets.tables import read_table
from reliability.mutations import (
    Mutation,
    mutate_archive,
    mutate_gzip,
    mutate_model,
    mutate_plain,
)
from reliability.seeds import MATRIX, SOLVER_NAMES, STEPS, checkpoint_fit
from sphericalpca import DataError, NoDirectionWarning, SphericalPCA, open_rows
from sphericalpca.linalg import Array
from sphericalpca.registry.formats import FORMATS

__all__ = ["TARGETS", "FuzzTarget", "judge", "warnings_are_errors"]

# Larger results are not read to the end: a small file may hold many equal numbers.
ENTRIES = 200_000
# One input in this many is fitted.
FITTED = 50


class FuzzTarget(NamedTuple):
    """A reader.

    Attributes
    ----------
    suffix : str
        Of its files.
    read : callable
        Reads a file and checks the whole result.
    mutate : callable
        How inputs are changed.
    documented : tuple of exception types
    crashes : bool
        Whether a damaged file may end the process.
    """

    suffix: str
    read: Callable[[Path], None]
    mutate: Mutation = mutate_plain
    documented: tuple[type[Exception], ...] = (DataError,)
    crashes: bool = False


def judge(target: FuzzTarget, data: bytes, path: Path) -> str:
    """Read the bytes from `path`: "answer", or the first words of a documented error."""
    path.write_bytes(data)
    try:
        target.read(path)
    except target.documented as error:
        assert str(error), "an error without a message"  # noqa: PT017 - no test
        return str(error)
    return "answer"


def warnings_are_errors() -> None:
    """Turn warnings into errors for the rest of the process, except documented ones."""
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", NoDirectionWarning)


def _read_rows(path: Path) -> None:
    source = open_rows(path, memory_budget="8MB")
    n, m = source.shape
    assert n >= 1
    assert m >= 1
    # Some are fitted, as users do, which is slow; of the others all blocks are read.
    if zlib.crc32(path.read_bytes()) % FITTED == 0:
        if n * m <= ENTRIES:
            _check_fit(SphericalPCA(1, tol=0.0, max_iter=2, random_state=0).fit(source))
        return
    seen = 0
    for block in source.read(slice(0, n), 5):
        assert block.dtype == source.dtype
        assert block.shape[1] == m
        seen += block.shape[0]
        if seen * m > ENTRIES:
            return
    assert seen <= n


def _check_fit(model: SphericalPCA) -> None:
    U = model.components_
    assert np.abs(U @ U.T - np.eye(len(U))).max() < 1e-4
    assert 0 <= model.mean_cosine_ <= 1 + 1e-4


def _read_model(path: Path) -> None:
    model = SphericalPCA.load(path)
    m = model.n_features_in_
    if m * model.n_components_ > ENTRIES:
        return
    X: Array = np.resize(MATRIX, (5, m))
    V = model.transform(_named(model, X))
    lengths = np.linalg.norm(V, axis=1)
    assert (np.isclose(lengths, 1, atol=1e-3) | (lengths == 0)).all()
    assert np.isfinite(model.inverse_transform(V)).all()
    assert len(model.get_feature_names_out()) == model.n_components_
    numbers = [model.mean_cosine_, model.loss_, model.residual_, model.svd_ratio_]
    assert all(isinstance(number, (int, float)) for number in numbers)
    assert model.truncate(1).n_components_ == 1
    repr(model)


def _named(model: SphericalPCA, X: Array) -> Any:
    """Without names, so that names in the file cause no warning."""
    model.__dict__.pop("feature_names_in_", None)
    return X


def _read_checkpoint(path: Path) -> None:
    content = path.read_bytes()
    if content:
        path.write_bytes(content[1:])
        solver = SOLVER_NAMES[content[0] % len(SOLVER_NAMES)]
        _check_fit(checkpoint_fit(solver, path, STEPS + 1))


def _read_table(path: Path) -> None:
    table = read_table(path)
    assert np.isfinite(table.X).all()
    assert len(table.y) == len(table.X)


def _read_corpus(path: Path) -> None:
    corpus = read_corpus(path)
    assert len(corpus.labels) == len(corpus.texts) == len(corpus.ids)


TARGETS = {
    # Files other than archives are changed byte by byte.
    **{
        name: FuzzTarget(known.suffixes[0], _read_rows, mutate_archive, crashes=known.crashes)
        for name, known in FORMATS.items()
    },
    "model": FuzzTarget(".safetensors", _read_model, mutate_model),
    "checkpoint": FuzzTarget(".checkpoint", _read_checkpoint, mutate_archive),
    "table": FuzzTarget(".csv.gz", _read_table, mutate_gzip, READING_ERRORS),
    "corpus": FuzzTarget(".jsonl.gz", _read_corpus, mutate_gzip, READING_ERRORS),
}
