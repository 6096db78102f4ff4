"""A pipe in place of a file, without a writer at its other end."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

pytest.importorskip("click")

from click.testing import CliRunner

from paper.cli.app import app as paper
from paper.datasets.registry import DATASETS
from sphericalpca.cli.app import app as sphericalpca

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")

GLASS = DATASETS["glass"].file
COMMANDS = {
    "rows.npy": "fit PIPE -r 2 -o model.safetensors",
    "rows.parquet": "fit PIPE -r 2 -o model.safetensors",
    "model.safetensors": "info PIPE",
    "run.ckpt": "fit vectors.npy -r 2 -o new.safetensors --checkpoint PIPE",
    "out/rows.csv": "reproduce report --out out",
    "out/solvers.csv": "reproduce figures --quick --embedded --jobs 1 --out out",
}


def _waited(number, frame):
    raise TimeoutError("it waits for the pipe")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The program in this process, for a minute at most."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    before = signal.signal(signal.SIGALRM, _waited)
    signal.alarm(60)

    def call(command):
        app = paper if command.split()[0] in ("reproduce", "datasets") else sphericalpca
        return CliRunner().invoke(app, command.split())

    yield call
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("pipe", COMMANDS)
def test_nobody_waits_for_a_pipe(pipe, run, tmp_path):
    np.save(tmp_path / "vectors.npy", np.random.default_rng(0).standard_normal((40, 4)))
    (tmp_path / pipe).parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / pipe)
    done = run(COMMANDS[pipe].replace("PIPE", pipe))
    assert done.exit_code == 1, done.output
    *progress, message = done.stderr.strip().splitlines()
    assert "pipe" in message.replace(pipe, "")
    assert not progress or pipe == "out/solvers.csv"


def test_a_pipe_among_the_data_files_is_told_as_damage(run, tmp_path):
    os.mkfifo(tmp_path / GLASS)
    done = run("datasets check --data-home .")
    assert "cannot be read: It is a device, pipe or socket" in " ".join(done.stdout.split())
    done = run("reproduce uci --quick --data-home . --out out")
    assert "damaged ones, for glass" in done.stderr
