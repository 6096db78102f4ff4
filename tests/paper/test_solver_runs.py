"""The files of Fig. 3 follow from the runs themselves."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from paper.solver_runs import AUTHORS_CONSTANT, solver_runs

STEPS = 60
RUNS = ("Algorithm 1, theory", "Algorithm 1, 75", "exact alternation", "default")


@pytest.fixture(scope="module")
def tables():
    return solver_runs(STEPS)


def of(table, data, solver):
    return [row for row in table if row["data"] == data and row["solver"] == solver]


def test_four_solvers_on_two_data_sets(tables):
    iterations, runs = tables
    expected = set(itertools.product(("toy", "digits"), RUNS))
    assert {(run["data"], run["solver"]) for run in runs} == expected
    for run in runs:
        rows = of(iterations, run["data"], run["solver"])
        assert [row["iteration"] for row in rows] == list(range(1, run["iterations"] + 1))
        assert rows[-1]["passes"] == run["passes"]
        assert rows[-1]["objective"] == run["objective"]
        steps = np.hypot([r["delta_U"] for r in rows], [r["delta_V"] for r in rows])
        assert steps.sum() == pytest.approx(run["path_length"])


@pytest.mark.parametrize("data", ["toy", "digits"])
def test_theory_holds_where_it_applies(tables, data):
    (theory,) = of(tables[1], data, "Algorithm 1, theory")
    assert theory["applies"] == 1
    assert min(theory["lam"], theory["mu"]) > theory["lipschitz"]
    assert theory["p1_held"] == theory["p1_steps"] == STEPS - 1
    assert theory["largest_subgradient_ratio"] <= 1
    (authors,) = of(tables[1], data, "Algorithm 1, 75")
    assert authors["lam"] == authors["mu"] == AUTHORS_CONSTANT < authors["lipschitz"]
    assert authors["applies"] == 0
    assert authors["p1_held"] is None
    assert all(np.isnan(row["p1"]) for row in of(tables[0], data, "Algorithm 1, 75"))


def test_exact_solvers_arrive_at_one_optimum_and_prove_it(tables):
    for data in ("toy", "digits"):
        runs = [of(tables[1], data, solver)[0] for solver in ("exact alternation", "default")]
        assert runs[0]["mean_cosine"] == pytest.approx(runs[1]["mean_cosine"], abs=1e-9)
        for run in runs:
            assert (run["stop_reason"], run["rigorous"]) == ("converged", 1)
            assert run["gap"] < 1e-6
        assert of(tables[1], data, "Algorithm 1, theory")[0]["objective"] > runs[0]["objective"]
