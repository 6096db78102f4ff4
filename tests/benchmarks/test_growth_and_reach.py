"""Exponents of exact power laws, verdicts, and what a goal's row says."""

from __future__ import annotations

import dataclasses
import math

import pytest

from benchmarks import alone, generated, goals, growth, memory, reach, textgoals
from benchmarks.contest import Effort
from benchmarks.goals import GoalMeasurement, Setting
from benchmarks.peers import TRUNCATED_SVD
from benchmarks.reach import GOALS, Goal


@pytest.mark.parametrize("power", [-0.5, 0.0, 2.5])
def test_the_exponent_of_a_power_law_is_recovered(power):
    sizes = [3.0, 10.0, 40.0, 100.0]
    fitted = growth.fit_exponent(sizes, [0.25 * size**power for size in sizes])
    assert fitted.power == pytest.approx(power, abs=1e-12)
    assert fitted.factor == pytest.approx(0.25)
    assert fitted.error == pytest.approx(0.0, abs=1e-9)


def test_growth_has_a_row_for_each_size_and_method():
    axis = growth.Axis("n", "rows", lambda n: (generated.spiked(n, 20), 3), (60, 120))
    rows = growth.grow(axis, Effort(1), axis.sizes)
    assert [(row["size"], row["n"]) for row in rows] == [(60, 60)] * 2 + [(120, 120)] * 2
    assert {row["method"] for row in rows} == {"ours", "TruncatedSVD"}
    assert all(row["residual"] <= 1.05e-4 for row in rows if row["method"] == "ours")
    assert math.isnan(growth.fit_exponent([1, 2], [1, 2]).error)


@pytest.mark.parametrize(
    ("measured", "at_least", "expected"),
    [
        (2.0, False, "met"),
        (3.0, False, "missed by 50 %"),
        (2.001, False, "missed by 1 %"),
        (2.0, True, "met"),
        (1.6, True, "missed by 25 %"),
    ],
)
def test_verdicts(measured, at_least, expected):
    found = GoalMeasurement(measured)
    goal = Goal("g", "", 2.0, lambda _: found, at_least=at_least)
    assert reach.verdict(goal, found) == reach.reach(goal, Setting())["verdict"] == expected
    assert reach.reach(goal, Setting(quick=True))["verdict"] == "not judged"
    wrong = dataclasses.replace(goal, measure=lambda _: GoalMeasurement(measured, right=False))
    assert reach.reach(wrong, Setting(quick=True))["verdict"] == "wrong answer"


def test_goals_without_their_data_are_skipped_with_the_reason(no_data):
    goals.real._texts.cache_clear()
    goals.real.newsgroups_full.cache_clear()
    for name in ("minilm", "text20", "passes_small", "pymanopt"):
        row = reach.reach(GOALS[name], Setting())
        assert row["verdict"] == "skipped"
        assert "SPHERICALPCA_DATA_HOME" in row["note"]
    assert [name for name, goal in GOALS.items() if goal.at_least] == ["flop_rate"]
    for goal in GOALS.values():
        assert goal.wish is None or goal.wish < goal.limit


def test_goals_on_generated_data_run(small, monkeypatch):
    monkeypatch.setattr(goals, "QUICK_DENSE", (600, 40))
    setting = Setting(repeats=1, quick=True)
    found = goals.dense_against(setting, TRUNCATED_SVD)
    assert found.right
    assert found.measured == pytest.approx(found.ours / found.peer)
    assert 0 <= found.gap < 0.1
    assert goals.flop_rate(setting).measured > 0
    monkeypatch.setattr(goals, "fit_peaks", lambda *_: {"traced": 4e6, "resident": math.nan})
    assert goals.memory_of_fit(setting).measured == pytest.approx(1e6 / (600 * 64 + 40 * 40))
    monkeypatch.setattr(goals.real, "text_4000x2000", lambda: small)
    monkeypatch.setattr(goals, "QUICK_COMPONENTS", 3)
    found = goals.passes(setting, full=False)
    assert found.right
    assert found.measured == goals.fit_model(small, 3).n_passes_


def test_memory_of_a_fit_is_measured_in_a_process_of_its_own():
    peaks = memory.fit_peaks(3000, 40, 5)
    assert set(peaks) == {"traced", "resident"}
    assert 3000 * 4 < peaks["traced"] < 3000 * 40 * 8


@pytest.mark.slow("processes of their own")
def test_corners_are_fitted_alone_and_compared():
    setting = Setting(repeats=1, quick=True)
    for what in ("seconds", "resident"):
        found = textgoals.corner(setting, "hashed_zipf", what)
        assert found.measured > 0
        assert " against " in found.note
    for data in ("hashed", "wide_noise", "dense_row", "million"):
        assert min(alone.CORNERS[data](50).shape) > 100


def test_kernels_and_the_choice_of_a_solver_are_compared(small, monkeypatch):
    monkeypatch.setattr(textgoals.real, "newsgroups_full", lambda: small)
    monkeypatch.setattr(textgoals, "SHAPES", ((80, 9, 0, 2), (90, 40, 8, 3)))
    setting = Setting(repeats=1, quick=True)
    for found in (
        textgoals.pass_against_scipy(setting, 3),
        textgoals.text_without_kernels(setting, 3, 1e-3),
        textgoals.until_as_good(setting, 3),
    ):
        assert found.right
        assert found.measured > 0
    assert "is the best" in textgoals.choice(setting).note
