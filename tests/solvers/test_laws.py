"""The laws of the problem (what its optimum must be) and the saddles a fit must leave."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.optimize import brentq

from sphericalpca.linalg import principal_angles
from sphericalpca.problem import Problem
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.rows import as_rows
from sphericalpca.solvers import Linearized, Subspace, solve

EXACT = [entry.load()() for entry in SOLVERS.values() if not entry.moves_pairs]
DECIDED = ("passes", "small_iterations", "hessian_products", "radius")


def _problem(X, layout="dense", dtype=np.float64, **options):
    X = np.asarray(X, dtype=dtype)
    return Problem(as_rows(sparse.csr_array(X) if layout == "csr" else X, **options))


def _solve(problem, r, solver, **options):
    options = {"tol": 1e-9, "max_iter": 3000, "rng": np.random.default_rng(0), **options}
    return solve(problem, r, solver=solver, **options).solution


def _best_line(X, w):
    """f at the optimum for r = 1: the longest signed sum of the rows."""
    signs = np.array(list(product([1.0, -1.0], repeat=len(X))))
    return np.linalg.norm((signs * w) @ X, axis=1).max()


def test_one_component_ends_at_or_below_the_optimum_by_sign_enumeration(solver, layout):
    """At it from many starts, unless large constants keep every sign of V."""
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((8, 4)), rng.uniform(0.2, 2, 8)
    problem, best = _problem(X, layout, weight=w, normalize=False), _best_line(X, w)
    for seed in range(4):
        options = {"init": "random", "rng": np.random.default_rng(seed), "max_iter": 100}
        assert _solve(problem, 1, solver, **options).value <= best * (1 + 1e-12)
    if solver in [*EXACT, Linearized("block", "block")]:
        found = _solve(problem, 1, solver, n_init=25, max_iter=300, tol=1e-6)
        assert found.value == pytest.approx(best, rel=1e-9)


def test_all_components_of_unit_rows_leave_no_loss(solver, rng):
    problem = _problem(rng.standard_normal((12, 4)))
    found = _solve(problem, 4, solver, max_iter=5, tol=0.0)
    assert problem.loss(found.value) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("r", "init"), [(1, "svd"), (2, "random"), (3, "svd")])
def test_data_inside_a_plane_are_recovered_exactly(r, init, solver, rng):
    basis = np.linalg.qr(rng.standard_normal((8, r)))[0]
    problem = _problem(rng.standard_normal((10, r)) @ basis.T)
    found = _solve(problem, r, solver, init=init)
    assert principal_angles(found.U, basis).max() < 1e-6
    assert problem.loss(found.value) == pytest.approx(0.0, abs=1e-10)


def _repeated(X, counts, layout):
    together = _problem(X, layout, weight=counts.astype(float), normalize=False)
    apart = _problem(np.repeat(X, counts, axis=0), layout, normalize=False)
    return together, apart


def test_a_weight_equals_repeating_a_row_at_every_step(solver, layout, rng, recorder):
    X, counts = rng.standard_normal((12, 5)), rng.integers(0, 4, size=12)
    runs, watched = [], []
    for problem in _repeated(X, counts, layout):
        monitor = recorder()
        options = {"tol": 0.0, "max_iter": 30, "monitor": monitor}
        runs.append(_solve(problem, 2, solver, **options))
        watched.append([state.U @ state.U.T for state in monitor.states])
    one, other = runs
    np.testing.assert_allclose(watched[0], watched[1], atol=1e-9)
    # Accelerated methods decide by comparing values: at the optimum rounding decides.
    undecided = np.append(np.minimum(*(r.history["residual"] for r in runs)) < 1e-5, True).argmax()
    for measure in set(one.history) - {"seconds", "flops", "decrease_ratio"}:
        steps = slice(undecided if measure in DECIDED else None)
        here, there = one.history[measure][steps], other.history[measure][steps]
        np.testing.assert_allclose(here, there, rtol=1e-8, atol=1e-9, err_msg=measure)
    assert one.constants == pytest.approx(other.constants, nan_ok=True)


def test_a_weight_equals_repeating_a_row_from_a_given_pair(rng, random_U):
    X, counts = rng.standard_normal((12, 5)), rng.integers(0, 4, size=12)
    U, V = random_U(5, 2), rng.random((12, 2))
    for order in ("uv", "vu"):
        one, other = (
            _solve(problem, 2, Linearized(order=order), init=init, tol=0.0, max_iter=20)
            for problem, init in zip(
                _repeated(X, counts, "dense"),
                [(U, V), (U, np.repeat(V, counts, axis=0))],
                strict=True,
            )
        )
        np.testing.assert_allclose(one.U, other.U, atol=1e-11)
        for measure in ("loss", "delta_U", "delta_V", "decrease_ratio", "subgradient"):
            np.testing.assert_allclose(one.history[measure], other.history[measure], rtol=1e-7)


@pytest.mark.parametrize(
    ("X", "optimum"),
    [
        (np.repeat(np.eye(2), [10, 9], axis=0), np.sqrt(10**2 + 9**2)),
        (np.repeat(np.eye(5)[1:4], [10, 9, 4], axis=0), np.sqrt(10**2 + 9**2 + 4**2)),
        (np.eye(6), np.sqrt(6)),
        (np.repeat([[1, 0], [0, 1], [0, -1]], [10, 5, 5], axis=0), np.sqrt(10**2 + 10**2)),
    ],
    ids=["two_axes", "three_axes", "one_hot", "symmetric"],
)
def test_one_component_leaves_the_saddle_at_the_svd(X, optimum, solver, float_type):
    found = _solve(_problem(X, dtype=float_type), 1, solver, tol=1e-6)
    assert found.value == pytest.approx(optimum, rel=1e-5)


def _best_one_hot(counts, r):
    """f for c_i copies of each e_i: maximise sum c_i sqrt(p_i), p_i <= 1, sum p_i = r.

    p is the diagonal of UU', and every such p is one (Schur and Horn).
    """
    counts = np.asarray(counts, dtype=float)

    def share(level):
        return np.minimum((counts / level) ** 2, 1.0)

    level = brentq(lambda x: share(x).sum() - r, 1e-3, counts.sum(), xtol=1e-13)
    return counts @ np.sqrt(share(level))


@pytest.mark.parametrize(("counts", "r"), [([9, 7, 5, 3], 2), ([4, 4, 4, 4], 2), ([8, 2, 2, 2], 3)])
def test_several_components_leave_the_saddle_of_one_hot_rows(counts, r, solver):
    problem = _problem(np.repeat(np.eye(len(counts)), counts, axis=0))
    found = _solve(problem, r, solver, tol=1e-6, max_iter=400)
    assert found.value == pytest.approx(_best_one_hot(counts, r), rel=5e-3)
    assert found.value > 1.05 * sum(sorted(counts)[-r:])  # the saddle itself


matrices = arrays(
    np.float64, st.tuples(st.integers(2, 6), st.integers(2, 4)), elements=st.floats(-8, 8)
)


ANY_SOLVER = [
    *(entry.load()() for entry in SOLVERS.values()),
    Subspace(columns=1),
    Linearized("block", "block"),
]


@given(matrices, st.sampled_from(ANY_SOLVER), st.booleans(), st.data())
@settings(deadline=None, max_examples=50)
def test_invariants_hold_for_any_rows(X, solver, normalize, data):
    problem = _problem(X, normalize=normalize)
    assume(problem.rows.stats.norm.max() > 1e-6)
    r = data.draw(st.integers(1, min(X.shape)))
    found = _solve(problem, r, solver, tol=0.0, max_iter=6)
    assert np.abs(found.U.T @ found.U - np.eye(r)).max() < 1e-13
    rounding = 1e-13 * (problem.rows.totals.energy + problem.rows.totals.weight)
    assert (np.diff(found.history["loss"]) <= rounding).all()
    assert found.value <= problem.rows.stats.weight @ problem.rows.stats.norm * (1 + 1e-12)
    assert 0 <= found.residual <= 1 + 1e-12
