"""From the command to the files: rows per case, pictures and page from the rows alone."""

from __future__ import annotations

import csv
import dataclasses
import math

import pytest

from benchmarks import __main__ as command
from benchmarks import compare, generated, plots, summary
from benchmarks.cases import CASES, Case
from benchmarks.contest import Effort
from benchmarks.goals import GoalMeasurement
from benchmarks.reach import GOALS
from benchmarks.table import ResultTable, number


def _read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def tiny(monkeypatch):
    """Two cases, two goals and an axis that take a moment."""
    spiked = Case("spiked", "tiny", lambda: generated.spiked(80, 15), (2, 3))
    cases = {"spiked": spiked, "minilm": CASES["minilm"]}
    goals = {
        name: dataclasses.replace(
            GOALS[name], measure=lambda _, found=found: GoalMeasurement(found)
        )
        for name, found in (("dense_svd", 0.1), ("flop_rate", 0.5))
    }
    draw = {"sizes": (40, 80), "draw": lambda n: (generated.spiked(n, 15), 2)}
    axes = {"n": dataclasses.replace(command.AXES["n"], **draw)}
    monkeypatch.setattr(command, "CAP", 0.05)
    for name, entries in {"CASES": cases, "GOALS": goals, "AXES": axes}.items():
        monkeypatch.setattr(command, name, entries)
    monkeypatch.setattr(
        command, "SUITES", {"reach": [*goals], "cases": [*cases], "growth": [*axes]}
    )


def test_a_run_leaves_rows_pictures_and_a_page(tiny, no_data, tmp_path, capsys):
    assert command.main(["all", "--repeats", "1", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "minilm: skipped, no newsgroups_minilm_f16.npz" in said
    files = {path.name for path in tmp_path.iterdir()}
    tables = {"rows.csv", "traces.csv", "reach.csv", "growth.csv"}
    assert files == tables | {"summary.md", "gap-spiked.png", "reach.png", "growth.png"}
    page = (tmp_path / "summary.md").read_text()
    assert "1 of the 2 goals that were judged are met" in page
    assert "minilm: skipped: no newsgroups_minilm_f16.npz in the data home" in page
    assert "| pymanopt, trust regions |" in page
    assert "missed by 80 %" in page
    assert str(tmp_path) not in page


def test_a_second_run_of_a_part_replaces_that_part_alone(tiny, no_data, tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "draw", lambda _: [])
    run = ["--repeats", "1", "--out", str(tmp_path)]
    command.main(["reach", *run])
    command.main(["cases", "--only", "spiked", *run])
    before = (tmp_path / "rows.csv").read_bytes()
    command.main(["reach", "--only", "dense_svd", *run])
    assert sorted(row["goal"] for row in _read(tmp_path / "reach.csv")) == [
        *("dense_svd", "flop_rate")
    ]
    assert (tmp_path / "rows.csv").read_bytes() == before
    page = (tmp_path / "summary.md").read_text()
    (tmp_path / "summary.md").unlink()
    monkeypatch.setattr(compare, "contest", None)  # a report runs nothing
    assert command.main(["report", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "summary.md").read_text() == page


def test_a_quick_run_is_marked_and_a_wrong_answer_fails_it(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "draw", lambda _: [])
    assert command.main(["reach", "--quick", "--out", str(tmp_path)]) == 0
    assert all("quick run" in row["made_with"] for row in _read(tmp_path / "reach.csv"))
    assert "it shows that all runs, and nothing else" in (tmp_path / "summary.md").read_text()
    wrong = GoalMeasurement(0.1, right=False)
    goal = dataclasses.replace(GOALS["dense_svd"], measure=lambda _: wrong)
    monkeypatch.setitem(command.GOALS, "dense_svd", goal)
    assert command.main(["reach", "--only", "dense_svd", "--out", str(tmp_path)]) == 1


def test_rows_have_residual_and_gaps_beside_every_time():
    case = Case("tiny", "", lambda: generated.clusters(120, 15, groups=3), (2,))
    rows, points = compare.compare(case, case.load(), 2, Effort(2, cap=0.05, patience=1.0))
    timed = [row for row in rows if "seconds" in row]
    assert {row["method"] for row in rows if row not in timed} == {"NMF"}
    for row in timed:
        assert row["quartile_1"] <= row["seconds"] <= row["quartile_3"]
        assert row["residual"] >= 0
        assert row["loss_gap"] >= 0
        assert row["certificate_gap"] >= 0
        assert row["ratio"] == pytest.approx(rows[0]["seconds"] / row["seconds"])
    ours = timed[0]
    assert ours["method"] == "ours"
    assert ours["note"] == ""
    assert {point["method"] for point in points} >= {"ours", "exact alternation"}
    assert "TruncatedSVD" not in {point["method"] for point in points}


def test_numbers_survive_the_table_and_one_of_other_columns_is_not_touched(tmp_path):
    assert plots.draw(tmp_path) == []
    assert summary.write(tmp_path).read_text().startswith("# Benchmark results")
    table = ResultTable(tmp_path / "t.csv", ("name", "x", "y"), ("name",))
    table.replace([{"name": "a", "x": 1 / 3, "y": math.nan}, {"name": "b", "x": 7}])
    table.add_missing([{"name": "a", "x": 5.0}, {"name": "c", "x": 2.0}])
    rows = {row["name"]: row for row in table.read()}
    assert number(rows["a"], "x") == pytest.approx(1 / 3, rel=1e-11)
    assert math.isnan(number(rows["a"], "y"))
    assert number(rows["c"], "x") == 2.0
    table.replace([{"name": "a", "x": 5.0}])
    assert [row["name"] for row in table.read()] == ["b", "c", "a"]
    before = table.path.read_bytes()
    with pytest.raises(ValueError, match="--out DIR"):
        ResultTable(table.path, ("a", "c"), ("a",)).replace([{"a": 3}])
    assert table.path.read_bytes() == before


@pytest.mark.parametrize(("loss", "verdict"), [(2.0001, "met"), (2.001, "missed")])
def test_the_page_judges_the_loss_against_alternation(tmp_path, loss, verdict):
    facts = {"case": "spiked", "about": "", "r": 2, "n": 9, "m": 9, "dtype": "float64"}
    losses = {"ours, given start": loss, "exact alternation": 2.0}
    rows = [{**facts, "method": method, "loss": value} for method, value in losses.items()]
    compare.rows_table(tmp_path).replace(rows)
    assert f"allowed is 1e-04: {verdict}." in summary.write(tmp_path).read_text()
