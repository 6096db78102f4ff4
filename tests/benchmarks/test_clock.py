"""Rounds alternate, slow actions run once, and the collector is as it was."""

from __future__ import annotations

import gc
from types import SimpleNamespace

import pytest

from benchmarks import clock


class Watch:
    """A clock that only moves when an action says how long it takes."""

    def __init__(self):
        self.now = 0.0
        self.calls = []

    def wait(self, seconds):
        self.now += seconds

    def action(self, name, *seconds):
        durations = iter(seconds)

        def act():
            self.calls.append(name)
            self.now += next(durations)
            return len(self.calls)

        return act


@pytest.fixture
def watch(monkeypatch):
    made = Watch()
    fake = SimpleNamespace(perf_counter=lambda: made.now, sleep=made.wait)
    monkeypatch.setattr(clock, "time", fake)
    return made


def test_everybody_has_one_turn_in_each_round(watch):
    actions = {name: watch.action(name, *[1.0] * 5) for name in "abc"}
    clock.race(actions, repeats=4)
    rounds = [watch.calls[i : i + 3] for i in range(0, 15, 3)]
    assert len(rounds) == 5
    assert all(sorted(one) == ["a", "b", "c"] for one in rounds)
    assert len({one[0] for one in rounds[1:]}) == 3  # nobody always goes first


def test_the_warm_up_does_not_count_and_the_last_answer_is_kept(watch):
    actions = {"a": watch.action("a", 50.0, 1.0, 2.0, 6.0), "b": watch.action("b", 9, 4, 4, 4)}
    outcomes = clock.race(actions, repeats=3)
    assert outcomes["a"].timing.rounds == (1.0, 2.0, 6.0)
    assert outcomes["a"].timing.median == 2.0
    assert outcomes["a"].timing.quartiles == (1.5, 4.0)
    assert outcomes["b"].timing.quartiles == (4.0, 4.0)
    assert max(outcome.answer for outcome in outcomes.values()) == 8


def test_a_slow_action_runs_once_and_its_time_is_kept(watch):
    actions = {"slow": watch.action("slow", 8.0), "fast": watch.action("fast", *[1.0] * 4)}
    outcomes = clock.race(actions, repeats=3, patience=5.0)
    assert watch.calls.count("slow") == 1
    assert outcomes["slow"].timing.rounds == (8.0,)
    assert len(outcomes["fast"].timing.rounds) == 3
    ours, theirs = clock.Timing((1.0, 2.0, 3.0)), clock.Timing((4.0, 4.0, 4.0))
    assert clock.ratio(ours, theirs) == (0.5, 0.375, 0.625)
    assert clock.ratio(ours, clock.Timing((8.0,))) == (0.25, 0.25, 0.25)


def test_the_collector_is_off_during_the_race_and_as_before_after_it():
    def act():
        assert not gc.isenabled()
        raise RuntimeError

    was_on = gc.isenabled()
    gc.enable()
    with pytest.raises(RuntimeError):
        clock.race({"a": act}, repeats=1)
    assert gc.isenabled()
    if not was_on:
        gc.disable()
