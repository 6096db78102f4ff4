"""The loop: number of steps, history, and reasons to stop."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from sphericalpca.iterate import StopReason, iterate
from sphericalpca.solvers import Alternating, Start, solve


@dataclass(frozen=True)
class _Count:
    """A state whose residual is 1/k after k steps."""

    k: int = 0
    measures: dict = field(default_factory=dict)
    constants: dict = field(default_factory=dict)

    @property
    def U(self):
        return np.full((1, 1), self.k)

    @property
    def value(self):
        return float(self.k)

    @property
    def loss(self):
        return -float(self.k)

    @property
    def residual(self):
        return 1 / self.k if self.k else np.inf


class _Counter:
    def init(self, problem, start):
        return start

    def step(self, problem, state):
        return _Count(state.k + 1, {"twice": 2.0 * state.k})


@pytest.fixture
def problem(zoo, make_problem):
    return make_problem(zoo["noise"])


@pytest.fixture
def count(problem):
    return lambda **options: iterate(problem, _Counter(), _Count(), **options)


@pytest.mark.parametrize(
    ("limits", "n_iter", "reason"),
    [
        ((0.2, 100), 5, StopReason.CONVERGED),  # at the first residual not above the tolerance
        ((0.01, 7), 7, StopReason.MAX_ITER),
        ((0.2, 5), 5, StopReason.CONVERGED),  # in the last iteration
    ],
)
def test_it_stops_at_the_tolerance_or_in_the_last_iteration(
    count, recorder, limits, n_iter, reason
):
    monitor = recorder()
    found = count(tol=limits[0], max_iter=limits[1], monitor=monitor)
    assert (found.n_iter, found.stop_reason) == (n_iter, reason)
    assert found.residual == 1 / n_iter
    assert monitor.begun == len(monitor.states) == n_iter


def test_a_promised_step_that_leads_away_is_not_converging(count, monkeypatch):
    monkeypatch.setattr(_Count, "residual", property(lambda state: 0.1 if state.k == 1 else 0.5))
    monkeypatch.setattr(_Count, "promise", 1.0, raising=False)
    found = count(tol=0.2, max_iter=3)
    assert found.stop_reason is StopReason.MAX_ITER
    assert found.n_iter == 3


def test_a_monitor_can_stop_it(count, recorder):
    monitor = recorder(patience=3)
    found = count(tol=0.0, max_iter=100, monitor=monitor)
    assert found.stop_reason is StopReason.CALLBACK
    assert found.n_iter == monitor.begun == len(monitor.states) == 3
    assert [state.k for state in monitor.states] == [1, 2, 3]


def test_the_history_has_one_entry_per_iteration_and_the_solution_is_the_last_state(count):
    found = count(tol=0.0, max_iter=6)
    assert set(found.history) == {"loss", "residual", "passes", "flops", "seconds", "twice"}
    assert all(column.shape == (6,) for column in found.history.values())
    np.testing.assert_array_equal(found.history["loss"], [-1, -2, -3, -4, -5, -6])
    np.testing.assert_array_equal(found.history["twice"], [0, 2, 4, 6, 8, 10])
    assert (np.diff(found.history["seconds"]) >= 0).all()
    assert (found.start_value, found.value) == (0.0, 6.0)
    assert found.U.tolist() == [[6]]
    assert found.residual == found.history["residual"][-1]
    assert found.state.k == 6


def test_from_an_optimum_one_step_is_made_at_least_and_all_of_them_at_tol_zero(
    run, solver, zoo, make_problem
):
    start, problem = Start(run("alternating", "plane")[0].U), make_problem(zoo["plane"])
    found = iterate(problem, solver, start, tol=0.0, max_iter=15)
    assert (found.n_iter, found.stop_reason) == (15, StopReason.MAX_ITER)
    found = iterate(problem, solver, start, tol=1.0, max_iter=15)
    assert (found.n_iter, found.stop_reason) == (1, StopReason.CONVERGED)


def test_tol_zero_does_not_stop_at_a_residual_of_exactly_zero(count, monkeypatch):
    monkeypatch.setattr(_Count, "residual", 0.0)
    found = count(tol=0.0, max_iter=5)
    assert found.n_iter == 5
    assert found.stop_reason is StopReason.MAX_ITER


def test_a_monitor_that_stops_skips_the_starts_to_come(problem, recorder, rng):
    monitor = recorder(patience=2)
    options = {"n_init": 5, "tol": 0.0, "max_iter": 50, "rng": rng, "monitor": monitor}
    found = solve(problem, 3, solver=Alternating(), **options)
    assert found.solution.stop_reason is StopReason.CALLBACK
    assert len(monitor.states) == 2
