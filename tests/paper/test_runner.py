"""Runs that are cut short, repeated, or spread over processes leave the same rows."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from paper import runner as runner_module
from paper.draws import draw
from paper.journal import COLUMNS, Journal, identity
from paper.methods import METHODS
from paper.plan import ExperimentPlan
from paper.reproduction import Reproduction
from paper.runner import run, todo
from paper.seeds import seed_of
from paper.solver_runs import longest_run
from paper.toy import toy_points, typical_draw
from paper.trial import run_trial
from sphericalpca.metrics import clustering_accuracy


@pytest.fixture(scope="module")
def plan():
    small = ExperimentPlan.quick().embedded("5")
    return replace(small, toy_draws=2, uci=("iris",), solver_steps=20)


@pytest.fixture(scope="module")
def trials(plan):
    return [trial for name in ("toy", "uci") for trial in plan.trials(name)]


def measured(journal):
    """The rows without times and provenance, in order."""
    timed = ("seconds", "cluster_seconds", "made_with")
    return [{k: v for k, v in row.items() if k not in timed} for row in journal.rows.values()]


@pytest.fixture(scope="module")
def finished(tmp_path_factory, trials):
    """All rows, made by one process without a break."""
    journal = Journal(tmp_path_factory.mktemp("finished") / "rows.csv")
    run(trials, journal, data_home=None, jobs=1, done=lambda _: None)
    return Journal(journal.path)


def test_every_planned_row_is_there_once_in_order_and_complete(finished, trials):
    planned = [
        identity({**vars(trial), "method": method, "repetition": repetition})
        for trial in trials
        for method in trial.methods
        for repetition in trial.repetitions
    ]
    assert list(finished.rows) == planned
    seeds = {}
    for row in finished.rows.values():
        assert set(row) == set(COLUMNS)
        if row["note"]:
            assert row["method"].startswith("mua")
            assert row["accuracy"] == ""
            continue
        assert 0 < float(row["accuracy"]) <= 1
        assert 0 <= float(row["nmi_max"]) <= float(row["nmi_arithmetic"]) <= 1
        assert float(row["seconds"]) >= 0
        assert row["made_with"].startswith("commit ")
        assert "sphericalpca " in row["made_with"]
        assert bool(row["svd_ratio"]) == row["method"].startswith("spherical-pca")
        where = tuple(row[name] for name in ("experiment", "dataset", "repetition"))
        seeds.setdefault(where, set()).add(row["seed"])
    assert all(len(found) == 1 for found in seeds.values()), "methods share the seed of k-means"
    assert len(set(map(tuple, seeds.values()))) == len(seeds)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_trial_does_not_stop_the_others(tmp_path, trials, finished, jobs):
    """And rows do not depend on the number of processes."""
    odd = replace(
        trials[0], dataset="nowhere", experiment="uci", methods=("pca", "pca-unit"), r=3, groups="3"
    )
    journal = Journal(tmp_path / "rows.csv")
    some = trials[:6] if jobs == 1 else trials
    failures = run([odd, *some], journal, data_home=None, jobs=jobs, done=lambda _: None)
    assert [failure.trial for failure in failures] == [odd]
    told = "uci nowhere '3' main, repetition 0, pca and pca-unit, r = 3: DataError: No data set"
    assert told in str(failures[0])
    rows = measured(Journal(journal.path))
    assert rows == measured(finished)[: len(rows)]
    assert todo([odd, *some], journal).missing == [odd]


@pytest.mark.parametrize("after", [1, 7])
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
    # Rows of other versions are counted and kept.
    journal.path.write_text(finished.path.read_text().replace("numpy ", "numpy 0."))
    left = todo(trials, Journal(journal.path))
    assert (left.missing, left.foreign) == ([], len(finished.rows))


def test_a_row_is_the_mean_over_its_seeds_of_k_means(tmp_path, trials, finished):
    """The first seed is that of a single clustering; rows with fewer seeds are measured again."""
    trial = next(t for t in trials if t.methods == ("pca", "pca-unit"))
    one = replace(trial, repetitions=(0,))
    several = replace(one, clusterings=4)
    journal = Journal(finished.path)
    assert todo([one], journal).missing == []
    assert todo([several], journal).missing == [several]
    rows = {row["method"]: row for row in run_trial(several, None)}
    single = {row["method"]: row for row in run_trial(one, None)}
    for method in trial.methods:
        assert rows[method]["clusterings"] == 4
        assert rows[method]["seed"] == single[method]["seed"]
        assert rows[method]["accuracy_sd"] >= 0
        assert single[method]["accuracy_sd"] is None
    assert rows["pca"]["accuracy"] != rows["pca-unit"]["accuracy"]
    seeds = [seed_of("k-means", "uci", "iris", "3", 0, *more) for more in ((), (1,), (2,), (3,))]
    data = draw(trial, None)
    Z = METHODS["pca"].represent(normalize(data.X), trial.r, 0, {}).Z
    found = [
        clustering_accuracy(data.labels, KMeans(3, n_init=10, random_state=s).fit_predict(Z))
        for s in seeds
    ]
    assert rows["pca"]["accuracy"] == pytest.approx(np.mean(found))
    assert rows["pca"]["accuracy_sd"] == pytest.approx(np.std(found, ddof=1))


def test_unit_rows_are_those_of_the_same_representation(trials):
    trial = next(t for t in trials if t.methods == ("k-svd", "k-svd-unit"))
    shared = run_trial(trial, None)
    alone = run_trial(replace(trial, methods=("k-svd-unit",)), None)
    timed = ("seconds", "cluster_seconds")
    cut = [{k: v for k, v in row.items() if k not in timed} for row in (*shared, *alone)]
    assert cut[len(alone) :] == [*cut[len(alone) : 2 * len(alone)]] * 2


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
    told = lambda trial: print(*trial.methods, flush=True)
    work.run(jobs=int(sys.argv[2]), done=told, say=lambda what: None)
"""


@pytest.mark.slow("killed process")
@pytest.mark.parametrize("jobs", [1, 2])
def test_no_acknowledged_row_is_lost_to_a_kill(tmp_path, jobs):
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
    running.kill()
    assert running.wait() != 0
    acknowledged = told.read_text().count("\n") - 1  # all but "ready"
    journal = Journal(tmp_path / "out" / "rows.csv")
    assert acknowledged <= len(journal.rows) < 800
    assert not (tmp_path / "out" / "toy.csv").exists()


def test_files_of_the_figures_and_longer_solver_runs_are_kept(tmp_path, plan):
    folder = tmp_path / "new" / "folder"
    work = Reproduction(plan, ("toy",), folder, tmp_path / "no data")
    assert work.missing_data() == []
    glass = replace(ExperimentPlan(), uci=("glass",), seeds=1)
    missing = Reproduction(glass, ("toy", "uci"), folder, tmp_path / "no data").missing_data()
    assert missing == ["glass"]
    assert not folder.exists()
    assert len(work.todo().missing) == 8
    said = []
    assert work.run(jobs=1, done=lambda _: None, say=said.append) == []
    assert said
    names = {"rows.csv", "toy.csv", "convergence.csv", "solvers.csv"}
    assert {path.name for path in folder.iterdir()} == names
    assert work.todo().missing == []
    for steps, kept in ((10, 20), (30, 30)):
        work = Reproduction(replace(plan, solver_steps=steps), ("toy",), folder, None)
        work.run(jobs=1, done=lambda _: None, say=lambda _: None)
        assert longest_run(folder / "solvers.csv") == kept


def test_a_worker_that_dies_and_a_full_disk_are_named(tmp_path, trials, monkeypatch):
    def dead(*_, **__):
        raise TerminatedWorkerError("a long story")
        yield

    def full(_):
        raise OSError(28, "No space left on device")

    journal = Journal(tmp_path / "rows.csv")
    monkeypatch.setattr(runner_module.Parallel, "__call__", dead)
    with pytest.raises(MemoryError, match="fewer --jobs"):
        run(trials, journal, data_home=None, jobs=2, done=lambda _: None)
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match=r"rows\.csv"):
        run(trials, journal, data_home=None, jobs=1, done=lambda _: None)


def test_the_draw_shown_is_the_typical_one(tmp_path):
    accuracy = {0: (0.8, 1.0), 1: (0.9, 0.97), 2: (0.91, 0.99), 3: (0.95, 0.99), 4: (0.7, 0.98)}
    journal = Journal(tmp_path / "rows.csv")
    for number, values in accuracy.items():
        for method, value in zip(("kmeans-raw", "spherical-pca"), values, strict=True):
            row = dict.fromkeys(COLUMNS, "") | {"experiment": "toy", "repetition": number}
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
