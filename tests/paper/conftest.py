"""Programs that tests start find this clone's `paper`, whatever folder they run in."""

from __future__ import annotations

import os
import sys

import pytest


@pytest.fixture(autouse=True)
def _paper_for_other_processes(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
