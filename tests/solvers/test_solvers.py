"""Every solver on every problem: properties that do not depend on the method."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sphericalpca.linalg import principal_angles
from sphericalpca.problem import Problem
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.rows import as_rows
from sphericalpca.solvers import Alternating, Linearized, solve

EPS = np.finfo(np.float64).eps
# Problems whose best subspace stands out, so that every solver should find it.
CLEAR = ["spiked", "weighted", "long and short", "plane", "empty rows"]


def _solve(problem, r, solver, seed=0, **options):
    options = {"init": "svd", "tol": 0.0, "max_iter": 8, **options}
    return solve(problem, r, solver=solver, rng=np.random.default_rng(seed), **options).solution


@pytest.fixture
def solved(run, solver_name, name, layout):
    return run(solver_name, name, layout)


def test_a_solution_is_what_plain_numpy_says_and_its_loss_never_rose(
    solved, solver_name, case, plain
):
    (solution, problem), explicit = solved, plain.of(case)
    U, loss = solution.U, solution.history["loss"]
    assert U.shape == (case.X.shape[1], case.r)
    assert np.abs(U.T @ U - np.eye(case.r)).max() < 30 * EPS
    length = np.linalg.norm(problem.rows.components(U), axis=1)
    np.testing.assert_allclose(length, problem.rows.stats.norm > 0, atol=10 * EPS)
    rounding = 64 * EPS * (problem.rows.totals.energy + problem.rows.totals.weight)
    assert (np.diff(loss) <= rounding).all()
    assert solution.value >= solution.start_value - rounding
    assert solution.value == pytest.approx(explicit.value(U), rel=1e-12)
    assert solution.residual == pytest.approx(explicit.residual(U), rel=1e-6, abs=1e-12)
    assert solution.residual == solution.history["residual"][-1]
    # The loss of the last pair is at least that of the best V at the same U, which exact V
    # steps end on.
    best = explicit.loss(U, explicit.best_V(U))
    assert loss[-1] >= best - 1e-11
    if solver_name in ("alternating", "block uv"):
        assert loss[-1] == pytest.approx(best, rel=1e-10, abs=1e-11)


def test_in_either_type_the_loss_never_rises_from_a_random_start(solver, case, make_problem):
    found = {}
    for dtype, rounding in ((np.float32, 1e-6), (np.float64, 1e-12)):
        problem = make_problem(case, dtype=dtype)
        solution = _solve(problem, case.r, solver, init="random", max_iter=10)
        U = solution.U
        assert U.dtype == dtype
        assert np.abs(U.T @ U - np.eye(case.r)).max() < 30 * np.finfo(dtype).eps
        assert not any(np.isnan(column).any() for column in solution.history.values())
        size = problem.rows.totals.energy + problem.rows.totals.weight
        assert (np.diff(solution.history["loss"]) <= rounding * size).all()
        assert solution.value >= solution.start_value * (1 - rounding * size)
        found[dtype] = solution.value
    assert found[np.float32] == pytest.approx(found[np.float64], rel=1e-4)


def test_order_signs_layout_and_basis_of_the_rows_do_not_matter(
    solver, zoo, make_problem, rng, random_U
):
    case, Q = zoo["weighted"], random_U(6, 6, seed=9)
    X, w, order = case.X, case.w, rng.permutation(30)
    same = {
        "order": (X[order], w[order]),
        "signs": (X * rng.choice([-1.0, 1.0], size=(30, 1)), w),
        "memory": (np.asfortranarray(X), w),
        "CSR": (sparse.csr_array(X), w),
    }
    one = _solve(make_problem(case), 2, solver)
    close = {"rtol": 1e-9, "atol": 1e-11}
    for what, (rows, weight) in same.items():
        other = _solve(Problem(as_rows(rows, weight=weight, block_rows=5)), 2, solver)
        losses = one.history["loss"], other.history["loss"]
        np.testing.assert_allclose(*losses, **close, err_msg=what)
        np.testing.assert_allclose(one.U @ one.U.T, other.U @ other.U.T, atol=1e-6, err_msg=what)
    turned = _solve(Problem(as_rows(X @ Q, weight=w)), 2, solver)
    np.testing.assert_allclose(one.history["loss"], turned.history["loss"], **close)
    assert principal_angles(Q.T @ one.U, turned.U).max() < 1e-6


def test_inputs_are_not_modified(solver, zoo, layout, random_U, rng):
    X = zoo["weighted"].X.copy()
    S, w, U, V = sparse.csr_array(X), zoo["weighted"].w.copy(), random_U(6, 2), rng.random((30, 2))
    inputs = (X, S.data, S.indices, S.indptr, w, U, V)
    before = [array.tobytes() for array in inputs]
    problem = Problem(as_rows(S if layout == "csr" else X, weight=w))
    _solve(problem, 2, solver, init=(U, V) if isinstance(solver, Linearized) else U)
    _solve(problem, 2, solver)
    assert [array.tobytes() for array in inputs] == before


@pytest.mark.parametrize("name", [*CLEAR, "line", "one row"])
def test_solvers_agree_where_one_optimum_is_clear(name, solver_name, run):
    best, _ = run("alternating", name)
    found, _ = run(solver_name, name, max_iter=1500)
    assert found.value == pytest.approx(best.value, rel=1e-7)
    assert principal_angles(found.U, best.U).max() < 1e-3
    # With one component there are many local optima: a large lam keeps every sign of V.  The
    # constants of the theory make short steps.
    if name in CLEAR and not solver_name.startswith("theory"):
        found, _ = run(solver_name, name, init="random", max_iter=500)
        assert found.value == pytest.approx(best.value, rel=1e-6)
        assert principal_angles(found.U, best.U).max() < 1e-2


ACCELERATED = [name for name, entry in SOLVERS.items() if entry.accelerated]


@pytest.mark.parametrize("solver_name", [*ACCELERATED, "narrow subspace"])
def test_acceleration_ends_no_worse_than_exact_alternation(solver, case, make_problem):
    for seed in range(2):
        options = {"init": "random", "tol": 1e-6, "max_iter": 500, "seed": seed}
        found, exact = (
            _solve(make_problem(case), case.r, each, **options) for each in (solver, Alternating())
        )
        assert found.value >= exact.value * (1 - 1e-4)


@pytest.mark.parametrize("name", [*CLEAR, "noise", "text", "few rows"])
def test_one_exact_step_is_the_polar_factor_of_the_best_components(case, make_problem, plain):
    U = np.linalg.qr(case.X[: case.r].T + np.eye(case.X.shape[1])[:, : case.r])[0]
    A, _, Bt = np.linalg.svd(plain.of(case).gradient(U), full_matrices=False)
    found = _solve(make_problem(case), case.r, Alternating(), init=U, max_iter=1)
    np.testing.assert_allclose(found.U, A @ Bt, atol=1e-12)
