"""What errors about text and tables of text say to do works."""

from __future__ import annotations

import csv
import shlex
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from sphericalpca import open_rows
from sphericalpca.exceptions import DataError

TEXTS = ["a first text, with a comma", "the second text", "and a third one"]
ENCODE = "ncode its texts first, for example with scikit-learn's TfidfVectorizer, and pass what "


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((20, 3))


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt"])
@pytest.mark.parametrize("names", ["", "a{0}b{0}c", "# a comment"])
@pytest.mark.parametrize("label", [False, True])
def test_the_line_that_converts_numbers_keeps_every_row(X, tmp_path, suffix, names, label):
    path, between = tmp_path / f"rows{suffix}", {".csv": ",", ".tsv": "\t", ".txt": " "}[suffix]
    cells = [[*map(repr, map(float, row)), *["name"] * label] for row in X]
    head = [names.format(between)] if names else []
    path.write_text("\n".join([*head, *map(between.join, cells)]) + "\n")
    with pytest.raises(DataError) as caught:
        open_rows(path)
    line = str(caught.value).partition("Convert it once: python ")[2].removesuffix(".")
    subprocess.run(f"{shlex.quote(sys.executable)} {line}", shell=True, check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "rows.npy"), X)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt"])
def test_texts_are_to_be_encoded(tmp_path, suffix):
    path = tmp_path / f"texts{suffix}"
    if suffix == ".txt":
        path.write_text("\n".join(TEXTS))
    else:
        with path.open("w", newline="") as file:
            between = "," if suffix == ".csv" else "\t"
            writer = csv.writer(file, delimiter=between)
            writer.writerows([["id", "text"], *enumerate(TEXTS)])
    with pytest.raises(DataError, match=ENCODE):
        open_rows(path)


def test_encoded_texts_can_be_opened(tmp_path):
    sparse.save_npz(tmp_path / "texts.npz", TfidfVectorizer().fit_transform(TEXTS))
    assert open_rows(tmp_path / "texts.npz").shape[0] == len(TEXTS)


@pytest.mark.parametrize("path", ["empty.csv", "empty.txt"])
def test_an_empty_file_of_text(tmp_path, path):
    (tmp_path / path).write_text("")
    with pytest.raises(DataError, match="Cannot read"):
        open_rows(tmp_path / path)


@pytest.mark.parametrize("options", [{}, {"column": "text"}, {"columns": ["text"]}], ids=str)
@pytest.mark.parametrize("more", [{}, {"id": [1, 2, 3]}], ids=str)
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_table_of_texts(tmp_path, suffix, more, options):
    pa = pytest.importorskip("pyarrow")
    feather, parquet = (
        pytest.importorskip("pyarrow.feather"),
        pytest.importorskip("pyarrow.parquet"),
    )
    path, table = tmp_path / f"texts.{suffix}", pa.table({**more, "text": TEXTS})
    write = parquet.write_table if suffix == "parquet" else feather.write_feather
    write(table, path)
    with pytest.raises(DataError, match=ENCODE):
        open_rows(path, **options)


def test_identifiers_that_are_named_and_fractions_beside_text_are_rows(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"id": [1, 2, 3], "text": TEXTS}), tmp_path / "a.parquet")
    assert open_rows(tmp_path / "a.parquet", columns=["id"]).shape == (3, 1)
    parquet.write_table(pa.table({"x": [1.0, 2, 3], "text": TEXTS}), tmp_path / "b.parquet")
    assert open_rows(tmp_path / "b.parquet").columns == ("x",)


@pytest.mark.parametrize("pattern", ["q*", "t*", "[q]", "?"])
def test_a_pattern_without_a_column_of_numbers(tmp_path, pattern):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"x1": [1.0], "text": ["a"]}), tmp_path / "table.parquet")
    with pytest.raises(DataError) as caught:
        open_rows(tmp_path / "table.parquet", columns=[pattern])
    assert f"matches {pattern!r}: it has 'x1', 'text'" in str(caught.value)
    assert str(caught.value).startswith("No column of numbers in ")
