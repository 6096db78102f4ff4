"""Runs the trials that are still missing, on several processes, and records each at once."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config

from sphericalpca.experiments.journal import Journal, identity
from sphericalpca.experiments.plan import Trial
from sphericalpca.experiments.trial import run_trial, versions

__all__ = ["Todo", "run", "todo"]

Result = tuple[Trial, list[dict[str, Any]]]


@dataclass(frozen=True)
class Todo:
    """What a plan leaves to do, given the rows that are there.

    Attributes
    ----------
    missing : list of Trial
    finished : int
        Trials all of whose rows are there.
    foreign : int
        Rows of the plan that other versions of the packages made.
    """

    missing: list[Trial]
    finished: int
    foreign: int


def todo(trials: Sequence[Trial], journal: Journal) -> Todo:
    """Which trials still have to run."""
    keys = [_identities(trial) for trial in trials]
    missing = [
        trial
        for trial, own in zip(trials, keys, strict=True)
        if not all(key in journal.rows for key in own)
    ]
    there = [journal.rows[key] for own in keys for key in own if key in journal.rows]
    foreign = sum(row["versions"] != versions() for row in there)
    return Todo(missing, len(trials) - len(missing), foreign)


def run(
    trials: Sequence[Trial],
    journal: Journal,
    *,
    data_home: Path | None,
    jobs: int,
    done: Callable[[Trial], None],
) -> None:
    """Run what is missing; afterwards the file is in the plan's order.

    Parameters
    ----------
    trials : sequence of Trial
        The whole plan, in the order in which its rows shall stand.
    journal : Journal
        Rows go there as soon as their trial ends, whatever the order.
    jobs : int
        Number of processes.
    done : callable
        Told of each trial that has been recorded.
    """
    if journal.path.exists():
        journal.rewrite()  # drops what an interruption tore
    missing = todo(trials, journal).missing
    for trial, rows in _results(missing, data_home, jobs):
        journal.add(rows)
        done(trial)
    if journal.rows:
        journal.rewrite([key for trial in trials for key in _identities(trial)])


def _results(trials: Iterable[Trial], data_home: Path | None, jobs: int) -> Iterable[Result]:
    if jobs == 1:
        return (_run_one(trial, data_home) for trial in trials)
    with parallel_config("loky", inner_max_num_threads=1):
        # One trial at a time, so that no finished row waits for its neighbours.
        pool = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        found: Iterable[Result] = pool(delayed(_run_in_worker)(t, data_home) for t in trials)
    return found


def _run_in_worker(trial: Trial, data_home: Path | None) -> Result:
    _end_with(os.getppid())
    return _run_one(trial, data_home)


@cache
def _end_with(parent: int) -> None:
    """Watch the parent: if it is killed, this process would wait for work for minutes."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run_one(trial: Trial, data_home: Path | None) -> Result:
    return trial, run_trial(trial, data_home)


def _identities(trial: Trial) -> list[tuple[str, ...]]:
    own = vars(trial)
    return [identity({**own, "repetition": repetition}) for repetition in trial.repetitions]
