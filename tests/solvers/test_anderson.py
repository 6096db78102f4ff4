"""Anderson acceleration: exact on linear recurrences, safe on everything else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sphericalpca import SphericalPCA
from sphericalpca.iterate import StopReason, iterate
from sphericalpca.linalg import polar, principal_angles
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.solvers import Alternating, Anderson, Start
from sphericalpca.solvers.anderson import _History

# The inner products of plain numbers.
PLAIN = Problem(as_rows(np.eye(2)))


def _problem(seed=0):
    return Problem(as_rows(np.random.default_rng(seed).standard_normal((200, 20))))


def _passes(problem, solver, start, tol):
    """Passes until the residual is `tol`, and where that was."""
    before = problem.rows.passes
    found = iterate(problem, solver, start, tol=tol, max_iter=3000)
    assert found.stop_reason is StopReason.CONVERGED
    return problem.rows.passes - before, found


@pytest.mark.parametrize("memory", [1, 2, 8])
def test_any_memory_reaches_what_alternation_reaches(memory, random_U):
    problem, start = _problem(), Start(random_U(20, 4))
    _, found = _passes(problem, Anderson(memory), start, 1e-8)
    assert len(found.state.history.steps) <= memory
    assert np.abs(found.U.T @ found.U - np.eye(4)).max() < 1e-14
    assert problem.evaluate(found.U).residual <= 1e-8


@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_a_linear_recurrence_is_solved_after_as_many_steps_as_dimensions(dimension, rng):
    """T(x) = A x + b: with `dimension` differences the fixed point is found exactly."""
    A = 0.9 * np.linalg.qr(rng.standard_normal((dimension, dimension)))[0]
    b = rng.standard_normal((dimension, 1))
    fixed_point = np.linalg.solve(np.eye(dimension) - A, b)
    history, x = _History(), rng.standard_normal((dimension, 1))
    for _ in range(dimension + 1):
        image = A @ x + b
        history = history.after(PLAIN, image, image - x, memory=8)
        x = image
    np.testing.assert_allclose(image - history.correction(PLAIN), fixed_point, atol=1e-7)


def test_a_history_without_news_corrects_nothing(float_type, rng):
    """Steps that do not change, as at an optimum, must not be divided by."""
    image = rng.standard_normal((5, 2)).astype(float_type)
    history = _History()
    for _ in range(4):
        history = history.after(PLAIN, image, 1e-8 * image, memory=8)
    np.testing.assert_array_equal(history.correction(PLAIN), 0)
    # One change among nothing: the others still add nothing.
    history = history.after(PLAIN, image + 1, 1e-8 * image + 1, memory=8)
    assert np.isfinite(history.correction(PLAIN)).all()


@pytest.mark.parametrize("seed", range(2))
def test_near_an_optimum_it_needs_far_fewer_passes_than_alternation(seed, random_U):
    problem = _problem(seed=seed)
    _, near = _passes(problem, Alternating(), Start(random_U(20, 4)), 1e-3)
    slow, exact = _passes(problem, Alternating(), Start(near.U), 1e-8)
    fast, found = _passes(problem, Anderson(), Start(near.U), 1e-8)
    assert fast <= slow / 3
    assert found.value == pytest.approx(exact.value, rel=1e-12)
    assert principal_angles(found.U, exact.U).max() < 1e-5


class _Refusing(Problem):
    """Tells of a fall where there is none, for the next `refused` points."""

    refused = 0
    asked = 0

    def evaluate(self, U):
        self.asked += 1
        self.refused, refuse = max(self.refused - 1, 0), self.refused > 0
        found = super().evaluate(U)
        return replace(found, value=0.5 * found.value) if refuse else found


@pytest.fixture
def underway(random_U):
    """A problem, the solver, and a state that has a history."""
    problem, solver = _Refusing(_problem().rows), Anderson()
    state = solver.init(problem, Start(random_U(20, 4)))
    for _ in range(5):
        state = solver.step(problem, state)
    assert len(state.history.steps) > 1
    problem.asked = 0
    return problem, solver, state


def test_a_step_that_does_not_fall_costs_one_pass_and_a_fall_is_answered_by_its_mirror(underway):
    problem, solver, state = underway
    ahead = solver.step(problem, state)
    assert problem.asked == 1
    assert ahead.value >= state.value * (1 - 1e-15)
    assert len(ahead.history.steps) == len(state.history.steps) + 1
    problem.asked, problem.refused = 0, 1
    mirrored = solver.step(problem, state)
    assert problem.asked >= 2
    assert mirrored.value >= state.value * (1 - 1e-15)
    apart = principal_angles(mirrored.U, ahead.U).max()
    assert apart > 1e-6
    if problem.asked == 2:  # kept: then the exact step lies between the two
        exact = polar(state.point.gradient).factor
        assert principal_angles(mirrored.U, exact).max() < apart


def test_two_falls_bring_the_exact_step_and_forget_the_history(underway):
    problem, solver, state = underway
    problem.refused = 2
    after = solver.step(problem, state)
    exact = polar(state.point.gradient).factor
    assert problem.asked == 3
    assert principal_angles(after.U, exact).max() < 1e-7
    assert after.history.steps == after.history.images == ()
    assert after.value >= state.value
    # The next step has a history again.
    assert len(solver.step(problem, after).history.steps) == 1


def _symmetric_rows(counts=(10, 9, 8), tilt=0.15):
    """Rows near three axes, together with all their reflections.

    By symmetry the gradient at the plane of two axes lies within it: a smooth saddle, if
    the third axis has a share in the optimum.
    """
    rng = np.random.default_rng(0)
    X = np.repeat(np.eye(3), counts, axis=0) + tilt * rng.standard_normal((sum(counts), 3))
    signs = np.array(np.meshgrid([1, -1], [1, -1], [1, -1])).reshape(3, -1).T
    return np.vstack([X * s for s in signs])


@pytest.mark.parametrize("tilt", [1e-3, 1e-5])
def test_a_smooth_saddle_is_left(tilt):
    problem = Problem(as_rows(_symmetric_rows()))
    saddle = problem.evaluate(np.eye(3)[:, :2])
    assert saddle.residual < 1e-12
    U = np.linalg.qr(np.eye(3)[:, :2] + tilt * np.array([[0, 0], [0, 0], [1, 0.7]]))[0]
    slow, there = _passes(problem, Alternating(), Start(U), 1e-8)
    fast, found = _passes(problem, Anderson(), Start(U), 1e-8)
    assert there.value > 1.02 * saddle.value
    assert found.value >= there.value * (1 - 1e-6)
    assert fast < slow


@pytest.mark.parametrize("memory", [0, -3, 2.0, True, "x"])
def test_memory_must_be_a_count(memory):
    with pytest.raises(ValueError, match=r"memory=.* must be a positive integer"):
        Anderson(memory)


def test_where_the_loss_is_small_it_ends_no_higher_than_alternation(float_type):
    """There the residual is small long before the loss is at its least."""
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((2000, 120)) / np.arange(1, 121)).astype(float_type)
    for seed in range(2):
        U = np.linalg.qr(np.random.default_rng(seed).standard_normal((120, 40)))[0]
        ours, theirs = (
            SphericalPCA(40, solver=solver, init=U).fit(X) for solver in ("anderson", "alternating")
        )
        assert ours.loss_ <= theirs.loss_ * (1 + 1e-4)
