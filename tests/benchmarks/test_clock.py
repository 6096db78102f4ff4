"""What is timed: not the warm-up, and slow actions once."""

from __future__ import annotations

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
