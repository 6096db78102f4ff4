"""Subspace acceleration: the whole problem's numbers, from a basis that stays orthonormal."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from sphericalpca import SphericalPCA
from sphericalpca.iterate import StopReason, iterate
from sphericalpca.linalg import polar
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.solvers import Alternating, Start, Subspace
from sphericalpca.solvers.subspace import Span

N, M, R = 120, 30, 3
COLUMNS = [1, 2 * R + 1, 4 * R, None]  # 1 means 2 r


def _data(layout="dense", dtype=np.float64, n=N, m=M):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((n, m)) * np.linspace(2, 1, m)
    if layout == "csr":
        X *= rng.random((n, m)) < 0.3
        X[:, 0] += 0.1
    X = X.astype(dtype)
    return sparse.csr_array(X) if layout == "csr" else X


def _problem(layout="dense", dtype=np.float64, **size):
    w = np.linspace(0.5, 2, size.get("n", N))
    return Problem(as_rows(_data(layout, dtype, **size), weight=w, normalize=False))


def _states(problem, solver, start, steps):
    """The states of a run, each inspected before the next step."""
    state = solver.init(problem, start)
    for _ in range(steps):
        yield state
        state = solver.step(problem, state)
    yield state


@pytest.mark.parametrize("columns", COLUMNS)
def test_a_state_is_that_of_the_whole_problem_and_gains_what_the_exact_step_does(
    columns, layout, random_U
):
    problem, other, reached = _problem(layout), _problem(layout), None
    for state in _states(problem, Subspace(columns), Start(random_U(M, R)), 15):
        here = other.evaluate(state.U)
        assert state.value == pytest.approx(here.value, rel=1e-8)
        assert state.residual == pytest.approx(here.residual, rel=1e-6, abs=1e-8)
        assert state.loss == pytest.approx(other.loss(here.value), rel=1e-8)
        for one, two in zip(state.final_sums, here.final_sums, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-8)
        assert reached is None or state.value >= reached * (1 - 1e-12)
        reached = other.evaluate(polar(here.gradient).factor).value


@pytest.mark.parametrize("columns", COLUMNS)
def test_the_basis_stays_orthonormal_and_the_projections_its_own(
    columns, float_type, random_U, monkeypatch
):
    """Also long after the optimum is reached, when nothing new is found, and over restarts."""
    problem, restarts, keep = _problem(dtype=float_type), [], Span.keep
    monkeypatch.setattr(Span, "keep", lambda self, B: (restarts.append(B), keep(self, B)))
    eps, seen = np.finfo(float_type).eps, []
    for state in _states(problem, Subspace(columns), Start(random_U(M, R)), 40):
        S, U = state.span.basis, state.U
        assert S.dtype == U.dtype == float_type
        assert S.shape[1] <= min(Subspace(columns).capacity(R), M)
        assert np.abs(S.T @ S - np.eye(S.shape[1])).max() < 100 * eps
        assert np.abs(U.T @ U - np.eye(R)).max() < 20 * eps
        seen.append((state, U.copy()))
    Z = problem.rows.project(S)
    np.testing.assert_allclose(state.span.projections, Z, atol=300 * eps * np.abs(Z).max())
    assert columns is None or len(restarts) > 1
    # The basis grows in place; what was read of a state does not change with it.
    for state, U in seen:
        np.testing.assert_array_equal(state.U, U)


def test_it_needs_fewer_passes_than_alternation_also_with_a_narrow_basis(layout, random_U):
    passes = {}
    for solver in (Alternating(), Subspace(), Subspace(columns=1)):
        problem = _problem(layout)
        found = iterate(problem, solver, Start(random_U(M, R)), tol=1e-6, max_iter=2000)
        assert found.stop_reason is StopReason.CONVERGED
        passes[solver] = problem.rows.passes
    slow, wide, narrow = passes.values()
    assert wide <= slow / 3
    assert wide <= narrow <= slow / 1.5


@pytest.mark.parametrize("m", [4, 5, 7])
def test_a_basis_of_the_whole_space_is_enough(float_type, m, random_U):
    """Fewer features than the basis could have columns: then nothing can be added."""
    problem = _problem(dtype=float_type, m=m)
    for state in _states(problem, Subspace(), Start(random_U(m, R)), 12):
        assert state.span.columns <= m
    assert problem.evaluate(state.U).residual < (1e-6 if float_type == np.float64 else 1e-3)


def test_one_component_more_than_the_rank_does_no_harm(float_type, random_U, rng):
    X = (rng.standard_normal((40, R)) @ rng.standard_normal((R, M))).astype(float_type)
    problem, eps = Problem(as_rows(X)), float(np.finfo(float_type).eps)
    for state in _states(problem, Subspace(), Start(random_U(M, R + 1)), 12):
        assert np.abs(state.U.T @ state.U - np.eye(R + 1)).max() < 20 * eps
    assert state.value == pytest.approx(40, rel=100 * eps)


@pytest.mark.parametrize("columns", [None, 32])
def test_long_after_convergence_nothing_drifts(float_type, columns):
    """There every new direction is rounding error, which must not be blown up."""
    X = sparse.random(400, 1500, 0.01, random_state=1, format="csr").astype(float_type)
    solver, options = Subspace(columns), {"tol": 0, "max_iter": 150, "random_state": 0}
    with pytest.warns(ConvergenceWarning):
        model = SphericalPCA(8, solver=solver, **options).fit(X)
    eps, C = float(np.finfo(float_type).eps), model.components_.astype(np.float64)
    assert np.abs(C @ C.T - np.eye(8)).max() < 20 * eps
    assert model.residual_ < 100 * eps
    problem = Problem(as_rows(X.astype(np.float64)))
    true = problem.loss(problem.evaluate(C.T).value)
    assert model.loss_ == pytest.approx(true, rel=20 * eps)
    assert np.diff(model.history_["loss"]).max() <= 20 * eps * true


@pytest.mark.parametrize("columns", [0, -3, 2.5, True, "a"])
def test_columns_must_be_a_count(columns):
    with pytest.raises(ValueError, match=r"columns=.* must be a positive integer"):
        Subspace(columns)
