"""What commands that read files share."""

from __future__ import annotations

import numpy as np
import pytest

from sphericalpca import SphericalPCA
from sphericalpca.cli.reading import named, split_names


def test_names():
    assert named(["folder/x.npy"]) == "x.npy"
    assert named(["folder/x.npy", "y.npy", "z.npy"]) == "x.npy and 2 more"
    assert split_names("a, b,,c ") == ["a", "b", "c"]
    assert split_names(None) is None


ROWS_NOT_MODEL = "'rows.npy' has the suffix of a file of rows, but the first"
MODEL_NOT_ROWS = "'model.safetensors' has the suffix of a model, not of rows"


def test_remedies_are_options_of_the_command(run, tmp_path):
    h5py, arrow = pytest.importorskip("h5py"), pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    X = np.ones((9, 3))
    with h5py.File(tmp_path / "two.h5", "w") as file:
        file["a"], file["b"] = X, X
    lists = {"a": X.tolist(), "b": X.tolist()}
    parquet.write_table(arrow.table(lists), tmp_path / "two.parquet")
    numbers = {"id": np.arange(9), "x": X[:, 0]}
    parquet.write_table(arrow.table(numbers), tmp_path / "wide.parquet")
    remedies = {"two.h5": "--key ...", "two.parquet": "--column ...", "wide.parquet": "--columns "}
    for name, remedy in remedies.items():
        result = run("fit", tmp_path / name, "-r", 1, "-o", tmp_path / "model")
        assert result.exit_code == 1
        assert remedy in result.stderr
        assert "=" not in result.stderr
        assert "...." not in result.stderr
    result = run("fit", tmp_path / "wide.parquet", "--column", "x", "-r", 1, "-o", tmp_path / "m")
    assert result.stderr.endswith("with --columns ...\n")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("transform rows.npy model.safetensors -o v.npy", ROWS_NOT_MODEL),
        ("evaluate rows.npy model.safetensors --out e", ROWS_NOT_MODEL),
        ("export rows.npy --to npy -o v.npy", ROWS_NOT_MODEL),
        ("info rows.npy", ROWS_NOT_MODEL),
        ("fit model.safetensors -r 3 -o new", MODEL_NOT_ROWS),
        ("choose model.safetensors", MODEL_NOT_ROWS),
        ("bench model.safetensors", MODEL_NOT_ROWS),
        ("fit - -r 3 -o new", "Error: Cannot read from a pipe"),
        ("choose -", "Error: Cannot read from a pipe"),
        ("bench -", "Error: Cannot read from a pipe"),
        ("fit rows.npy --column x -r 1 -o m", "Error: --column x is for Parquet and Arrow files"),
    ],
)
def test_files_of_another_kind_are_refused_in_one_line(run, tmp_path, monkeypatch, words, line):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((70, 8))
    np.save("rows.npy", X)
    SphericalPCA(3).fit(X).save("model.safetensors")
    result = run(*words.split())
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert line in result.stderr
