"""What the theory says of a run, against values computed by hand."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sphericalpca import SphericalPCA
from sphericalpca.convergence import analyse, fit_rate
from sphericalpca.solvers import Linearized, lipschitz_constant

ROUNDING = 1e-13
CONSTANTS = {"lipschitz": 10.0, "lam": 12.0, "mu": 14.0, "rounding": ROUNDING}


def _history(steps, decrease, subgradient):
    steps = np.asarray(steps)
    loss = 5.0 - np.cumsum(decrease)
    return {
        "loss": loss,
        "delta_U": 0.6 * steps,
        "delta_V": 0.8 * steps,
        "decrease_ratio": np.asarray(decrease) / steps**2,
        "subgradient": np.asarray(subgradient),
    }


def test_every_quantity_is_the_one_computed_by_hand():
    history = _history([0.4, 0.2, 0.1, 0.1], [0.5, 0.05, 0.009, 0.02], [8.0, 4.6, 1.0, 0.0])
    found = analyse(history, CONSTANTS)
    assert (found.lipschitz, found.lam, found.mu) == (10.0, 12.0, 14.0)
    assert found.required_decrease == pytest.approx((12 - 10) / 2)
    # decrease >= 1 * step^2, that is 0.5 >= 0.16, 0.05 >= 0.04, 0.009 < 0.01, 0.02 >= 0.01
    np.testing.assert_array_equal(found.sufficient_decrease, [True, True, False, True])
    bound = (2 * 10 + 12 + 14) * np.array([0.4, 0.2, 0.1, 0.1])
    np.testing.assert_allclose(found.subgradient_ratio, np.array([8, 4.6, 1, 0]) / bound)
    np.testing.assert_allclose(found.path_length, [0.4, 0.6, 0.7, 0.8])


def test_the_smaller_proximal_constant_decides_and_must_exceed_the_lipschitz_constant():
    history = _history([0.4, 0.2, 0.1], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0])
    assert analyse(history, CONSTANTS).applies
    assert analyse(history, {**CONSTANTS, "mu": 11.0}).required_decrease == pytest.approx(0.5)
    assert analyse(history, {**CONSTANTS, "lam": 4.0}).required_decrease == pytest.approx(-3.0)
    for constants in ({"lam": 9.0}, {"mu": 9.0}, {"lam": 10.0}, {"mu": math.nan}):
        found = analyse(history, {**CONSTANTS, **constants})
        assert not found.applies
        assert not found.sufficient_decrease.any(), "no step obeys a theorem that does not apply"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_constants_below_the_condition_never_have_a_sufficient_decrease():
    for solver, applies in ((Linearized(lam=75.0, mu=75.0), False), (Linearized(), True)):
        model = SphericalPCA(10, solver=solver, tol=0, max_iter=8, random_state=0)
        model.fit(load_digits().data[:300])
        found = analyse(model.history_, model.constants_)
        assert (found.applies, found.required_decrease > 0) == (applies, applies)
        assert found.sufficient_decrease.tolist() == [applies] * model.n_iter_


def test_rounding_of_the_loss_is_no_violation():
    for rise, holds in ((0.5 * ROUNDING, True), (2 * ROUNDING, False)):
        history = _history([0.1, 1e-9], [0.5, -rise], [0.0, 0.0])
        assert analyse(history, CONSTANTS).sufficient_decrease[-1] == holds


def test_a_run_that_stands_still_violates_nothing():
    history = {
        "loss": np.ones(3),
        "delta_U": np.zeros(3),
        "delta_V": np.zeros(3),
        "decrease_ratio": np.full(3, math.inf),
        "subgradient": np.zeros(3),
    }
    found = analyse(history, CONSTANTS)
    assert found.sufficient_decrease.all()
    assert found.path_length[-1] == 0.0
    assert math.isnan(found.rate.rho)


def test_a_history_without_components_is_refused(run):
    solution, _ = run("alternating", "spiked")
    with pytest.raises(ValueError, match="linearized"):
        analyse(solution.history, {})


def test_linear_and_sublinear_rates_are_recovered():
    for rho in (0.3, 0.9, 0.999):
        rate = fit_rate(7.0 * rho ** np.arange(1, 200))
        assert rate.kind == "linear"
        assert rate.rho == pytest.approx(rho, rel=1e-9)
    for exponent in (0.5, 1.0, 3.0):
        rate = fit_rate(3.0 * np.arange(1.0, 400) ** -(exponent + 1))
        assert rate.kind == "sublinear"
        assert rate.exponent == pytest.approx(exponent, rel=1e-9)
        # dist ~ k^-p with p = (1 - theta) / (2 theta - 1)
        assert (1 - rate.theta) / (2 * rate.theta - 1) == pytest.approx(exponent, rel=1e-9)


def test_only_the_second_half_is_fitted_and_growing_steps_imply_no_exponent():
    steps = np.concatenate([np.full(50, 5.0), 0.5 ** np.arange(50)])
    assert fit_rate(steps).rho == pytest.approx(0.5)
    rate = fit_rate(np.arange(1.0, 50))
    assert rate.exponent < 0
    assert math.isnan(rate.theta)


def test_too_few_steps_have_no_rate_and_gaps_are_left_out():
    for steps in ([], [1.0], [1.0, 0.5, 0.25], [0.0] * 10):
        rate = fit_rate(np.asarray(steps, dtype=float))
        assert math.isnan(rate.rho)
        assert math.isnan(rate.exponent)
    steps = 7.0 * 0.5 ** np.arange(1, 40)
    assert fit_rate([*steps[:30], np.nan, np.inf, *steps[32:]]).rho == pytest.approx(0.5)
    with pytest.raises(ValueError, match=r"shape \(1, 39\)"):
        fit_rate([steps])


@pytest.mark.parametrize("order", ["uv", "vu"])
def test_the_theory_holds_at_every_step_of_algorithm_1(name, order, run, zoo):
    solution, problem = run(f"theory {order}", name)
    found = analyse(solution.history, solution.constants)
    assert found.lipschitz == pytest.approx(lipschitz_constant(problem, zoo[name].r))
    # The allowance is for rounding only: a few digits of the sums that h is made of.
    size = problem.rows.totals.energy + problem.rows.totals.weight
    assert solution.constants["rounding"] <= 100 * np.finfo(np.float64).eps * size
    assert min(found.lam, found.mu) > found.lipschitz
    assert found.required_decrease > 0
    assert found.sufficient_decrease.all()
    assert np.nanmax(found.subgradient_ratio, initial=0.0) <= 1 + 1e-9
    assert found.path_length.shape == (solution.n_iter,)


def test_the_lipschitz_constant_is_the_papers(case, make_problem, plain):
    explicit = plain.of(case)
    r, S, X = case.r, explicit.w.sum(), np.sqrt(explicit.w)[:, None] * explicit.X
    expected = 2 * (r + S + np.sqrt(r * S) + np.linalg.norm(X))
    assert lipschitz_constant(make_problem(case), r) == pytest.approx(expected, rel=1e-13)
