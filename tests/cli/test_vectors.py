"""Files become rows in one place."""

from __future__ import annotations

import numpy as np
import pytest

import sphericalpca
from sphericalpca import DataError
from sphericalpca.cli.vectors import named, open_vectors

OPTIONS = {"column": None, "columns": "a, b", "key": None, "memory_budget": "1MB"}


def test_row_sources_are_used_where_they_are(monkeypatch):
    calls = []
    monkeypatch.setattr(
        sphericalpca, "open_rows", lambda *args, **options: calls.append((args, options)), False
    )
    open_vectors(["x.parquet"], OPTIONS)
    open_vectors(["x.npy", "y.npy"], OPTIONS)
    options = {"column": None, "columns": ["a", "b"], "key": None, "memory_budget": "1MB"}
    assert calls == [(("x.parquet",), options), ((["x.npy", "y.npy"],), options)]


def test_arrays_are_mapped_where_they_are_not(monkeypatch, tmp_path):
    monkeypatch.delattr(sphericalpca, "open_rows", raising=False)
    np.save(tmp_path / "x.npy", np.eye(3))
    X = open_vectors([str(tmp_path / "x.npy")], OPTIONS)
    assert isinstance(X, np.memmap)
    for files in (["x.csv"], ["x.npy", "y.npy"]):
        with pytest.raises(DataError, match=r"only a single \.npy file"):
            open_vectors(files, OPTIONS)


def test_names():
    assert named(["folder/x.npy"]) == "x.npy"
    assert named(["folder/x.npy", "y.npy", "z.npy"]) == "x.npy and 2 more"
