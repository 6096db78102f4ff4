"""Fits from files: warm and cold reads, and the page that shows the rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import outofcore
from benchmarks.outofcore import COLD_FIT, COLD_READ, fit_once, generate, read_once, shown

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.npy"
    generate(path, 3000)
    return path


def test_the_page_shows_the_rows_that_were_measured():
    rows = outofcore.outofcore_table(ROOT / "benchmarks" / "results").read()
    assert shown(rows) in (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")


@pytest.fixture
def drops(monkeypatch):
    """How often the file was dropped, wherever the temporary folder is."""
    found = []
    monkeypatch.setattr(outofcore, "drop", found.append)
    monkeypatch.setattr(outofcore, "cached_share", lambda path: 0.0)
    return found


def test_every_read_of_a_cold_fit_is_cold_and_its_answer_is_the_same(path, drops):
    warm = fit_once("open_rows", path)
    assert not drops
    cold = fit_once(COLD_FIT, path)
    assert len(drops) >= cold["passes"] + 1  # lengths are measured first
    assert (cold["passes"], cold["mean_cosine"]) == (warm["passes"], warm["mean_cosine"])
    assert cold["seconds"] > 0
    fit_once("open_rows", path)
    assert len(drops) <= cold["passes"] + 2


def test_a_bare_read_drops_the_file_and_a_folder_on_no_disk_is_refused(path, monkeypatch, drops):
    assert read_once(path)["seconds"] > 0
    assert drops == [path]
    monkeypatch.setattr(outofcore, "cached_share", lambda path: 1.0)
    with pytest.raises(OSError, match=r"100% of .*--folder"):
        read_once(path)


def test_ways_take_turns_and_are_compared_with_memory(path, monkeypatch):
    speed = {"memory": 1.0, COLD_FIT: 2.0, COLD_READ: 4.0}
    asked = []

    def measured(way, _):
        asked.append(way)
        return {"seconds": speed[way], "passes": 2.0, "memory": 5e6, "mean_cosine": 0.9}

    monkeypatch.setattr(outofcore, "_in_own_process", measured)
    rows = outofcore.compare(path, 100, 2, list(speed))
    assert asked == 2 * list(speed)
    assert [row["rate"] for row in rows] == [1.0, 0.5, 0.25]
    assert "| the file alone, cold disk | 0.00 million | 0.25 | 5 MB |" in shown(rows)
