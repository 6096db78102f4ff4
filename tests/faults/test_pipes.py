"""Where a file should be there is a pipe, at whose other end nobody ever writes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("click")

from paper.datasets.registry import DATASETS

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


@pytest.mark.parametrize("pipe", COMMANDS)
def test_nobody_waits_for_a_pipe(pipe, tmp_path):
    np.save(tmp_path / "vectors.npy", np.random.default_rng(0).standard_normal((40, 4)))
    (tmp_path / pipe).parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / pipe)
    arguments = COMMANDS[pipe].replace("PIPE", pipe).split()
    done = run(arguments, tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    *progress, message = done.stderr.strip().splitlines()
    assert "pipe" in message.replace(pipe, "")
    assert not progress or pipe == "out/solvers.csv"


def test_a_pipe_among_the_data_files_is_told_as_damage(tmp_path):
    os.mkfifo(tmp_path / GLASS)
    done = run(["datasets", "check", "--data-home", "."], tmp_path)
    assert "cannot be read: It is a device, pipe or socket" in " ".join(done.stdout.split())
    done = run(["reproduce", "uci", "--quick", "--data-home", ".", "--out", "out"], tmp_path)
    assert "damaged ones, for glass" in done.stderr


def run(arguments, folder: Path):
    program = "paper" if arguments[0] in ("reproduce", "datasets") else "sphericalpca"
    return subprocess.run(
        [sys.executable, "-m", program, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
