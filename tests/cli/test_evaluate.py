"""`sphericalpca evaluate`: sentences, rows and a page."""

from __future__ import annotations

import csv
import json
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sphericalpca import SphericalPCA, evaluate
from sphericalpca.cli.reading import open_files
from sphericalpca.evaluation.findings import findings

pytest.importorskip("safetensors")


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "digits.npy"
    np.save(path, load_digits().data.astype(np.float32))
    return path


@pytest.fixture
def model(data, tmp_path):
    path = tmp_path / "a<b>.safetensors"
    SphericalPCA(12).fit(np.load(data)).save(path)
    return path


@pytest.fixture(autouse=True)
def _arrays(monkeypatch):
    monkeypatch.setattr(
        "sphericalpca.cli.evaluate.open_files", lambda files, options, model: np.load(files[0])
    )


OPTIONS = ("--queries", 80, "--at", "1,10")


def test_everything_is_written_and_said(run, model, data, tmp_path):
    out = tmp_path / "out"
    result = run("evaluate", model, data, "--out", out, *OPTIONS)
    assert result.exit_code == 0
    assert result.stderr == ""
    found = evaluate(
        SphericalPCA.load(model), np.load(data), at=(1, 10), queries=80, random_state=0
    )
    lines = result.stdout.splitlines()
    assert lines[:-1] == [f"- {sentence}" for sentence in findings(found)]
    assert lines[-1] == f"The page: {out / 'evaluation.html'}"
    assert {path.name for path in out.iterdir()} == {
        "evaluation.html",
        "evaluation.json",
        "rows.csv",
    }
    with (out / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["recall"]) for row in rows] == [row.recall for row in found.rows]
    page = (out / "evaluation.html").read_text()
    assert "a&lt;b&gt;.safetensors" in page
    assert "digits.npy" in page


def test_json(run, model, data, tmp_path):
    result = run("evaluate", model, data, "--out", tmp_path / "out", *OPTIONS, "--json")
    told = json.loads(result.stdout)
    assert told == json.loads((tmp_path / "out" / "evaluation.json").read_text())
    assert told["n_components"] == 12
    assert told["drift"]["verdict"] == "none"


def test_nothing_is_overwritten_without_force(run, model, data, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "rows.csv").write_text("precious")
    result = run("evaluate", model, data, "--out", out, *OPTIONS)
    assert result.exit_code == 1
    assert "exists: choose another folder, or pass --force." in result.stderr
    assert [path.name for path in out.iterdir()] == ["rows.csv"]
    assert run("evaluate", model, data, "--out", out, *OPTIONS, "--force").exit_code == 0
    assert (out / "rows.csv").read_text() != "precious"


def test_drift_is_told(run, model, data, tmp_path):
    other = tmp_path / "other.npy"
    np.save(other, np.load(data)[:, ::-1])
    result = run("evaluate", model, other, "--out", tmp_path / "out", *OPTIONS)
    assert "these rows have drifted away from the model, fit it again." in result.stdout


def test_new_rows_without_structure_are_not_called_drift(run, tmp_path):
    rng = np.random.default_rng(0)
    then, now = (rng.standard_normal((400, 16)) for _ in range(2))
    SphericalPCA(4, tol=1e-3).fit(then).save(tmp_path / "flat.safetensors")
    np.save(tmp_path / "now.npy", now)
    words = (tmp_path / "flat.safetensors", tmp_path / "now.npy", "--out", tmp_path / "out")
    result = run("evaluate", *words, *OPTIONS)
    assert "no drift is shown, because a fit's own rows are ahead of new ones" in result.stdout
    assert "drifted away" not in result.stdout


def test_files_that_are_no_model(run, data, tmp_path):
    result = run("evaluate", data, data, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_rows_of_another_width(run, model, tmp_path, monkeypatch):
    monkeypatch.setattr("sphericalpca.cli.evaluate.open_files", open_files)
    np.save(tmp_path / "narrow.npy", np.ones((50, 5)))
    result = run("evaluate", model, tmp_path / "narrow.npy", "--out", tmp_path / "out")
    assert result.exit_code == 1
    told = "narrow.npy' has 5 columns, but the model was fitted on 64: pass vectors of the same"
    assert told in result.stderr
    assert not (tmp_path / "out").exists()


def test_queries_that_are_cut_are_told(run, model, data, tmp_path):
    words = ["evaluate", model, data, "--out", tmp_path / "out", "--at", 1]
    told = "--queries 10000 was cut to 359: at most a fifth of the rows is held out.\n"
    assert run(*words, "--queries", 10_000).stderr.endswith(told)
    assert "cut" not in run(*words, "--queries", 80, "--force").stderr


def test_fewer_neighbours_are_advised_where_they_would_do(run, model, data, tmp_path):
    np.save(tmp_path / "few.npy", np.load(data)[:40])
    words = ["evaluate", model, tmp_path / "few.npy", "--out", tmp_path / "out", "--at"]
    result = run(*words, "1,33")
    assert "look for --at 33 neighbours among the rest: pass at least 42 such rows" in result.stderr
    assert "or pass --at 32." in result.stderr
    assert run(*words, "1,32").exit_code == 0


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_what_the_page_needs_is_named_first(run, model, data, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    result = run("evaluate", model, data, "--out", data.parent / "out")
    assert result.exit_code == 1
    assert f"The page needs {package}" in result.stderr


def test_without_a_page_nothing_is_written_or_needed(run, model, data, tmp_path, monkeypatch):
    # Not pandas: old versions of scikit-learn look for it in sys.modules, and ask no more.
    for package in ("jinja2", "matplotlib"):
        monkeypatch.setitem(sys.modules, package, None)
    before = sorted(tmp_path.rglob("*"))
    result = run("evaluate", model, data, *OPTIONS)
    assert result.exit_code == 0
    found = evaluate(
        SphericalPCA.load(model), np.load(data), at=(1, 10), queries=80, random_state=0
    )
    assert result.stdout.rstrip("\n") == str(found)
    assert json.loads(run("evaluate", model, data, *OPTIONS, "--json").stdout) == found.to_dict()
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("bad", ["1,ten", "0", "10,-1", "1,,2", ""])
def test_usage(run, model, data, monkeypatch, bad):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = run("evaluate", model, data, "--out", data.parent / "out", "--at", bad)
    assert result.exit_code == 2
    assert f"{bad!r} must be positive integers, such as 1,10,100." in result.stderr


def test_a_wrong_name_is_told_before_what_the_page_needs(run, data, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = run("evaluate", tmp_path / "no", data, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "does not exist: check the name." in result.stderr
