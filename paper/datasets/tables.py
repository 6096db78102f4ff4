"""Tables of numbers on disk: gzipped CSV, features f0, f1, ... and an integer label."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paper.datasets.files import read_gzip, write_gzip
from paper.datasets.registry import Facts
from sphericalpca.linalg import Array, Labels

__all__ = ["LabelledTable", "as_labels", "read_table", "table_facts", "write_table"]


class LabelledTable(NamedTuple):
    """Features of shape (n, m) and the class of each row."""

    X: Array
    y: Labels


def read_table(path: Path) -> LabelledTable:
    """Read a table; a ValueError describes a damaged file."""
    with read_gzip(path, "ascii") as file:
        names = file.readline().rstrip("\n").split(",")
        if names != _header(len(names) - 1):
            raise ValueError("its first line is not f0,f1,...,label")
        with warnings.catch_warnings():
            # A warning about a table without rows, which the facts detect.
            warnings.simplefilter("ignore", UserWarning)
            values = np.loadtxt(file, delimiter=",", ndmin=2)
    if values.size and values.shape[1] != len(names):
        raise ValueError(f"it has {values.shape[1]} columns, but {len(names)} names")
    values = values.reshape(-1, len(names))
    if not np.isfinite(values).all():
        raise ValueError("it contains NaN or infinity")
    return LabelledTable(np.ascontiguousarray(values[:, :-1]), as_labels(values[:, -1]))


def as_labels(values: Array) -> Labels:
    """Integers that were read as floats; a ValueError if they are not."""
    if (values != np.rint(values)).any() or (np.abs(values) > 2**31).any():
        raise ValueError("a label is not an integer")
    return values.astype(np.int64)


def write_table(path: Path, table: LabelledTable) -> None:
    """Write a table, atomically; every number is read back exactly."""
    write_gzip(path, _lines(table))


def table_facts(table: LabelledTable) -> Facts:
    """The facts that identify the table, whatever the order of its rows."""
    n, m = table.X.shape
    labels, counts = np.unique(table.y, return_counts=True)
    by_class, by_column = table.y + 1.0, _weights(m)
    return Facts(
        rows=n,
        features=m,
        classes=dict(zip(map(str, labels.tolist()), counts.tolist(), strict=True)),
        fingerprint=tuple(float(by_class @ (A @ by_column)) for A in (table.X, np.abs(table.X))),
    )


def _weights(m: int) -> Array:
    """Numbers from 1 to 2, one for each column, different enough for neighbouring columns."""
    golden = (np.sqrt(5.0) - 1) / 2
    return np.asarray(1 + np.arange(m) * golden % 1)


def _lines(table: LabelledTable) -> Iterator[str]:
    yield ",".join(_header(table.X.shape[1]))
    for row, label in zip(table.X.tolist(), table.y.tolist(), strict=True):
        yield ",".join([*(repr(value).removesuffix(".0") for value in row), str(label)])


def _header(m: int) -> list[str]:
    return [*(f"f{j}" for j in range(m)), "label"]
