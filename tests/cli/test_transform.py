"""``sphericalpca transform``: vectors to files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sphericalpca import SphericalPCA


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32)


@pytest.fixture
def files(X, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    SphericalPCA(3).fit(X).save(tmp_path / "model.safetensors")
    return tmp_path


def test_the_vectors_are_those_of_the_model(run, X, files):
    model, rows = files / "model.safetensors", files / "rows.npy"
    result = run("transform", model, rows, "-o", files / "v.npy")
    assert result.exit_code == 0, result.stderr
    assert "50 unit vectors of 3 numbers" in result.stdout
    expected = SphericalPCA.load(model).transform(X)
    np.testing.assert_allclose(np.load(files / "v.npy"), expected, atol=1e-6)
    X[7] = 0
    np.save(rows, X)
    result = run("transform", model, rows, "-o", files / "v.parquet", "--json")
    assert json.loads(result.stdout)["n_without_direction"] == 1
    assert "Warning: 1 row has no direction and is zero" in result.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["none.safetensors", "rows.npy", "-o", "v.npy"], "none.safetensors' does not exist"),
        (["rows.npy", "rows.npy", "-o", "v.npy"], "has the suffix of a file of rows, but"),
        (["model.safetensors", "rows.npy", "-o", "rows.npy"], "is read by this command"),
        (["model.safetensors", "rows.npy", "-o", "v.csv"], "vectors are written to .npy"),
        (["model.safetensors", "rows.npy", "-o", "no/v.npy"], "folder no does not exist"),
        (["model.safetensors", "rows.npy", "-o", "v.parquet", "--keep", "id"], "no column 'id'"),
        (["model.safetensors", "rows.npy", "-o", "v.npy", "--keep", "id"], "no place for the col"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(run, files, words, line, monkeypatch):
    monkeypatch.chdir(files)
    before = sorted(files.iterdir())
    result = run("transform", *words)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert line in result.stderr
    assert sorted(files.iterdir()) == before
