"""No command destroys what it reads, nor one of its results with another."""

from __future__ import annotations

import sys

import numpy as np
import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch, run):
    """A folder with rows and a model."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((70, 8)).astype(np.float32)
    np.save("rows.npy", X)
    assert run("fit", "rows.npy", "-r", 3, "-o", "model.safetensors").exit_code == 0
    (tmp_path / "link.npy").symlink_to("rows.npy")
    return tmp_path


def _content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    "words",
    [
        "transform model.safetensors rows.npy -o rows.npy",
        "transform model.safetensors link.npy -o rows.npy",
        "transform model.safetensors r*.npy -o rows.npy",
        "export model.safetensors --to json -o model.safetensors",
        "choose rows.npy --k 2 --queries 9 --plot rows.npy",
        "choose r*.npy --k 2 --queries 9 --plot rows.npy",
    ],
)
def test_what_is_read_is_not_overwritten_even_by_force(run, folder, words):
    before = _content(folder)
    result = run(*words.split(), "--force")
    assert result.exit_code == 1
    assert "is what is read here: choose another name" in result.stderr
    assert _content(folder) == before


@pytest.mark.parametrize("command", ["fit rows.npy -r 3", "choose rows.npy --k 2 --queries 9"])
@pytest.mark.parametrize("name", ["rows.npy", "new.npy", "new.PARQUET", "new.pkl", "new.onnx"])
def test_a_model_has_no_name_of_something_else(run, folder, command, name):
    before = _content(folder)
    result = run(*command.split(), "-o", name, "--force")
    assert result.exit_code == 1
    assert name.split(".", maxsplit=1)[0] + ".safetensors" in result.stderr
    assert _content(folder) == before


@pytest.mark.parametrize(
    "words",
    [
        "fit rows.npy -r 3 -o new --checkpoint new",
        "fit rows.npy -r 3 -o new --checkpoint ./new",
        "choose rows.npy --k 2 --queries 9 -o new --plot new",
    ],
)
def test_one_file_has_one_role(run, folder, words):
    before = _content(folder)
    result = run(*words.split(), "--force")
    assert result.exit_code == 2
    assert "name one file" in result.stderr
    assert _content(folder) == before


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("fit rows.npy -r 3 -o new", "safetensors.numpy"),
        ("choose rows.npy --k 2 --queries 9 -o new", "safetensors.numpy"),
        ("choose rows.npy --k 2 --queries 9 --plot new.png", "matplotlib"),
    ],
)
def test_a_missing_package_is_told_before_the_work(run, folder, monkeypatch, words, missing):
    def work(*_args, **_options):
        raise AssertionError("The work has begun.")

    monkeypatch.setattr("sphericalpca.SphericalPCA.fit", work)
    monkeypatch.setattr("sphericalpca.dimensions.choose_components", work)
    monkeypatch.setitem(sys.modules, missing, None)
    result = run(*words.split())
    assert result.exit_code == 1
    assert "which is not installed: pip install" in result.stderr
