"""Every solver on every problem, dense and CSR: what must hold whatever the method."""

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


@pytest.fixture
def solved(run, solver_name, name, layout):
    return run(solver_name, name, layout)


def _solve(problem, r, solver, **options):
    options = {"init": "svd", "tol": 0.0, "max_iter": 8, **options}
    return solve(problem, r, solver=solver, rng=np.random.default_rng(0), **options).solution


def _same_run(one, other, case, rtol=1e-9):
    """Two runs that differ in rounding only: same losses, and the same subspace if it is one."""
    np.testing.assert_allclose(one.history["loss"], other.history["loss"], rtol=rtol, atol=1e-11)
    assert one.value == pytest.approx(other.value, rel=rtol)
    if case.smooth:
        np.testing.assert_allclose(one.U @ one.U.T, other.U @ other.U.T, atol=1e-6)


def test_U_is_orthonormal_to_rounding(solved, case):
    U = solved[0].U
    assert U.shape == (case.X.shape[1], case.r)
    assert np.abs(U.T @ U - np.eye(case.r)).max() < 30 * EPS


def test_components_have_unit_rows(solved, case):
    solution, problem = solved
    length = np.linalg.norm(problem.rows.components(solution.U), axis=1)
    np.testing.assert_allclose(length, problem.rows.stats.norm > 0, atol=10 * EPS)


def test_the_loss_never_rises(solved):
    solution, problem = solved
    rounding = 64 * EPS * (problem.rows.totals.energy + problem.rows.totals.weight)
    assert (np.diff(solution.history["loss"]) <= rounding).all()
    assert solution.value >= solution.start_value - rounding


def test_value_loss_and_residual_at_the_end_are_those_of_plain_numpy(solved, case, plain):
    solution, explicit = solved[0], plain.of(case)
    U = solution.U
    assert solution.value == pytest.approx(explicit.value(U), rel=1e-12)
    assert solution.residual == pytest.approx(explicit.residual(U), rel=1e-6, abs=1e-12)
    assert solution.residual == solution.history["residual"][-1]
    # The loss of the last pair is at least that of the best V at the same U.
    best = explicit.loss(U, explicit.best_V(U))
    assert solution.history["loss"][-1] >= best - 1e-11


def test_exact_V_steps_end_on_the_loss_of_the_best_components(name, layout, run, zoo, plain):
    explicit = plain.of(zoo[name])
    for solver_name in ("alternating", "block uv"):
        solution, _ = run(solver_name, name, layout)
        best = explicit.loss(solution.U, explicit.best_V(solution.U))
        assert solution.history["loss"][-1] == pytest.approx(best, rel=1e-10, abs=1e-11)


def test_dense_and_csr_runs_are_the_same(solver, case, make_problem):
    dense, csr = (_solve(make_problem(case, t), case.r, solver) for t in ("dense", "csr"))
    if case.smooth:
        _same_run(dense, csr, case)


def test_the_same_seed_gives_the_same_result(solver, case, layout, make_problem):
    one, other = (_solve(make_problem(case, layout), case.r, solver, n_init=2) for _ in "ab")
    assert one.U.tobytes() == other.U.tobytes()
    assert one.history["loss"].tobytes() == other.history["loss"].tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_type_is_kept_and_U_orthonormal_in_it(solver, case, layout, make_problem, dtype):
    solution = _solve(make_problem(case, layout, dtype), case.r, solver)
    U = solution.U
    assert U.dtype == dtype
    assert np.abs(U.T @ U - np.eye(case.r)).max() < 30 * np.finfo(dtype).eps
    assert not any(np.isnan(column).any() for column in solution.history.values())


def test_single_precision_is_near_double(solver, name, zoo, make_problem):
    case = zoo[name]
    single, double = (
        _solve(make_problem(case, dtype=t), case.r, solver, init="random")
        for t in (np.float32, np.float64)
    )
    assert single.value == pytest.approx(double.value, rel=1e-4)


def test_the_order_of_the_rows_does_not_matter(solver, case, layout, make_problem, rng):
    order = rng.permutation(len(case.X))
    convert = sparse.csr_array if layout == "csr" else np.asarray
    shuffled = as_rows(convert(case.X[order]), weight=case.w[order], normalize=case.normalize)
    one = _solve(make_problem(case, layout), case.r, solver, init="random")
    other = _solve(Problem(shuffled), case.r, solver, init="random")
    _same_run(one, other, case)


@pytest.mark.parametrize("block_rows", [1, 5])
def test_the_block_layout_does_not_matter(solver, case, layout, make_problem, block_rows):
    options = {"init": "random", "max_iter": 4}
    one = _solve(make_problem(case, layout), case.r, solver, **options)
    cut = make_problem(case, layout, block_rows=block_rows)
    _same_run(one, _solve(cut, case.r, solver, **options), case)


def test_flipping_rows_does_not_matter(solver, case, make_problem, rng):
    signs = rng.choice([-1.0, 1.0], size=(len(case.X), 1))
    flipped = as_rows(case.X * signs, weight=case.weight, normalize=case.normalize)
    one = _solve(make_problem(case), case.r, solver, init="random")
    _same_run(one, _solve(Problem(flipped), case.r, solver, init="random"), case)


def test_rotating_the_features_rotates_the_answer(solver, zoo, make_problem, random_U):
    case, Q = zoo["weighted"], random_U(6, 6, seed=9)
    turned = Problem(as_rows(case.X @ Q, weight=case.weight))
    one, other = _solve(make_problem(case), 2, solver), _solve(turned, 2, solver)
    np.testing.assert_allclose(one.history["loss"], other.history["loss"], rtol=1e-10)
    assert principal_angles(Q.T @ one.U, other.U).max() < 1e-6


def _memory(X, how, folder):
    if how == "fortran":
        return np.asfortranarray(X)
    if how == "strided":
        return np.kron(X, np.ones((2, 2)))[::2, ::2]
    X.tofile(folder / "X.bin")
    return np.memmap(folder / "X.bin", dtype=X.dtype, mode="r", shape=X.shape)


@pytest.mark.parametrize("how", ["fortran", "strided", "memmap"])
def test_memory_order_does_not_matter(solver, case, make_problem, how, tmp_path):
    X = _memory(case.X, how, tmp_path)
    before = X.tobytes()
    rows = as_rows(X, weight=case.weight, normalize=case.normalize, block_rows=7)
    other = _solve(Problem(rows), case.r, solver, init="random")
    _same_run(_solve(make_problem(case), case.r, solver, init="random"), other, case)
    assert X.tobytes() == before


def _bytes(*arrays):
    return [array.tobytes() for array in arrays]


def test_inputs_are_not_modified(solver, zoo, layout, random_U, rng):
    case = zoo["weighted"]
    X = case.X.copy()
    S, w, U, V = sparse.csr_array(X), case.w.copy(), random_U(6, 2), rng.random((30, 2))
    inputs = (X, S.data, S.indices, S.indptr, w, U, V)
    before = _bytes(*inputs)
    problem = Problem(as_rows(S if layout == "csr" else X, weight=w))
    init = (U, V) if isinstance(solver, Linearized) else U
    _solve(problem, 2, solver, init=init)
    _solve(problem, 2, solver)
    assert _bytes(*inputs) == before


# Problems whose best subspace stands out, so that every solver should find it.
CLEAR = ["spiked", "weighted", "long and short", "plane", "empty rows"]


@pytest.mark.parametrize("name", [*CLEAR, "line", "one row"])
def test_solvers_agree_from_the_svd_where_one_optimum_is_clear(name, layout, solver_name, run):
    best, _ = run("alternating", name, layout)
    found, _ = run(solver_name, name, layout, max_iter=1500)
    assert found.value == pytest.approx(best.value, rel=1e-7)
    assert principal_angles(found.U, best.U).max() < 1e-3


ACCELERATED = [name for name, entry in SOLVERS.items() if entry.accelerated]
ACCELERATED += ["narrow subspace"]
EXACT = [name for name, entry in SOLVERS.items() if not entry.moves_pairs]


@pytest.mark.parametrize("solver_name", ACCELERATED)
@pytest.mark.parametrize("seed", range(3))
def test_acceleration_ends_no_worse_than_exact_alternation(solver, case, make_problem, seed):
    """From the same start, and never by a rising loss on the way there."""
    options = {"init": "random", "tol": 1e-6, "max_iter": 500, "rng": np.random.default_rng(seed)}
    problem = make_problem(case)
    found = solve(problem, case.r, solver=solver, **options).solution
    options["rng"] = np.random.default_rng(seed)
    exact = solve(make_problem(case), case.r, solver=Alternating(), **options).solution
    assert found.value >= exact.value * (1 - 1e-4)


@pytest.mark.parametrize(("dtype", "rounding"), [(np.float32, 1e-6), (np.float64, 1e-12)])
@pytest.mark.parametrize("solver_name", [*EXACT, "narrow subspace"])
def test_the_loss_never_rises_from_anywhere(solver, case, make_problem, dtype, rounding):
    problem = make_problem(case, dtype=dtype)
    rounding *= problem.rows.totals.energy + problem.rows.totals.weight
    for seed in range(2):
        options = {"init": "random", "max_iter": 15, "rng": np.random.default_rng(seed)}
        found = solve(problem, case.r, solver=solver, tol=0.0, **options).solution
        assert (np.diff(found.history["loss"]) <= rounding).all()
        assert found.value >= found.start_value * (1 - rounding)


# With one component there are many local optima: a large lam keeps every sign of V.
@pytest.mark.parametrize("name", CLEAR)
def test_solvers_agree_from_anywhere_where_one_optimum_is_clear(name, solver_name, run):
    best, _ = run("alternating", name)
    found, _ = run(solver_name, name, init="random", max_iter=2500)
    assert found.value == pytest.approx(best.value, rel=1e-6)
    assert principal_angles(found.U, best.U).max() < 1e-2


@pytest.mark.parametrize("name", [*CLEAR, "noise", "text", "few rows"])
def test_one_exact_step_is_the_polar_factor_of_the_best_components(case, make_problem, plain):
    U = np.linalg.qr(case.X[: case.r].T + np.eye(case.X.shape[1])[:, : case.r])[0]
    A, _, Bt = np.linalg.svd(plain.of(case).gradient(U), full_matrices=False)
    found = _solve(make_problem(case), case.r, Alternating(), init=U, max_iter=1)
    np.testing.assert_allclose(found.U, A @ Bt, atol=1e-12)
