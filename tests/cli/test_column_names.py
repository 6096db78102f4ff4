"""Columns are found by their names: their order in a file does not change a vector."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sphericalpca import SphericalPCA

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NAMES = list("abcd")


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((60, 4)) * [4, 3, 2, 1]


@pytest.fixture
def place(X, tmp_path, monkeypatch):
    """A folder with rows, the same with an identifier in front, and a model of them."""
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    write(X, "mine.parquet", NAMES)
    write(X, "wide.parquet", NAMES, id=np.arange(len(X)))
    write(X, "short.parquet", NAMES[:2], id=np.arange(len(X)))
    return tmp_path


@pytest.fixture
def model(run, place):
    assert run("fit", "mine.parquet", "-r", 2, "-o", "model").exit_code == 0
    return place / "model"


def write(X, path, names, **others):
    columns = {name: X[:, NAMES.index(name)] for name in names}
    pq.write_table(pa.table({**others, **columns}), path)


def transformed(run, *words):
    result = run("transform", "model", *words, "-o", "out.parquet", "--force")
    assert (result.exit_code, result.stderr) == (0, "")
    table = pq.read_table("out.parquet")
    return np.stack(table.column("vector").to_numpy(zero_copy_only=False)), table.column_names


def test_a_fit_to_columns_keeps_their_names(run, model):
    assert list(SphericalPCA.load(model).feature_names_in_) == NAMES
    assert "feature_names           yes" in run("info", model).stdout
    run("choose", "mine.parquet", "--k", 1, "--queries", 9, "-o", "chosen")
    assert list(SphericalPCA.load("chosen").feature_names_in_) == NAMES


@pytest.mark.parametrize(
    ("names", "others"),
    [("dcba", {}), ("bcda", {"id": np.arange(60)}), ("acbd", {"title": ["t"] * 60})],
)
def test_the_order_of_columns_in_a_file_changes_nothing(run, X, model, names, others):
    expected = SphericalPCA.load(model)._U.T @ X.T
    expected = (expected / np.linalg.norm(expected, axis=0)).T
    write(X, "theirs.parquet", names, **others)
    V, columns = transformed(run, "theirs.parquet")
    np.testing.assert_allclose(V, expected, atol=1e-6)
    assert set(columns) == {"vector", *others}
    if not others:
        V, _ = transformed(run, "mine.parquet", "theirs.parquet")
        np.testing.assert_array_equal(V[:60], V[60:])


def test_rows_without_names_are_taken_as_they_are_and_columns_may_be_named(run, X, model):
    lists = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 4)
    pq.write_table(pa.table({"v": lists, "id": np.arange(60)}), "lists.parquet")
    expected, _ = transformed(run, "mine.parquet")
    for file in ("x.npy", "lists.parquet"):
        np.testing.assert_allclose(transformed(run, file)[0], expected, atol=1e-6)
    for options in ([], ["--columns", "a,b,c,d"], ["--columns", "[a-d]"]):
        V, columns = transformed(run, "wide.parquet", *options)
        np.testing.assert_allclose(V, expected, atol=1e-6)
        assert columns == ["id", "vector"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("mine.parquet --columns d,c,b,a", "with 'd' as column 0, where the model has 'a'"),
        ("mine.parquet --columns a,b,d,c", "with 'd' as column 2, where the model has 'c'"),
        ("mine.parquet --columns a,b", "without column 'c', which the model was fitted to"),
        ("wide.parquet --columns *", "with column 'id', which the model was not fitted to"),
        ("short.parquet", "has no column 'c', which the model was fitted to: it has 'id', 'a'"),
        ("text.parquet", "type string, but must hold numbers: the model was fitted to it"),
    ],
)
def test_other_columns_are_refused_in_one_line(run, model, words, line):
    pq.write_table(pa.table({**dict.fromkeys(NAMES, np.ones(9)), "b": ["x"] * 9}), "text.parquet")
    before = sorted(model.parent.iterdir())
    for command in (["transform", "-o", "out.parquet"], ["evaluate"]):
        result = run(*command, "model", *words.split())
        assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
        assert line in result.stderr
        assert result.stderr.startswith("Error: ")
        assert "--columns" not in words or result.stderr.endswith("leave out --columns.\n")
    assert sorted(model.parent.iterdir()) == before


def test_an_evaluation_finds_the_columns_and_says_nothing_of_names(run, X, model):
    write(X, "theirs.parquet", NAMES[::-1], id=np.arange(60))
    SphericalPCA(2, random_state=0).fit(X).save("bare")
    told = [
        run("evaluate", *words.split(), "--json", "--at", "1,3", "--queries", 9)
        for words in (
            "model mine.parquet",
            "model theirs.parquet",
            "model x.npy",
            "bare mine.parquet",
        )
    ]
    assert {(result.exit_code, result.stderr) for result in told} == {(0, "")}
    found = [json.loads(result.stdout) for result in told]
    assert len({tuple(row["recall"] for row in facts["rows"]) for facts in found}) == 1
    np.testing.assert_allclose([facts["drift"]["now"] for facts in found], found[0]["drift"]["now"])


def test_names_that_look_like_patterns_are_names(run, X, place):
    names = ["x*", "x1", "[a]", "a"]
    table = pa.table(dict(zip(names, X.T, strict=True)))
    pq.write_table(table, "odd.parquet")
    pq.write_table(table.select(names[::-1]), "theirs.parquet")
    assert run("fit", "odd.parquet", "-r", 2, "-o", "model").exit_code == 0
    expected, _ = transformed(run, "odd.parquet")
    np.testing.assert_array_equal(transformed(run, "theirs.parquet")[0], expected)
    pq.write_table(table.drop_columns(["x*"]), "theirs.parquet")
    assert "has no column 'x*'" in run("transform", "model", "theirs.parquet", "-o", "v.npy").stderr
