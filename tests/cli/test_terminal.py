"""What a terminal, a disk or a shell does to the program ends in one clear line."""

import os
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest

from sphericalpca import SphericalPCA
from sphericalpca.cli.app import COMMANDS
from sphericalpca.cli.console import Number
from sphericalpca.registry import resolve

ESCAPE = "m\x1b[31m"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((60, 5))
    np.save("rows.npy", X)
    SphericalPCA(2).fit(X).save("model.safetensors")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["fit", "rows.npy", "-r", "2", "-o", ESCAPE],
        ["fit", "rows.npy", "-r", "2", "-o", f"folder-{ESCAPE}"],
        ["--debug", "fit", "rows.npy", "-r", "2", "-o", f"{ESCAPE}/model"],
        ["fit", "rows.npy", "-r", ESCAPE, "-o", "m"],
        ["transform", "model.safetensors", "rows.npy", "-o", f"{ESCAPE}.npy"],
        ["export", "model.safetensors", "--to", "json", "-o", f"{ESCAPE}.json"],
        ["choose", "rows.npy", "--k", "2", "--recall", "0.3", "-o", ESCAPE],
        ["info", "model.safetensors", ESCAPE],
        [ESCAPE],
        ["fit", f"--{ESCAPE}"],
    ],
    ids=lambda words: " ".join(words).replace("\x1b", "ESC"),
)
def test_no_name_commands_the_terminal(run, folder, words):
    (folder / f"folder-{ESCAPE}").mkdir()
    result = run(*words)
    assert "\x1b" not in result.output
    assert r"m\x1b[31m" in result.output


@pytest.mark.parametrize("text", ["nan", "inf", "-inf"])
def test_numbers_that_are_none_are_refused_by_the_name_of_the_option(run, text):
    for name, place in COMMANDS.items():
        command = resolve(place)
        for option in command.params:
            if isinstance(option.type, Number):
                assert isinstance(option, click.Option)
                result = run(name, option.opts[0], text)
                assert result.exit_code == 2
                assert f"Error: Invalid value for '{option.opts[0]}': " in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    ("words", "unbuffered"), [("info model.safetensors", ""), ("--version", "1")]
)
def test_a_full_stdout_is_named(folder, words, unbuffered):
    source = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "PYTHONPATH": source, "PYTHONUNBUFFERED": unbuffered}
    program = [sys.executable, "-m", "sphericalpca", *words.split()]
    with Path("/dev/full").open("w") as full:
        options = {"stdout": full, "stderr": subprocess.PIPE, "text": True}
        found = subprocess.run(program, env=environment, check=False, **options)
    assert found.returncode == 1
    assert found.stderr == (
        "Error: Cannot write to stdout (No space left on device): free some space, or redirect the "
        "output elsewhere.\n"
    )


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps folders in which somebody is")
@pytest.mark.parametrize("words", ["fit {0}/rows.npy -r 2 -o new", "demo --out new"])
def test_a_working_folder_that_was_removed_is_named(run, folder, monkeypatch, words):
    lost = folder / "lost"
    lost.mkdir()
    monkeypatch.chdir(lost)
    lost.rmdir()
    result = run(*words.format(folder).split())
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: The current folder no longer exists, so 'new")
    assert result.stderr.endswith("change to a folder that exists.\n")
    with pytest.raises(FileNotFoundError, match="The current folder no longer exists"):
        SphericalPCA(2).fit(np.eye(5)).save("new")
