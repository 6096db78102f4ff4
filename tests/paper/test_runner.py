"""Runs that are cut short, repeated, or spread over processes leave the same rows."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError

from paper import runner as runner_module
from paper.journal import COLUMNS, Journal, identity
from paper.plan import ExperimentPlan
from paper.reproduction import Reproduction
from paper.runner import run, todo
from paper.solver_runs import longest_run
from paper.toy import toy_points, typical_draw

EXPERIMENTS = ("toy", "uci")


@pytest.fixture(scope="module")
def plan():
    small = ExperimentPlan.quick().embedded("5")
    return replace(small, toy_draws=3, uci=("iris", "wine"), repetitions=2, solver_steps=20)


@pytest.fixture(scope="module")
def trials(plan):
    return [trial for name in EXPERIMENTS for trial in plan.trials(name)]


def measured(journal):
    """The rows without their times, in order."""
    timed = ("seconds", "cluster_seconds")
    return [{k: v for k, v in row.items() if k not in timed} for row in journal.rows.values()]


@pytest.fixture(scope="module")
def finished(tmp_path_factory, trials):
    """All rows, made by one process without a break."""
    journal = Journal(tmp_path_factory.mktemp("finished") / "rows.csv")
    run(trials, journal, data_home=None, jobs=1, done=lambda _: None)
    return Journal(journal.path)


def test_every_planned_row_is_there_once_and_in_order(finished, trials):
    planned = [
        identity({**vars(trial), "repetition": repetition})
        for trial in trials
        for repetition in trial.repetitions
    ]
    assert list(finished.rows) == planned


def test_rows_are_complete(finished):
    for row in finished.rows.values():
        assert set(row) == set(COLUMNS)
        if row["note"]:
            assert row["method"] == "mua"
            assert row["accuracy"] == ""
            continue
        assert 0 < float(row["accuracy"]) <= 1
        assert 0 <= float(row["nmi_max"]) <= float(row["nmi_arithmetic"]) <= 1
        assert float(row["seconds"]) >= 0
        assert row["versions"].startswith("sphericalpca ")
        spherical = row["method"].startswith("spherical-pca")
        assert bool(row["svd_ratio"]) == spherical


def test_methods_share_the_seed_of_k_means(finished):
    seeds = {}
    for row in finished.rows.values():
        if row["seed"]:
            where = tuple(row[name] for name in ("experiment", "dataset", "repetition"))
            seeds.setdefault(where, set()).add(row["seed"])
    assert all(len(found) == 1 for found in seeds.values())
    assert len(set(map(tuple, seeds.values()))) == len(seeds)


def test_rows_do_not_depend_on_the_number_of_processes(tmp_path, trials, finished):
    journal = Journal(tmp_path / "rows.csv")
    run(trials, journal, data_home=None, jobs=2, done=lambda _: None)
    assert measured(Journal(journal.path)) == measured(finished)


@pytest.mark.parametrize("after", [1, 7, 16])
def test_an_interrupted_run_goes_on_where_it_was(tmp_path, trials, finished, after, monkeypatch):
    journal = Journal(tmp_path / "rows.csv")
    seen = []

    def stop(trial):
        seen.append(trial)
        if len(seen) == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(trials, journal, data_home=None, jobs=1, done=stop)
    with journal.path.open("a") as file:
        file.write("toy,toy,2,ma")  # as a kill in the middle of a write leaves it
    again = Journal(journal.path)
    left = todo(trials, again)
    assert left.finished == after
    assert len(left.missing) == len(trials) - after
    ran = []
    original = runner_module.run_trial
    monkeypatch.setattr(
        runner_module, "run_trial", lambda *given: ran.append(given[0]) or original(*given)
    )
    run(trials, again, data_home=None, jobs=1, done=lambda _: None)
    assert ran == trials[after:]
    assert measured(Journal(journal.path)) == measured(finished)


def test_rows_of_other_versions_are_counted_and_kept(tmp_path, trials, finished):
    path = tmp_path / "rows.csv"
    path.write_text(finished.path.read_text().replace("numpy ", "numpy 0."))
    journal = Journal(path)
    left = todo(trials, journal)
    assert left.missing == []
    assert left.foreign == len(finished.rows)


PROGRAM = """
import sys
from dataclasses import replace
from pathlib import Path
from paper.plan import ExperimentPlan
from paper.reproduction import Reproduction

plan = replace(ExperimentPlan.quick().embedded("5"), toy_draws=200, solver_steps=20)
if __name__ == "__main__":
    work = Reproduction(plan, ("toy",), Path(sys.argv[1]), None)
    print("ready", flush=True)
    told = lambda trial: print(trial.method, flush=True)
    work.run(jobs=int(sys.argv[2]), done=told, say=lambda what: None)
"""


def _ended_by(running, blow):
    """A Ctrl-C that falls into a destructor is lost; then people press it again."""
    for _ in range(3):
        running.send_signal(blow)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return running.wait(15)
    return running.wait()


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT])
def test_no_acknowledged_row_is_lost_to_a_signal(tmp_path, jobs, blow):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, str(program), str(tmp_path / "out"), str(jobs)]
    # To a file: a worker that outlives its parent for a while would keep a pipe open.
    told = tmp_path / "told"
    with told.open("w") as file:
        running = subprocess.Popen(command, stdout=file, stderr=subprocess.DEVNULL)
    while told.read_text().count("\n") < 12:
        assert running.poll() is None
        time.sleep(0.05)
    assert _ended_by(running, blow) != 0
    acknowledged = told.read_text().count("\n") - 1  # all but "ready"
    journal = Journal(tmp_path / "out" / "rows.csv")
    assert acknowledged <= len(journal.rows) < 800
    assert not (tmp_path / "out" / "toy.csv").exists()


def test_figures_files(tmp_path, plan):
    work = Reproduction(plan, ("toy",), tmp_path / "new" / "folder", None)
    assert len(work.todo().missing) == 12
    said = []
    assert work.run(jobs=1, done=lambda _: None, say=said.append) == []
    assert said
    assert {p.name for p in (tmp_path / "new" / "folder").iterdir()} == {
        "rows.csv",
        "toy.csv",
        "convergence.csv",
        "solvers.csv",
    }
    assert work.todo().missing == []


def test_longer_solver_runs_are_kept_and_shorter_ones_replaced(tmp_path, plan):
    for steps, kept in ((20, 20), (10, 20), (30, 30)):
        work = Reproduction(replace(plan, solver_steps=steps), ("toy",), tmp_path, None)
        work.run(jobs=1, done=lambda _: None, say=lambda _: None)
        assert longest_run(tmp_path / "solvers.csv") == kept


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_trial_does_not_stop_the_others(tmp_path, trials, finished, jobs):
    odd = replace(trials[0], dataset="nowhere", experiment="uci", method="pca", r=3, groups="3")
    journal = Journal(tmp_path / "rows.csv")
    failures = run([odd, *trials[:6]], journal, data_home=None, jobs=jobs, done=lambda _: None)
    assert [failure.trial for failure in failures] == [odd]
    assert "uci nowhere '3' main, repetition 0, pca, r = 3: DataError: No data set" in str(
        failures[0]
    )
    assert measured(journal) == measured(finished)[:6]
    assert todo([odd, *trials[:6]], journal).missing == [odd]


def test_a_worker_that_dies_is_reported_in_one_line(tmp_path, trials, monkeypatch):
    def dead(*_, **__):
        raise TerminatedWorkerError("a long story")
        yield

    monkeypatch.setattr(runner_module.Parallel, "__call__", dead)
    with pytest.raises(MemoryError, match="fewer --jobs"):
        run(trials, Journal(tmp_path / "rows.csv"), data_home=None, jobs=2, done=lambda _: None)


def test_a_full_disk_is_named(tmp_path, trials, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    journal = Journal(tmp_path / "rows.csv")
    with pytest.raises(OSError, match=r"rows\.csv"):
        run(trials, journal, data_home=None, jobs=1, done=lambda _: None)


def test_only_data_that_are_still_needed_are_missed(tmp_path, finished):
    plan = replace(ExperimentPlan(), uci=("glass", "mfeat-mor"), repetitions=1)
    work = Reproduction(plan, ("toy", "uci"), tmp_path / "out", tmp_path / "nothing")
    assert work.missing_data() == ["glass", "mfeat-mor"]
    assert not (tmp_path / "out").exists()
    nothing = Reproduction(plan, ("toy",), tmp_path / "out", tmp_path / "nothing")
    assert nothing.missing_data() == []


def test_the_draw_shown_is_the_typical_one(tmp_path):
    accuracy = {0: (0.8, 1.0), 1: (0.9, 0.97), 2: (0.91, 0.99), 3: (0.95, 0.99), 4: (0.7, 0.98)}
    journal = Journal(tmp_path / "rows.csv")
    for draw, values in accuracy.items():
        for method, value in zip(("kmeans-raw", "spherical-pca"), values, strict=True):
            row = dict.fromkeys(COLUMNS, "") | {"experiment": "toy", "repetition": draw}
            journal.add([row | {"method": method, "accuracy": value}])
    assert typical_draw(journal) == 2


def test_points_shown_agree_with_the_rows_of_their_draw(finished):
    points = toy_points(1)
    for column, method in (("kmeans", "kmeans-raw"), ("spherical", "spherical-pca")):
        right = np.mean([point[column] == point["group"] for point in points])
        (row,) = (
            row
            for row in finished.rows.values()
            if (row["experiment"], row["repetition"], row["method"]) == ("toy", "1", method)
        )
        assert right == pytest.approx(float(row["accuracy"]))
    for point in points:
        U = np.array([[point[f"u{i}{j}"] for j in (1, 2)] for i in (1, 2, 3)])
        image = np.array([point["x"], point["y"], point["z"]]) @ U
        np.testing.assert_allclose(
            image / np.linalg.norm(image), [point["v1"], point["v2"]], atol=1e-9
        )
