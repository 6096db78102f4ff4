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


def test_everything_is_written_and_said_and_nothing_overwritten(run, model, data, tmp_path):
    out = tmp_path / "out"
    result = run("evaluate", model, data, "--out", out, *OPTIONS)
    assert (result.exit_code, result.stderr) == (0, "")
    found = evaluate(
        SphericalPCA.load(model), np.load(data), at=(1, 10), queries=80, random_state=0
    )
    lines = result.stdout.splitlines()
    said = [f"- {sentence}" for sentence in findings(found)]
    assert lines[-len(said) - 1 : -1] == said
    assert lines[-1] == f"The page: {out / 'evaluation.html'}"
    names = {"evaluation.html", "evaluation.json", "rows.csv"}
    assert {path.name for path in out.iterdir()} == names
    with (out / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["recall"]) for row in rows] == [row.recall for row in found.rows]
    page = (out / "evaluation.html").read_text()
    assert "a&lt;b&gt;.safetensors" in page
    assert "digits.npy" in page
    for name in names - {"rows.csv"}:
        (out / name).unlink()
    (out / "rows.csv").write_text("precious")
    result = run("evaluate", model, data, "--out", out, *OPTIONS)
    assert result.exit_code == 1
    assert "exists: choose another folder, or pass --force." in result.stderr
    assert [path.name for path in out.iterdir()] == ["rows.csv"]
    told = json.loads(
        run("evaluate", model, data, "--out", out, *OPTIONS, "--force", "--json").stdout
    )
    assert told == json.loads((out / "evaluation.json").read_text())
    assert (told["n_components"], told["drift"]["verdict"]) == (12, "none")
    assert (out / "rows.csv").read_text() != "precious"


def test_drift_is_told_but_not_of_new_rows_without_structure(run, model, data, tmp_path):
    np.save(tmp_path / "other.npy", np.load(data)[:, ::-1])
    told = run("evaluate", model, tmp_path / "other.npy", *OPTIONS).stdout
    assert "so these rows have drifted away from the model: fit it again." in told
    rng = np.random.default_rng(0)
    then, now = (rng.standard_normal((400, 16)) for _ in range(2))
    SphericalPCA(4, tol=1e-3).fit(then).save(tmp_path / "flat.safetensors")
    np.save(tmp_path / "now.npy", now)
    told = run("evaluate", tmp_path / "flat.safetensors", tmp_path / "now.npy", *OPTIONS).stdout
    assert "no drift beyond the decrease of about" in told
    assert "drifted away" not in told


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("narrow.npy narrow.npy --out out", "has the suffix of a file of rows"),
        ("no narrow.npy --out out", "does not exist: check the name."),
        ("model narrow.npy", "narrow.npy' has 5 columns, but the model was fitted on 64: pass vec"),
        ("model few.npy --at 1,33", "look for --at 33 neighbours among the rest: pass at least 42"),
        ("model few.npy --at 1,33", "or pass --at 32."),
        ("model few.npy --at 1 --out out", "The page needs jinja2"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(run, model, monkeypatch, words, line):
    """And a wrong name before what the page needs."""
    monkeypatch.setattr("sphericalpca.cli.evaluate.open_files", open_files)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.chdir(model.parent)
    model.rename("model")
    np.save("narrow.npy", np.ones((50, 5)))
    np.save("few.npy", np.load("digits.npy")[:40])
    result = run("evaluate", *words.split())
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith("Error: ")
    assert line in result.stderr
    assert not (model.parent / "out").exists()


def test_queries_that_are_cut_are_told(run, model, data):
    told = "--queries 10000 was cut to 359: at most a fifth of the rows is held out.\n"
    assert run("evaluate", model, data, "--at", 1, "--queries", 10_000).stderr.endswith(told)
    assert "cut" not in run("evaluate", model, data, "--at", 1, "--queries", 80).stderr


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
    assert result.stdout.rstrip("\n").endswith(f"\n{found}")
    told = json.loads(run("evaluate", model, data, *OPTIONS, "--json").stdout)
    sizes = {(point["kind"], point["n_bytes"]) for point in told.pop("bytes")["curve"]}
    assert {("codes", 16), ("int8", 64), ("float16", 128), ("float32", 256)} <= sizes
    assert told == found.to_dict()
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("bad", ["1,ten", "0", "10,-1", "1,,2", ""])
def test_usage(run, bad):
    result = run("evaluate", "model", "rows.npy", "--at", bad)
    assert result.exit_code == 2
    assert f"{bad!r} must be positive integers, such as 1,10,100." in result.stderr
