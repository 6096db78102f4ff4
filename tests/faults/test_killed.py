"""Kill -9 while commands run; `python -m reliability.kill` does it many times more."""

from __future__ import annotations

import os

import pytest

from reliability.kill import VICTIMS, inputs, kill_rounds

pytestmark = [
    pytest.mark.slow("killed process"),
    pytest.mark.skipif(os.name == "nt", reason="signals of Unix"),
]


@pytest.mark.parametrize("command", ["fit", "transform", "export to a folder"])
def test_nothing_is_lost_or_left(command, tmp_path):
    pytest.importorskip("safetensors")
    inputs(tmp_path, rows=30_000)
    counts = kill_rounds(VICTIMS[command], tmp_path, rounds=2, seed=os.getpid())
    faults = [what for what in counts if what.startswith("fault")]
    assert faults == []
    assert counts["killed"] + counts["done"] == 2
