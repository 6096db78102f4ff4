"""Disks that are full, folders that may not be written, files that go away."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from reliability.kill import VICTIMS
from tests.faults.conftest import check_refusal, obey_permissions, run, start

pytest.importorskip("safetensors")
testing = pytest.importorskip("click.testing")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="limits and signals of Unix")

COMMANDS = ["fit", "transform", "export", "export to a folder"]


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@contextmanager
def _mounted(folder, options):
    """A separate file system, where that is allowed."""
    folder.mkdir()
    try:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("file systems may not be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def small_disk(tmp_path):
    """A file system with room for a few blocks."""
    with _mounted(tmp_path / "disk", "size=4k,nr_inodes=20") as folder:
        yield folder


@pytest.fixture
def read_only(tmp_path):
    with _mounted(tmp_path / "disk", "ro") as folder:
        yield folder


@pytest.fixture
def not_ours(tmp_path):
    """A folder that the program may not write to."""
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    touch = ["touch", str(folder / "probe")]
    quiet = {"stderr": subprocess.DEVNULL, "preexec_fn": obey_permissions}
    if subprocess.run(touch, check=False, **quiet).returncode == 0:
        pytest.skip("the superuser may write anywhere")
    return folder


@pytest.fixture
def run_here(monkeypatch):
    """The program in this process."""
    from sphericalpca.cli.app import app  # noqa: PLC0415

    def call(folder, *words):
        monkeypatch.chdir(folder)
        done = testing.CliRunner().invoke(app, [*map(str, words)], prog_name="sphericalpca")
        return SimpleNamespace(code=done.exit_code, lines=done.stderr.strip().splitlines())

    return call


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk(command, commands, small_disk, run_here):
    arguments, output = commands[command]
    done = run_here(small_disk, *arguments, "-o", output)
    check_refusal(done, "Error: ", f"{output}: No space left")
    assert names(small_disk) == []


@pytest.mark.parametrize("command", ["fit", "export to a folder"])
def test_a_file_that_may_not_grow(command, commands, tmp_path):
    arguments, output = commands[command]
    limited = run(tmp_path, *arguments, "-o", output, largest_file=1000)
    check_refusal(limited, "Error: ", f"{output}: File too large")
    assert names(tmp_path) == []


def test_what_was_there_before_is_not_lost(commands, tmp_path):
    arguments, output = commands["transform"]
    (tmp_path / output).write_text("precious")
    done = run(tmp_path, *arguments, "-o", output, "--force", largest_file=1000)
    check_refusal(done, "too large")
    assert names(tmp_path) == [output]
    assert (tmp_path / output).read_text() == "precious"


def test_a_full_disk_keeps_the_checkpoint(given, small_disk, tmp_path, run_here):
    """The model does not fit on the disk, but what was computed is not lost."""
    kept = tmp_path / "run.ckpt"
    arguments = ["fit", given / "rows.npy", "-r", 32, "--tol", 0.5, "--quiet", "--checkpoint", kept]
    check_refusal(run_here(small_disk, *arguments, "-o", "model.st"), "No space left")
    assert kept.exists()
    assert names(small_disk) == []
    assert run_here(tmp_path, *arguments, "-o", "model.st").code == 0
    assert not kept.exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_read_only_folder(command, commands, read_only, run_here):
    arguments, output = commands[command]
    done = run_here(read_only, *arguments, "-o", output)
    check_refusal(done, "Error: ", f"{output} cannot be written (Read-only file system): ")


def test_a_folder_that_may_not_be_written_is_told_of_before_the_work(given, not_ours):
    endless = ["fit", given / "rows.npy", "-r", 8, "--tol", 1e-30, "--max-iter", 10**9, "--quiet"]
    done = run(not_ours, *endless, "-o", "model.st")
    check_refusal(done, "Error: ", "model.st cannot be written (Permission denied): ")
    assert names(not_ours) == []


def test_a_file_that_is_cut_short_while_it_is_read(tmp_path):
    rows, kept = tmp_path / "rows.npy", tmp_path / "run.ckpt"
    np.save(rows, np.random.default_rng(0).standard_normal((150_000, 64), dtype=np.float32))
    arguments = ["fit", rows, "-r", 8, "--tol", 1e-30, "--max-iter", 100_000, "-o", "model.st"]
    process = start(tmp_path, *arguments, "--memory-budget", "2MB", "--checkpoint", kept)
    end = time.monotonic() + 60
    while not kept.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)
    os.truncate(rows, 5_000_000)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    last = err.strip().splitlines()[-1]
    assert last.startswith("Error: ")
    assert "rows.npy" in last
    assert not (tmp_path / "model.st").exists()
    assert kept.exists()


def test_a_reader_that_stops_listening(given):
    """``sphericalpca info model | head -1``: no traceback, as other programs of Unix."""
    command = f"{sys.executable} -m sphericalpca info {given / 'model.st'} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


# The experiments: a folder of rows, pictures and a page.

REPRODUCE = VICTIMS["reproduce"]


@pytest.mark.slow("experiment")
def test_reproduce_where_it_cannot_be_written(small_disk, not_ours):
    done = run(small_disk, *REPRODUCE.arguments.split(), program="paper")
    assert done.code == 1
    assert done.lines[-1].startswith("Error: ")
    assert "No space left" in done.lines[-1]
    assert names(small_disk) == []
    done = run(not_ours, *REPRODUCE.arguments.split(), program="paper")
    check_refusal(done, "Error: ", "out cannot be written (Permission denied): ")
    assert names(not_ours) == []


@pytest.mark.slow("experiment")
def test_reproduce_when_the_disk_fills_up_amid_the_rows(tmp_path):
    """The rows before stay, the torn one is measured again."""
    command, rows = REPRODUCE.arguments.split(), tmp_path / "out" / "rows.csv"
    assert run(tmp_path, *command, program="paper").code == 0
    wanted, whole = REPRODUCE.read(tmp_path, "out"), rows.read_text()
    kept = "".join(whole.splitlines(keepends=True)[: whole.count("\n") // 2])
    rows.write_text(kept)
    done = run(tmp_path, *command, program="paper", largest_file=len(kept) + 50)
    assert done.code == 1
    assert done.lines[-1].startswith("Error: ")
    assert "rows.csv: File too large" in done.lines[-1]
    assert rows.read_text().startswith(kept)
    assert run(tmp_path, *command, program="paper").code == 0
    assert REPRODUCE.read(tmp_path, "out") == wanted
