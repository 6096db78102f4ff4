"""No command destroys what it reads, nor one of its results with another."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from sphericalpca.cli.outputs import not_left_empty


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
    assert "is read by this command: choose another" in result.stderr
    assert _content(folder) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes that have names")
@pytest.mark.parametrize(
    "words",
    [
        *("fit none.npy -r 3 -o", "fit none.npy -r 3 -o new --checkpoint", "choose none.npy -o"),
        *("transform none none.npy -o", "export none --to json -o"),
    ],
)
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_devices_and_pipes_are_refused_before_anything_is_read(run, folder, words, force):
    os.mkfifo("pipe")
    result = run(*words.split(), "pipe", *force)
    assert result.exit_code == 1
    assert result.stderr.endswith("pipe is a device, pipe or socket: choose the name of a file.\n")
    assert (folder / "pipe").is_fifo()


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
    assert "are the same file" in result.stderr
    assert _content(folder) == before


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("fit rows.npy -r 3 -o -", "- is not the name of a file"),
        ("transform model.safetensors rows.npy -o -", "- is not the name of a file"),
        ("fit rows.npy -r 3 -o new --checkpoint -", "- is not the name of a file"),
        ("fit rows.npy -r 3 -o new --checkpoint no/c", "The folder no does not exist: create it"),
        (
            "export model.safetensors --to sentence-transformers -o .",
            ". is a folder, but must be a new name",
        ),
        (
            "export model.safetensors --to sentence-transformers -o ..",
            ".. is a folder, but must be a new name",
        ),
    ],
)
def test_names_that_no_output_has(run, folder, words, line):
    before = _content(folder)
    result = run(*words.split(), "--force")
    assert result.exit_code == 1
    assert line in result.stderr
    assert result.stderr.count("\n") == 1
    assert _content(folder) == before


@pytest.mark.parametrize(
    "words",
    [
        "fit rows.npy -r 3 -o DENIED/new",
        "transform model.safetensors rows.npy -o DENIED/v.npy",
        "export model.safetensors --to json -o DENIED/m.json",
        "evaluate model.safetensors rows.npy --at 1 --out DENIED",
        "evaluate model.safetensors rows.npy --at 1 --out DENIED/new/folder",
        "demo --out DENIED",
        "demo --out DENIED/new",
    ],
)
def test_where_nobody_may_write_is_told_before_the_work(run, folder, monkeypatch, words):
    (folder / "DENIED").mkdir()

    def denied(path):
        assert path.parent == Path("DENIED")
        raise PermissionError(13, "Permission denied", str(path))

    def work(*_args, **_options):
        raise AssertionError("The work has begun.")

    monkeypatch.setattr("sphericalpca.cli.outputs.check_writable", denied)
    for name in ("SphericalPCA.fit", "SphericalPCA.transform", "evaluation.evaluate"):
        monkeypatch.setattr(f"sphericalpca.{name}", work)
    result = run(*words.split())
    assert result.exit_code == 1
    assert "cannot be written (Permission denied): free some space, get write" in result.stderr
    assert result.stderr.startswith(f"Error: {words.split()[-1]} ")


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


def test_only_folders_that_were_made_and_stayed_empty_go(tmp_path):
    there, new = tmp_path / "there", tmp_path / "there" / "new" / "folder"
    there.mkdir()
    with not_left_empty(new):
        new.mkdir(parents=True)
    assert list(tmp_path.rglob("*")) == [there]
    with not_left_empty(there), not_left_empty(new):
        new.mkdir(parents=True)
        (new.parent / "file").touch()
    assert sorted(tmp_path.rglob("*")) == [there, new.parent, new.parent / "file"]
    with not_left_empty(tmp_path / "never made"):
        pass
