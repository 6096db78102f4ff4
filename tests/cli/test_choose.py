"""`sphericalpca choose`: the number, the curve, the model and the picture."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sphericalpca import SphericalPCA, choose_components
from sphericalpca.dimensions import CurvePoint

pytest.importorskip("safetensors")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "digits [1].npy"
    np.save(path, load_digits().data.astype(np.float32))
    return path


@pytest.fixture(autouse=True)
def _arrays(monkeypatch):
    """These tests are about choosing: files of other kinds are tested elsewhere."""
    monkeypatch.setattr(
        "sphericalpca.cli.choose.open_files", lambda files, options: np.load(files[0])
    )


OPTIONS = ("--recall", 0.7, "--k", 5, "--queries", 100)


def test_table_sentence_and_json(run, file):
    result = run("choose", file, *OPTIONS)
    choice = choose_components(np.load(file), recall=0.7, k=5, queries=100, random_state=0)
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[-1] == str(choice)
    code, marked = [line for line in lines if line.startswith("*")]
    assert code.split()[2] == "codes", "bytes come first"
    assert marked.split()[1] == str(choice.n_components)
    assert [line.split()[1] for line in lines if " float" in line] == ["float16", "float32"]
    interval = re.search(r"0\.\d+ to 0\.\d+", marked)[0]
    assert f"(95% interval {interval}, " in lines[-1], "the same digits everywhere"
    assert lines[-1].endswith("The target 0.7 is reached by the lower end of the interval.")
    assert CurvePoint(8, 0.95, 0.89999, 0.97, 0.5, 32, 32).interval == "0.899 to 0.970"
    told = json.loads(run("choose", file, *OPTIONS, "--json").stdout)
    assert told["reached"] is True
    assert told["bytes"]["n_bytes"] == int(code.split()[1])
    chosen = next(p for p in told["curve"] if p["n_components"] == told["n_components"])
    assert chosen["low"] >= 0.7


def test_model_and_picture(run, file, tmp_path):
    model, picture = tmp_path / "model [2].safetensors", tmp_path / "curve.png"
    result = run("choose", file, *OPTIONS, "-o", model, "--plot", picture, "--json")
    assert result.exit_code == 0
    loaded = SphericalPCA.load(model)
    r = json.loads(result.stdout)["n_components"]
    assert loaded.transform(np.load(file)).shape[1] == loaded.n_components_ == r
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".tmp"]
    result = run("choose", file, *OPTIONS, "-o", model, "--quiet", "--force")
    assert result.stdout.splitlines()[-1] == (
        f"{model}: {r} components, fitted to the 1,697 rows that were not held out as queries."
    )
    assert result.stderr == ""
    told = " ".join(run("choose", "--help").stdout.split())
    assert "Model file to write, fitted without the queries." in told
    assert "The model that -o saves is not fitted to the held-out rows." in told


@pytest.mark.parametrize(
    ("name", "what"),
    [("c.bmp", "the suffix '.bmp'"), ("curve", "no suffix"), (".pdf", "no suffix")],
)
def test_other_pictures_are_refused_before_the_work(run, tmp_path, name, what):
    picture = tmp_path / name
    result = run("choose", tmp_path / "is not there.npy", *OPTIONS, "--plot", picture)
    assert result.exit_code == 1
    assert result.stderr == (
        f"Error: {picture} has {what}, but pictures are written to .png, .pdf, .svg: choose one "
        "of these.\n"
    )
    assert not picture.exists()


@pytest.mark.parametrize(("option", "name"), [("-o", "there"), ("--plot", "there.png")])
def test_nothing_is_overwritten_without_force(run, file, tmp_path, option, name):
    there = tmp_path / name
    there.write_text("precious")
    result = run("choose", file, *OPTIONS, option, there)
    assert result.exit_code == 1
    assert result.stderr == (f"Error: {there} exists: choose another name, or pass --force.\n")
    assert there.read_text() == "precious"
    assert run("choose", file, *OPTIONS, option, there, "--force").exit_code == 0
    assert there.read_bytes() != b"precious"
    result = run("choose", file, option, tmp_path / "no" / name)
    assert result.exit_code == 1
    assert "does not exist: create it first." in result.stderr


def test_remedies_are_those_that_would_change_something(run, file):
    out_of_reach = ["choose", file, "--recall", 0.999, "--k", 5]
    told = run(*out_of_reach, "--queries", 359, "--largest", 5).stderr
    assert told.endswith("used: raise --largest or lower --recall.\n")
    told = run(*out_of_reach, "--queries", 358, "--largest", 5).stderr
    assert told.endswith("raise --largest or raise --queries or lower --recall.\n")
    lines = run(*out_of_reach, "--queries", 10_000, "--largest", 64).stderr.splitlines()
    cut, codes, told = lines
    assert codes.startswith("Warning: 61 bytes keep "), "three pixels are always zero"
    assert cut == "--queries 10000 was cut to 359: at most a fifth of the rows is held out."
    assert told.endswith("used: pass more rows or lower --recall.")


def test_warnings_are_told_by_options_that_there_are(run, tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 5))
    X[:5] = 0
    np.save(tmp_path / "rows.npy", X)
    options = ("--recall", 0.1, "--k", 2, "--queries", 10, "--largest", 2)
    result = run("choose", tmp_path / "rows.npy", *options, "--tol", 1e-30)
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    assert "Warning: 5 of 60 rows have no direction and took no part in the fit." in lines
    told = next(line for line in lines if "iterations" in line)
    assert "max_iter" not in told
    assert told.endswith("raise --tol.")


@pytest.mark.parametrize(
    "bad", ["--recall 1", "--recall 0", "--k 0", "--queries x", "--queries 1", "--tol -1"]
)
def test_usage(run, bad):
    result = run("choose", "rows.npy", *bad.split())
    assert result.exit_code == 2
    assert bad.split()[0] in result.stderr
