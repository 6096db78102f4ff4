"""The tables of groups are written from rows: every method has a line, and broken promises show."""

import csv
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = ROOT / "benchmarks" / "results"


@pytest.fixture
def comparison(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module("extensions.comparison")


def cells(table):
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


def test_every_method_has_a_line_and_ours_comes_first(comparison):
    lines = cells(comparison.groups_table(ROWS / "groups.csv"))
    with (ROWS / "groups.csv").open(newline="") as file:
        raced = {(row["data"], row["method"]) for row in csv.DictReader(file)}
    named = [(data, method.replace("**TextClusters**", "ours")) for data, method, *_ in lines]
    assert sorted(named) == sorted(raced)
    first = dict(reversed(named))
    assert set(first.values()) == {"ours"}
    assert all((line[3] == "") == ("TextClusters" in line[1]) for line in lines)


def test_a_broken_promise_shows(comparison, tmp_path):
    path = tmp_path / "reach.csv"
    path.write_text("goal,measured,limit,met,note\nfast,3,2,False,slow\nsmall,1,2,True,\n")
    found = cells(comparison.promises_table(path))
    assert found == [["fast", "2", "3", "**no**", "slow"], ["small", "2", "1", "yes", ""]]
