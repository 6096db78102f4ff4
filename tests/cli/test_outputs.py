"""No command overwrites its input, nor one of its outputs with another."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from sphericalpca import SphericalPCA


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with rows and a model."""
    path = tmp_path_factory.mktemp("made")
    X = np.random.default_rng(0).standard_normal((70, 8)).astype(np.float32)
    np.save(path / "rows.npy", X)
    SphericalPCA(3).fit(X).save(path / "model.safetensors")
    return path


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.npy").symlink_to("rows.npy")
    return tmp_path


def _content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


READ = "is read by this command: choose another"
NO_NAME = "Cannot write to a pipe (-)"
CHOOSE = "choose rows.npy --k 2 --queries 9"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        # What is read.
        ("transform model.safetensors rows.npy -o rows.npy", READ),
        ("transform model.safetensors link.npy -o rows.npy", READ),
        ("transform model.safetensors r*.npy -o rows.npy", READ),
        ("export model.safetensors --to json -o model.safetensors", READ),
        (f"{CHOOSE} --plot rows.npy", READ),
        ("choose r*.npy --k 2 --queries 9 --plot rows.npy", READ),
        # Names of something else than a model.
        ("fit rows.npy -r 3 -o rows.npy", "rows.safetensors"),
        ("fit rows.npy -r 3 -o new.PARQUET", "new.safetensors"),
        ("fit rows.npy -r 3 -o new.pkl", "new.safetensors"),
        (f"{CHOOSE} -o new.npy", "new.safetensors"),
        (f"{CHOOSE} -o new.onnx", "new.safetensors"),
        # One file in two roles.
        ("fit rows.npy -r 3 -o new --checkpoint new", "are the same file"),
        ("fit rows.npy -r 3 -o new --checkpoint ./new", "are the same file"),
        (f"{CHOOSE} -o new --plot new", "are the same file"),
        # Names that no file has.
        ("fit rows.npy -r 3 -o -", NO_NAME),
        ("transform model.safetensors rows.npy -o -", NO_NAME),
        ("fit rows.npy -r 3 -o new --checkpoint -", NO_NAME),
        ("fit rows.npy -r 3 -o new --checkpoint no/c", "The folder no does not exist: create it"),
        (
            "export model.safetensors --to sentence-transformers -o .",
            ". is a folder, but a new name is",
        ),
        (
            "export model.safetensors --to sentence-transformers -o ..",
            "is a folder, but a new name is",
        ),
    ],
)
def test_an_output_that_cannot_be_is_refused_even_by_force(run, folder, words, line):
    before = _content(folder)
    result = run(*words.split(), "--force")
    assert result.exit_code == (2 if line == "are the same file" else 1)
    assert line in result.stderr
    assert result.exit_code == 2 or result.stderr.count("\n") == 1
    assert _content(folder) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes that have names")
@pytest.mark.parametrize(
    "words",
    [
        *("fit none.npy -r 3 --force -o", "fit none.npy -r 3 -o new --checkpoint"),
        *("choose none.npy -o", "transform none none.npy -o", "export none --force --to json -o"),
    ],
)
def test_devices_and_pipes_are_refused_before_anything_is_read(run, folder, words):
    os.mkfifo("pipe")
    result = run(*words.split(), "pipe")
    assert result.exit_code == 1
    assert result.stderr.endswith("pipe is a device, pipe or socket: choose the name of a file.\n")
    assert (folder / "pipe").is_fifo()


@pytest.fixture
def no_work(monkeypatch):
    def work(*_args, **_options):
        raise AssertionError("The work has begun.")

    for name in ("SphericalPCA.fit", "SphericalPCA.transform", "evaluation.evaluate"):
        monkeypatch.setattr(f"sphericalpca.{name}", work)
    monkeypatch.setattr("sphericalpca.dimensions.choose_components", work)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    "words",
    [
        "fit rows.npy -r 3 -o DENIED/new",
        "transform model.safetensors rows.npy -o DENIED/v.npy",
        "export model.safetensors --to json -o DENIED/m.json",
        "evaluate model.safetensors rows.npy --at 1 --out DENIED",
        "evaluate model.safetensors rows.npy --at 1 --out DENIED/new/folder",
        "demo --out DENIED/new",
    ],
)
def test_where_nobody_may_write_is_told_before_the_work(run, folder, monkeypatch, words):
    (folder / "DENIED").mkdir()

    def denied(path):
        assert path.parent == Path("DENIED")
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("sphericalpca.cli.outputs.check_writable", denied)
    result = run(*words.split())
    assert result.exit_code == 1
    assert "cannot be written (Permission denied): free some space, get write" in result.stderr
    assert result.stderr.startswith(f"Error: {words.split()[-1]} ")


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("fit rows.npy -r 3 -o new", "safetensors.numpy"),
        (f"{CHOOSE} -o new", "safetensors.numpy"),
        (f"{CHOOSE} --plot new.png", "matplotlib"),
    ],
)
def test_a_missing_package_is_told_before_the_work(run, folder, monkeypatch, words, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    result = run(*words.split())
    assert result.exit_code == 1
    assert "which is not installed: pip install" in result.stderr
