"""The model of a pass on many machines: its laws, and the page that shows it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import scaling
from benchmarks.scaling import PLANS, ClusterPlan, Costs, fitted, predictions

COSTS = Costs(flops=50e9, reading=5e9, round_trip=0.02, per_worker=0.002)


def test_the_page_shows_what_the_rows_predict():
    page = Path(__file__).parents[2] / "docs" / "scaling.md"
    assert predictions(fitted()) in page.read_text(encoding="utf-8")


def test_costs_are_those_that_made_the_times(tmp_path, monkeypatch):
    """Rows that the model itself made give its numbers back."""
    flops, reading = 4.0 * 1000 * 10 * 5, 4.0 * 1000 * 10 * 3
    size = {"n": "1000", "m": "10", "r": "5", "passes": "3"}
    seconds = str(flops / 2 / COSTS.flops + 0.022)
    cluster = [
        {"workers": "1", "action": "nothing", "seconds": "0.02"},
        {"workers": "2", "action": "nothing", "seconds": "0.022"},
        {"workers": "2", "action": "workers", "seconds": seconds, **size},
    ]
    files = [
        {"way": "memory", **size, "seconds": "1.0"},
        {"way": "open_rows", **size, "seconds": str(1.0 + reading / COSTS.reading)},
    ]
    for name, rows in {"cluster_table": cluster, "outofcore_table": files}.items():
        table = SimpleNamespace(read=lambda rows=rows: rows)
        monkeypatch.setattr(scaling, name, lambda folder, table=table: table)
    found = fitted(tmp_path)
    assert found.flops == pytest.approx(COSTS.flops, rel=1e-6)
    assert found.reading == pytest.approx(COSTS.reading, rel=1e-6)
    assert (found.round_trip, found.per_worker) == pytest.approx((0.02, 0.002))


def test_files_that_cost_nothing_are_said_to_be_as_fast_as_memory(monkeypatch, capsys):
    row = {"n": "1000", "m": "10", "passes": "3", "seconds": "1.0"}
    assert scaling._reading(row, {**row, "seconds": "0.9"}) == math.inf
    for reading, words in ((math.inf, "files as fast as memory"), (5e9, "files at 5.0 GB/s")):
        costs = replace(COSTS, reading=reading)
        monkeypatch.setattr(scaling, "fitted", lambda costs=costs: costs)
        scaling.main()
        assert words in capsys.readouterr().out


def test_machines_share_the_work_and_not_the_rest():
    for plan in PLANS:
        twice = replace(plan, machines=2 * plan.machines)
        assert twice.compute(COSTS) == pytest.approx(plan.compute(COSTS) / 2)
        assert twice.overhead(COSTS) > plan.overhead(COSTS)
        assert twice.network() >= plan.network()
        assert 0 < plan.efficiency(COSTS) < 1
    assert ClusterPlan(1e7, 768, 64, 1).disk(COSTS) == 0  # these rows fit in memory
    large = ClusterPlan(1e9, 768, 64, 1)
    assert large.disk(COSTS) > large.compute(COSTS)
