"""Commands in messages about text files can be pasted into a shell, and work."""

from __future__ import annotations

import os
import re
import shlex

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from sphericalpca import DataError, SphericalPCA, open_rows

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the lines are for a POSIX shell")

TEXTS = ["a first text, with a comma", "the second; text", "and a third one", "", "a third"]
ROWS = np.array([[0.5, -1.25, 3.0], [1e-3, 2.0, -7.5], [4.0, 0.0, 1.5]])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _pasted(path, **options):
    """The rows that can be opened once the line at the end of the message was run."""
    with pytest.raises(DataError) as caught:
        open_rows(path, **options)
    told = re.search(r"once and pass (\S+): (python -c \".*\")$", str(caught.value))
    assert told is not None, str(caught.value)
    program, option, code = shlex.split(told[2])  # as a shell would
    assert (program, option) == ("python", "-c")
    exec(code, {})
    rows = open_rows(told[1])
    return np.concatenate([_dense(block) for block in rows.read(slice(0, rows.shape[0]), 99)])


def _dense(block):
    return block.toarray() if hasattr(block, "toarray") else np.array(block)


def _written(separator, *, head=(), first="", last="", decimal=".", quote=""):
    rows = [[f"{quote}{x!r}{quote}".replace(".", decimal) for x in row] for row in ROWS.tolist()]
    lines = [[f"{first}{k}" if first else "", *row, last] for k, row in enumerate(rows)]
    lines = [[cell for cell in line if cell] for line in lines]
    return "\n".join(separator.join(line) for line in [*([head] if head else []), *lines]) + "\n"


NUMBERS = {
    "plain": ("a.csv", _written(",")),
    "titles": ("a.csv", _written(",", head="xyz")),
    "a label": ("a.csv", _written(",", head=[*"xyz", "label"], last="Größe")),
    "a label in quotes": ("a.csv", _written(",", head=[*"xyz", "label"], last='"a, b"')),
    "the index of a data frame": ("a.csv", _written(",", head=["", *"xyz"], first="1")),
    "a last separator": ("a.csv", _written(",").replace("\n", ",\n")),
    "semicolons": ("a.csv", _written(";")),
    "semicolons, titles": ("a.csv", _written(";", head="xyz")),
    "decimal commas": ("a.csv", _written(";", head="xyz", decimal=",")),
    "decimal commas, tabs": ("a.csv", _written("\t", decimal=",")),
    "tabs": ("a.TSV", _written("\t", last="name").replace("0.5", "# a comment\n0.5")),
    "bars": ("a.csv", _written("|")),
    "quotes": ("a.csv", _written(",", head="xyz", quote='"')),
    "spaces": ("a.txt", _written(" ", head=["names"])),
    "commas": ("a.txt", _written(",")),
}


@pytest.mark.parametrize(("name", "content"), NUMBERS.values(), ids=NUMBERS)
def test_a_line_converts_numbers(folder, name, content):
    (folder / name).write_text(content, encoding="utf-8")
    np.testing.assert_array_equal(_pasted(name), ROWS)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_a_line_converts_numbers_in_any_encoding(folder, encoding):
    for name, content in (NUMBERS["plain"], NUMBERS["a label"]):
        (folder / name).write_text(content, encoding=encoding)
        np.testing.assert_array_equal(_pasted(name), ROWS)


def test_a_missing_number_stays_missing_and_is_named(folder):
    for head in ("x,y\n", ""):
        (folder / "a.csv").write_text(f"{head}1,2\n3,\n5,6\n")
        np.testing.assert_array_equal(_pasted("a.csv"), [[1, 2], [3, np.nan], [5, 6]])
    with pytest.raises(DataError, match=r"NaN in row 1 of 'a.npy', column 1"):
        SphericalPCA(1).fit(open_rows("a.npy"))


def _table(separator, *names):
    cells = [[str(k), f'"{text}"'][-len(names) :] for k, text in enumerate(TEXTS)]
    return "\n".join(separator.join(line) for line in [names, *cells])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", _table(",", "id", "text")),
        ("a.csv", _table(";", "id", "text")),
        ("a.csv", _table(",", "text")),
        ("a.csv", _table(",", "id", "text").partition("\n")[2]),
        ("a.tsv", _table("\t", "id", "text")),
        ("a.txt", "\n".join(TEXTS)),
    ],
)
def test_a_line_encodes_texts(folder, name, content):
    (folder / name).write_text(content)
    expected = TfidfVectorizer(sublinear_tf=True).fit_transform(TEXTS).toarray()
    np.testing.assert_array_equal(_pasted(name), expected)


def test_long_texts_are_encoded_too(folder):
    long = " ".join(map(str, range(100_000)))
    (folder / "a.csv").write_text(f'id,text\n0,"{long}"\n1,"0 1"\n')
    assert _pasted("a.csv").shape[0] == 2


def test_a_line_encodes_a_column_of_texts(folder):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    feather = pytest.importorskip("pyarrow.feather")
    table = pa.table({"id": [1, 2, 3, 4, 5], "a b": [text or None for text in TEXTS]})
    parquet.write_table(table, "texts.parquet")
    feather.write_feather(table, "texts.arrow")
    expected = TfidfVectorizer(sublinear_tf=True).fit_transform(TEXTS).toarray()
    for options in ({}, {"column": "a b"}, {"columns": ["a b"]}):
        for name in ("texts.parquet", "texts.arrow"):
            np.testing.assert_array_equal(_pasted(name, **options), expected)
    assert open_rows("texts.parquet", columns=["id"]).shape == (5, 1)


def test_columns_of_text_beside_numbers_are_no_rows(folder):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"x1": [1.0, 2.0], "text": TEXTS[:2]}), "a.parquet")
    assert open_rows("a.parquet").columns == ("x1",)
    for pattern in ("q*", "t*"):
        with pytest.raises(DataError, match=r"^No column of numbers in ") as caught:
            open_rows("a.parquet", columns=[pattern])
        assert f"matches {pattern!r}: it has 'x1', 'text'" in str(caught.value)


def test_no_line_runs_anything_of_the_author_of_a_name(folder):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    name = "$(touch x)'\""
    (folder / f"{name}.csv").write_text("1,2")
    (folder / f"{name}.txt").write_text("a text")
    parquet.write_table(pa.table({name: TEXTS}), f"{name}.parquet")
    for suffix, instead in (("csv", "rows.csv"), ("txt", "texts.txt"), ("parquet", "texts.parq")):
        with pytest.raises(DataError, match=rf"\('{instead}") as caught:
            open_rows(f"{name}.{suffix}")
        assert "$" not in str(caught.value).partition("python -c")[2]


def test_an_empty_file_is_called_empty(folder):
    (folder / "a.csv").write_text("\n")
    with pytest.raises(DataError, match=r"^Cannot read 'a\.csv'.* It is empty\.$"):
        open_rows("a.csv")
