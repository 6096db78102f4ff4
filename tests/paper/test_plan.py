"""The plan holds what the protocol asks for, and nothing twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from paper.journal import identity
from paper.methods import METHODS
from paper.plan import EXPERIMENTS, TABLE_METHODS, TABLES, ExperimentPlan


def keys(plan):
    return [
        identity({**vars(trial), "method": method, "repetition": repetition})
        for name in EXPERIMENTS
        for trial in plan.trials(name)
        for method in trial.methods
        for repetition in trial.repetitions
    ]


# Methods with a column in Tables 1 and 2.
COLUMNS = sum(method.in_tables for method in METHODS.values())

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
    assert counted["toy"] == 100 * 4
    assert counted["newsgroups"] == 5 * 3 * 40 * COLUMNS
    assert counted["rank"] == 40 * 10 * 6
    assert counted["embeddings"] == 5 * 40 * 6
    assert counted["starts"] == 2 * 40 * 3
    assert counted["constants"] == 2 * 10 * (5 * 5 + 1)
    assert counted["uci"] == 10 * 3 * 10 * COLUMNS
    assert counted["lsa"] == 2 * 5 * 2 * (20 + 20)
    drawn = [t for e in ("newsgroups", "rank", "embeddings", "starts") for t in plan.trials(e)]
    assert {trial.clusterings for trial in drawn} == {5}
    assert {t.groups for t in plan.trials("newsgroups")} == {"5 named", "5", "10", "15", "20"}
    assert {t.r for t in plan.trials("lsa")} == {4, 10, 20, 50, 100}
    in_paper = {name for name, method in METHODS.items() if method.in_paper}
    assert in_paper == {"kmeans", "mua", "pca", "r1-pca", "k-svd", "spherical-pca"}


def test_r_is_the_number_of_groups_or_of_features_if_less():
    for trial in ExperimentPlan().trials("newsgroups"):
        assert trial.r == (trial.n_groups if METHODS[trial.methods[0]].reduces else 0)
    for trial in ExperimentPlan().trials("uci"):
        classes, features = TABLES[trial.dataset]
        assert trial.n_groups == classes
        assert trial.r in (0, min(classes, features))


def test_repetitions_change_draws_and_seeds_but_not_the_toy():
    plan = ExperimentPlan().with_repetitions(3)
    counted = Counter(
        (t.experiment, len(t.repetitions)) for e in EXPERIMENTS for t in plan.trials(e)
    )
    families = len(TABLE_METHODS)
    assert counted["uci", 3] == 10 * 3 * families
    assert counted["newsgroups", 1] == 5 * 3 * 3 * families
    assert counted["toy", 1] == 400


def test_methods_that_share_a_representation_differ_in_unit_rows_only():
    planned = [name for family in TABLE_METHODS for name in family]
    assert sorted(planned) == sorted(name for name, m in METHODS.items() if m.in_tables)
    for family in TABLE_METHODS:
        plain, *scaled = (METHODS[name] for name in family)
        assert not plain.unit
        assert all(
            replace(other, label="", unit=False, in_paper=plain.in_paper)
            == replace(plain, label="")
            for other in scaled
        )
    for name in ("mua", "pca", "r1-pca", "k-svd"):
        assert f"{name}-unit" in planned, "each of the paper's reducers is run with unit rows too"
