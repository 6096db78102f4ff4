"""The plan holds what the protocol asks for, and nothing twice."""

from __future__ import annotations

from collections import Counter

from paper.journal import identity
from paper.methods import METHODS
from paper.plan import EXPERIMENTS, TABLES, ExperimentPlan


def keys(plan):
    return [
        identity({**vars(trial), "repetition": repetition})
        for name in EXPERIMENTS
        for trial in plan.trials(name)
        for repetition in trial.repetitions
    ]


FULL, QUICK = ExperimentPlan(), ExperimentPlan.quick()


def test_no_row_is_planned_twice_and_quick_ones_are_rows_of_the_full_plan():
    """So a quick run can be taken up by a full one; only seeds of k-means are fewer."""
    full, quick, embedded = map(keys, (FULL, QUICK, QUICK.embedded("6")))
    for found in (full, quick, embedded):
        assert len(set(found)) == len(found)
    assert set(quick) <= set(full)
    names = {t.dataset for name in EXPERIMENTS for t in QUICK.embedded("6").trials(name)}
    assert names == {"toy", "docstrings", "iris", "wine", "breast-cancer", "digits"}
    assert all(t.expected_seconds > 0 for name in EXPERIMENTS for t in FULL.trials(name))


def test_the_full_plan_is_that_of_the_protocol():
    plan = ExperimentPlan()
    counted = Counter(key[0] for key in keys(plan))
    methods = len(METHODS) - 1  # all but k-means on raw points
    assert counted["toy"] == 100 * 4
    assert counted["newsgroups"] == 5 * 3 * 10 * methods
    assert counted["uci"] == 10 * 3 * 10 * methods
    assert counted["lsa"] == 2 * 5 * 2 * (20 + 10)
    assert {t.groups for t in plan.trials("newsgroups")} == {"5 named", "5", "10", "15", "20"}
    assert {t.r for t in plan.trials("lsa")} == {4, 10, 20, 50, 100}
    in_paper = {name for name, method in METHODS.items() if method.in_paper}
    assert in_paper == {"kmeans", "mua", "pca", "r1-pca", "k-svd", "spherical-pca"}


def test_r_is_the_number_of_groups_or_of_features_if_less():
    for trial in ExperimentPlan().trials("newsgroups"):
        assert trial.r == (trial.n_groups if METHODS[trial.method].reduces else 0)
    for trial in ExperimentPlan().trials("uci"):
        classes, features = TABLES[trial.dataset]
        assert trial.n_groups == classes
        assert trial.r in (0, min(classes, features))


def test_repetitions_change_draws_and_seeds_but_not_the_toy():
    plan = ExperimentPlan().with_repetitions(3)
    counted = Counter(
        (t.experiment, len(t.repetitions)) for e in EXPERIMENTS for t in plan.trials(e)
    )
    assert counted["uci", 3] == 10 * 3 * (len(METHODS) - 1)
    assert counted["newsgroups", 1] == 5 * 3 * 3 * (len(METHODS) - 1)
    assert counted["toy", 1] == 400
