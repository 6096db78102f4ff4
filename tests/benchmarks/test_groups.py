"""The race of groups: what is measured, what is skipped, and the committed rows."""

import sys

import numpy as np
import pytest

from benchmarks import groups, groups_reach
from benchmarks.groupers import DATA, METHODS, Task
from benchmarks.table import number


def task(vectors=None):
    texts = groups_reach.topics(3, 150, 0)
    return Task(texts, np.random.default_rng(0).integers(3, size=150), vectors)


@pytest.mark.parametrize("method", [m for m, grouper in METHODS.items() if not grouper.needs])
def test_methods_group_texts_or_vectors(method):
    found = METHODS[method].run(task(), 0)
    assert np.shape(found) == (150,)
    if METHODS[method].vectors:
        X = np.random.default_rng(0).standard_normal((150, 120)).astype(np.float32)
        assert np.shape(METHODS[method].run(task(X), 0)) == (150,)


def test_texts_that_are_left_out_are_scored_both_ways():
    classes, labels = np.array([0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, -1])
    row = groups.scores(classes, labels)
    assert row["assigned"] == 0.8
    assert row["groups"] == 2
    assert row["nmi_assigned"] == row["ari_assigned"] == pytest.approx(1)
    assert row["nmi"] < 1
    assert row["ari"] < 1


def test_a_race_is_taken_up_and_says_what_it_skips(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(DATA, "small", task)
    run = []
    row = {"data": "small", "k": 3, "agreement": 1.0} | dict.fromkeys(groups.COLUMNS[3:16], 0.5)
    rows = [row | {"method": "NMF", "seed": seed, "n": 150} for seed in range(2)]
    monkeypatch.setattr(groups, "race", lambda *given: run.append(given) or rows)
    monkeypatch.setattr(groups, "find_spec", lambda _: None)
    program = ["groups", "--data", "small", "--only", "NMF", "--seeds", "2", "--out", str(tmp_path)]
    for _ in range(2):
        monkeypatch.setattr(sys, "argv", program)
        groups.main()
    assert run == [("small", "NMF", 2)]
    assert "NMF" in capsys.readouterr().out
    vectors = np.ones((150, 4), np.float32)
    monkeypatch.setitem(DATA, "small", lambda: task(vectors))
    monkeypatch.setattr(sys, "argv", [*program, "--only", "BERTopic, HDBSCAN"])
    groups.main()
    assert "BERTopic, HDBSCAN SKIPPED, bertopic is not installed" in capsys.readouterr().out


def test_each_seed_runs_in_a_process_of_its_own():
    rows = groups.race("docstrings", "NMF", 2)
    assert [row["seed"] for row in rows] == [0, 1]
    assert all(0.5 < row["agreement"] <= 1 and row["peak_mb"] > 50 for row in rows)
    assert all("numpy" in row["made_with"] for row in rows)


@pytest.mark.slow("a whole experiment")
def test_promises_are_measured(monkeypatch, tmp_path):
    monkeypatch.setitem(
        DATA, groups_reach.POSTS, lambda: Task(groups_reach.topics(20, 400, 0), np.zeros(400))
    )
    monkeypatch.setattr(groups_reach, "DRAWS", 1)
    rows = [*groups_reach.posts(tmp_path), *groups_reach.threads(tmp_path)]
    assert [row["met"] for row in rows] == [True, True]


# Where a rival has the higher NMI, significantly.
LOSSES = {("newsgroups, MiniLM", "BERTopic, k-means")}


def test_committed_rows_say_where_we_are_behind():
    rows = groups.groups_table(groups.RESULTS).read()
    assert len({row["commit"] for row in rows}) >= 1
    text = "\n".join(groups.summary(rows))
    ours = {(r["data"], r["seed"]): number(r, "nmi") for r in rows if r["method"] == "ours"}
    behind = set()
    for data, method in {(r["data"], r["method"]) for r in rows if r["method"] != "ours"}:
        theirs = {
            r["seed"]: number(r, "nmi") for r in rows if (r["data"], r["method"]) == (data, method)
        }
        assert len(theirs) >= 5
        assert method in text
        gap = groups.paired_difference([ours[data, s] for s in theirs], list(theirs.values()))
        if gap.high < 0:
            behind.add((data, method))
    assert behind == LOSSES


def test_every_promise_has_a_row_that_says_where_it_was_measured():
    rows = groups_reach.reach_table(groups.RESULTS).read()
    assert {row["goal"].partition(":")[0].partition(",")[0] for row in rows} >= {
        *("18", "1", "-k auto", "equal labels", "groups.csv on 2 and 4 threads"),
    }
    assert all(row["commit"] and "numpy" in row["made_with"] for row in rows)
    assert [row["goal"] for row in rows if row["met"] != "True"] == []
