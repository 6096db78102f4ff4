"""``sphericalpca compress``, ``search`` and ``info`` of folders of codes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from sphericalpca import SphericalCodec
from tests.codec.conftest import clustered


@pytest.fixture
def files(tmp_path, monkeypatch):
    X = clustered(900, 20).astype(np.float32)
    np.save(tmp_path / "rows.npy", X[:800])
    np.save(tmp_path / "queries.npy", X[800:])
    monkeypatch.chdir(tmp_path)
    return X


def test_rows_to_a_folder_and_neighbours_from_it(run, files, tmp_path):
    result = run("compress", "rows.npy", "--bytes", 6, "--out", "codes", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert (told["n_samples"], told["n_bytes"]) == (800, 6)
    result = run("search", "codes", "queries.npy", "-k", 4, "-o", "found.csv")
    assert result.exit_code == 0, result.stderr
    assert "4 rows of 800 for each of 100 queries" in result.stdout
    with (tmp_path / "found.csv").open() as file:
        lines = list(csv.DictReader(file))
    codec = SphericalCodec.load("codes/codec.safetensors")
    expected = codec.search(files[800:], np.load("codes/codes.npy"), 4)
    assert [int(line["row"]) for line in lines] == expected.ids.ravel().tolist()
    assert all(float(line["lower"]) < float(line["upper"]) for line in lines)
    facts = json.loads(run("info", "codes", "--json").stdout)
    assert facts["fingerprint"] == told["fingerprint"]
    assert "n_components" in run("info", "codes/codec.safetensors").stdout


def test_a_recall_to_keep_comes_with_curve_and_picture(run, files, tmp_path):
    result = run("compress", "rows.npy", "--recall", 0.5, "--out", "codes", "--queries", 100)
    assert result.exit_code == 0, result.stderr
    assert "float16" in result.stdout
    (chosen,) = [line for line in result.stdout.splitlines() if line.startswith("*")]
    names = {path.name for path in (tmp_path / "codes").iterdir()}
    assert {"curve.csv", "curve.png", "decode.py", "codes.npy"} <= names
    size = int(chosen.split()[1])
    assert np.load("codes/codes.npy").shape == (800, size)


def test_a_curve_of_many_rows_lacks_what_was_not_measured(run, files, monkeypatch, tmp_path):
    monkeypatch.setattr("sphericalpca.codec.sizes.MOST_NUMBERS", 0)
    result = run("compress", "rows.npy", "--recall", 0.5, "--out", "codes", "--queries", 100)
    assert result.exit_code == 0, result.stderr
    assert "int8" not in (tmp_path / "codes" / "curve.csv").read_text()
    assert (tmp_path / "codes" / "curve.png").stat().st_size > 0


def test_tables_keep_their_columns(run, files):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    vectors = arrow.FixedSizeListArray.from_arrays(arrow.array(files[:800].ravel()), 20)
    names = [f"row {k}" for k in range(800)]
    parquet.write_table(arrow.table({"id": names, "v": vectors, "n": range(800)}), "rows.parquet")
    words = ("compress", "rows.parquet", "--column", "v", "--bytes", 5, "--out", "codes")
    result = run(*words, "--keep", "id")
    assert result.exit_code == 0, result.stderr
    assert parquet.read_table("codes/codes.parquet").column_names == ["id", "code"]
    assert run("search", "codes", "queries.npy", "-k", 2, "-o", "found.parquet").exit_code == 0
    found = parquet.read_table("found.parquet").to_pydict()
    assert found["id"] == [names[row] for row in found["row"]]


def test_columns_of_a_table_do_not_replace_the_numbers_of_a_search(run, files):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    vectors = arrow.FixedSizeListArray.from_arrays(arrow.array(files[:800].ravel()), 20)
    parquet.write_table(arrow.table({"row": range(800, 1600), "v": vectors}), "rows.parquet")
    words = ("compress", "rows.parquet", "--column", "v", "--bytes", 5, "--out", "codes")
    assert run(*words).exit_code == 0
    assert run("search", "codes", "queries.npy", "-k", 2, "-o", "found.parquet").exit_code == 0
    found = parquet.read_table("found.parquet").to_pydict()
    assert found["row_"] == [row + 800 for row in found["row"]]


def test_no_column_of_a_table_is_lost_and_types_are_kept(run, files):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    vectors = arrow.FixedSizeListArray.from_arrays(arrow.array(files[:800].ravel()), 20)
    other = {
        "row_": ["x"] * 800,
        "row": arrow.array(range(800), arrow.int16()),
        "code": arrow.array(["a", None] * 400).dictionary_encode(),
    }
    parquet.write_table(arrow.table({"v": vectors, **other}), "rows.parquet")
    result = run("compress", "rows.parquet", "--column", "v", "--bytes", 5, "--out", "codes")
    assert result.exit_code == 0, result.stderr
    assert parquet.read_table("codes/codes.parquet").column_names == [*other, "code_"]
    assert run("search", "codes", "queries.npy", "-k", 2, "-o", "found.parquet").exit_code == 0
    found = parquet.read_table("found.parquet")
    assert found.column_names[6:] == ["row_", "row__", "code"]
    assert found["row__"].to_pylist() == found["row"].to_pylist()
    assert found.schema.field("row__").type == arrow.int16()
    assert arrow.types.is_dictionary(found.schema.field("code").type)
    assert run("search", "codes", "queries.npy", "-k", 2, "-o", "found.csv").exit_code == 0
    with Path("found.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["row__"] for line in lines] == [line["row"] for line in lines]
    assert {line["code"] for line in lines} == {"a", ""}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["compress", "rows.npy", "--out", "c"], "either --bytes or --recall"),
        (["compress", "rows.npy", "--bytes", 0, "--out", "c"], "0 is not in the range x>=1"),
        (["compress", "none.npy", "--bytes", 4, "--out", "c"], "none.npy"),
        (["search", "none", "queries.npy", "-o", "f.csv"], "has no manifest.json"),
        (["search", "none", "queries.npy", "-o", "f.txt"], "is not a .csv or .parquet file"),
        (["search", "none", "queries.npy", "-o", "queries.npy"], "is not a .csv or .parquet"),
    ],
)
def test_what_is_wrong_is_said(run, files, tmp_path, words, line):
    before = sorted(tmp_path.iterdir())
    result = run(*words)
    assert result.exit_code in (1, 2)
    assert line in result.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_codes_for_faiss(run, files):
    faiss = pytest.importorskip("faiss")
    run("compress", "rows.npy", "--bytes", 6, "--out", "codes")
    result = run("export", "codes", "--to", "faiss", "-o", "codes.faiss")
    assert result.exit_code == 0, result.stderr
    assert faiss.read_index("codes.faiss").ntotal == 800
    result = run("export", "codes", "--to", "onnx", "-o", "codes.onnx")
    assert result.exit_code == 2
    assert "Codes are exported to faiss only" in result.stderr


def test_queries_of_another_width_and_existing_folders_are_refused(run, files, tmp_path):
    run("compress", "rows.npy", "--bytes", 6, "--out", "codes")
    np.save("wide.npy", np.ones((3, 21), dtype=np.float32))
    result = run("search", "codes", "wide.npy", "-o", "f.csv")
    assert result.exit_code == 1
    assert "the model was fitted on 20" in result.stderr
    result = run("compress", "rows.npy", "--bytes", 6, "--out", "codes")
    assert result.exit_code == 1
    assert "exists: choose another folder, or pass --force" in result.stderr
    assert run("compress", "rows.npy", "--bytes", 7, "--out", "codes", "--force").exit_code == 0
    (tmp_path / "codes" / "mine.txt").touch()
    np.save("bad.npy", np.full((9, 3), np.nan))
    result = run("compress", "bad.npy", "--bytes", 7, "--out", "codes", "--force")
    assert "contains 'mine.txt'" in result.stderr, "before any work"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_columns_of_files_without_any_are_refused(run, files, tmp_path):
    result = run("compress", "rows.npy", "--bytes", 6, "--out", "codes", "--keep", "id")
    assert "rows.npy' has no column 'id' besides its vectors" in result.stderr
    assert not (tmp_path / "codes").exists()
