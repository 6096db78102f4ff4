"""The soak in small, and that its verdict notices what it is there to notice."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from reliability import soak as soaking


@pytest.mark.parametrize("task", soaking.TASKS, ids=lambda task: task.__name__.strip("_"))
def test_every_task_can_be_done(task, tmp_path):
    task(np.random.default_rng(0), tmp_path)


def test_it_runs_and_writes_its_rows(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(soaking, "LOOK_EVERY", 8)
    monkeypatch.setattr(soaking, "FLAT", 1.0)  # a few tasks only warm up
    assert soaking.main(["--minutes", "0.005", "--out", str(tmp_path)]) == 0
    with (tmp_path / "soak.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["rounds"]) for row in rows] == [8 * (k + 1) for k in range(len(rows))]
    assert "files +0, threads +0" in capsys.readouterr().out


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
