"""A short soak test, whose verdict detects leaks."""

from __future__ import annotations

import csv
import os
import subprocess
import sys

import numpy as np
import pytest

from reliability import soak as soaking


@pytest.mark.slow("experiment")
@pytest.mark.parametrize("task", soaking.TASKS, ids=lambda task: task.__name__.strip("_"))
def test_every_task_can_be_done(task, tmp_path):
    task(np.random.default_rng(0), tmp_path)


SHORT = """
import sys
from reliability import soak
soak.LOOK_EVERY, soak.FLAT = 8, 1.0  # a few tasks only warm up
sys.exit(soak.main(["--minutes", "0.005", "--out", sys.argv[1]]))
"""


@pytest.mark.slow("experiment")
def test_it_runs_and_writes_its_rows(tmp_path):
    """In a separate process: clusters of other tests open files and start threads here."""
    done = subprocess.run(
        [sys.executable, "-c", SHORT, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with (tmp_path / "soak.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["rounds"]) for row in rows] == [8 * (k + 1) for k in range(len(rows))]
    assert "files +0, threads +0" in done.stdout


def looks(memory, files=None, threads=None):
    count = len(memory)
    columns = (memory, files or [6] * count, threads or [1] * count)
    names = ("memory_kb", "files", "threads")
    return [dict(zip(names, line, strict=True)) for line in zip(*columns, strict=True)]


def test_what_grows_is_noticed_and_warming_up_is_not():
    flat = [1000] * 40
    assert soaking.verdict(looks(flat)) == {"memory": 0, "files": 0, "threads": 0}
    assert soaking.verdict(looks([500] * 4 + flat[4:]))["memory"] == 0
    leak = [1000 + 10 * k for k in range(40)]
    assert soaking.verdict(looks(leak))["memory"] > soaking.FLAT
    assert soaking.verdict(looks(flat, files=list(range(40))))["files"] > 30
    assert soaking.verdict(looks(flat, threads=[1] * 30 + [2] * 10))["threads"] == 1
