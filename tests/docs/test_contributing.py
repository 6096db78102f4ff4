"""The table of CONTRIBUTING.md: everything it names exists, and no folder is missing."""

from __future__ import annotations

import re
from pathlib import Path

import sphericalpca

ROOT = Path(__file__).parents[2]
PACKAGE = Path(sphericalpca.__file__).parent  # perhaps from a wheel
ROWS = re.findall(r"^\| (.+?) \| (.+) \|$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M)[1:]
CHANGED = [name for changed, _ in ROWS for name in re.findall(r"`([^`]+)`", changed)]
NOT_CODE = {"py.typed", "__pycache__"}


def test_what_may_change_and_what_is_to_be_run_is_there():
    for name in CHANGED:
        assert (PACKAGE / name).exists() or (ROOT / name).exists(), name
    named = {name for _, run in ROWS for name in re.findall(r"tests/[\w/.*]+", run)}
    assert named
    for name in named:
        assert list(ROOT.glob(name)), name


def test_every_room_has_a_row():
    named = {name.split("/")[0] for name in CHANGED}
    rooms = {path.name for path in PACKAGE.iterdir()} - NOT_CODE
    assert rooms <= named
    assert {"benchmarks", "docs", "examples", "paper", "reliability"} <= named
