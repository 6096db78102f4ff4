"""Runs the missing trials on several processes, and records each immediately."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError

from paper.journal import Journal, identity
from paper.plan import Trial
from paper.provenance import made_with
from paper.trial import run_trial

__all__ = ["Failure", "Todo", "run", "todo"]


@dataclass(frozen=True)
class Failure:
    """A trial that could not be run, and the error that stopped it."""

    trial: Trial
    reason: str

    def __str__(self) -> str:
        t = self.trial
        draws = ",".join(map(str, t.repetitions))
        where = f"{t.experiment} {t.dataset} {t.groups!r} {t.variant}, repetition {draws}"
        return f"{where}, {' and '.join(t.methods)}, r = {t.r}: {self.reason}"


Result = tuple[Trial, list[dict[str, Any]] | Failure]


@dataclass(frozen=True)
class Todo:
    """The remaining work of a plan, given the existing rows.

    Attributes
    ----------
    missing : list of Trial
    finished : int
        Number of trials that have all their rows.
    foreign : int
        Rows of the plan that another commit, machine or version made.
    """

    missing: list[Trial]
    finished: int
    foreign: int


def todo(trials: Sequence[Trial], journal: Journal) -> Todo:
    """Find the trials that still have to run."""
    keys = [_identities(trial) for trial in trials]
    missing = [
        trial
        for trial, own in zip(trials, keys, strict=True)
        if not all(_is_there(journal, key, trial.clusterings) for key in own)
    ]
    there = [journal.rows[key] for own in keys for key in own if key in journal.rows]
    foreign = sum(row["made_with"] != made_with() for row in there)
    return Todo(missing, len(trials) - len(missing), foreign)


def run(
    trials: Sequence[Trial],
    journal: Journal,
    *,
    data_home: Path | None,
    jobs: int,
    done: Callable[[Trial], None],
) -> list[Failure]:
    """Run missing trials; afterwards the file is in the plan's order.

    A trial that fails does not stop the others: it has no rows, so the next run tries it
    again.

    Parameters
    ----------
    trials : sequence of Trial
        The whole plan, in the order of the rows.
    journal : Journal
        Rows go there as soon as their trial ends, whatever the order.
    jobs : int
        Number of processes.
    done : callable
        Called with each trial that was recorded or has failed.

    Returns
    -------
    list of Failure
    """
    if journal.path.exists():
        journal.rewrite()  # drops a torn line
    failures: list[Failure] = []
    for trial, found in _results(todo(trials, journal).missing, data_home, jobs):
        if isinstance(found, Failure):
            failures.append(found)
        else:
            journal.add(found)
        done(trial)
    if journal.rows:
        journal.rewrite([key for trial in trials for key in _identities(trial)])
    return failures


def _results(trials: Iterable[Trial], data_home: Path | None, jobs: int) -> Iterator[Result]:
    if jobs == 1:
        yield from (_run_one(trial, data_home) for trial in trials)
        return
    with parallel_config("loky", inner_max_num_threads=1):
        # One trial at a time, so that finished rows are recorded immediately.
        pool = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        with _ignore_sigint_in_workers():
            work = delayed(_run_in_worker)
            results = pool(work(trial, data_home, os.getpid()) for trial in trials)
    try:
        yield from results
    except TerminatedWorkerError:
        raise MemoryError(
            "A worker process died, probably because memory ran out; finished rows are kept. Run "
            "the same command with fewer --jobs."
        ) from None


@contextmanager
def _ignore_sigint_in_workers() -> Iterator[None]:
    """Processes started here ignore Ctrl-C, because the parent ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _run_in_worker(trial: Trial, data_home: Path | None, parent: int) -> Result:
    _end_with(parent)
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
    try:
        return trial, run_trial(trial, data_home)
    except Exception as error:  # any failure: continue with the other trials
        text = " ".join(str(error).split())
        return trial, Failure(trial, f"{type(error).__name__}: {text}")


def _identities(trial: Trial) -> list[tuple[str, ...]]:
    own = vars(trial)
    return [
        identity({**own, "method": method, "repetition": repetition})
        for method, repetition in product(trial.methods, trial.repetitions)
    ]


def _is_there(journal: Journal, key: tuple[str, ...], clusterings: int) -> bool:
    """Whether a row was measured, with at least as many seeds of k-means."""
    return key in journal.rows and int(journal.rows[key]["clusterings"] or 1) >= clusterings
