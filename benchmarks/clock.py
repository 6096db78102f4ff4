"""Timing in turns: warm-up, then rounds in which every action runs once."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

__all__ = ["TimedAnswer", "Timing", "race", "ratio"]

# After a product the threads of OpenBLAS spin for about 30 ms in case there is another; this
# should not slow down the next action.
SETTLE = 0.1


@dataclass(frozen=True)
class Timing:
    """Seconds of each round."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median of the rounds."""
        return float(np.median(self.rounds))

    @property
    def quartiles(self) -> tuple[float, float]:
        """The first and the third quartile of the rounds."""
        low, high = np.quantile(self.rounds, [0.25, 0.75])
        return float(low), float(high)


@dataclass(frozen=True)
class TimedAnswer:
    """The times of an action, and its last result."""

    timing: Timing
    answer: Any


def race(
    actions: Mapping[str, Callable[[], Any]], repeats: int, patience: float = math.inf
) -> dict[str, TimedAnswer]:
    """Run all actions in turns, `repeats` rounds after a warm-up.

    An action whose warm-up took longer than `patience` seconds is not run again: its
    warm-up counts as its only round.  Each round begins with another action, so that no
    action always follows the same one.
    """
    with _collector_off():
        outcomes = {name: _timed(action) for name, action in actions.items()}
        quick = [name for name in actions if outcomes[name].timing.median <= patience]
        rounds: dict[str, list[float]] = {name: [] for name in quick}
        for number in range(repeats):
            for name in _rotated(quick, number):
                outcomes[name] = _timed(actions[name])
                rounds[name].append(outcomes[name].timing.median)
    for name, seconds in rounds.items():
        if seconds:
            outcomes[name] = replace(outcomes[name], timing=Timing(tuple(seconds)))
    return outcomes


def ratio(ours: Timing, theirs: Timing) -> tuple[float, float, float]:
    """Median and quartiles of the ratios per round; the ratio of medians if rounds differ."""
    if len(ours.rounds) != len(theirs.rounds):
        middle = ours.median / theirs.median
        return middle, middle, middle
    quartiles = np.quantile(np.divide(ours.rounds, theirs.rounds), [0.5, 0.25, 0.75])
    middle, low, high = (float(number) for number in quartiles)
    return middle, low, high


def _rotated(names: list[str], number: int) -> list[str]:
    first = number % len(names) if names else 0
    return names[first:] + names[:first]


def _timed(action: Callable[[], Any]) -> TimedAnswer:
    gc.collect()
    time.sleep(SETTLE)
    began = time.perf_counter()
    answer = action()
    return TimedAnswer(Timing((time.perf_counter() - began,)), answer)


@contextmanager
def _collector_off() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
