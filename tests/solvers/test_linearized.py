"""Algorithm 1 to the letter: against the paper's iteration written down as it is printed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from sphericalpca.convergence import analyse
from sphericalpca.iterate import iterate
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.solvers import (
    Linearized,
    Start,
    lipschitz_constant,
    solve,
)

MEASURES = ("loss", "delta_U", "delta_V", "decrease_ratio", "subgradient")


def _paper_U(X, U, V, mu, w):
    """Eq. (F), samples as columns: M(k) = 2(X - U V)V' + mu U, then its full SVD."""
    M = 2 * (X - U @ V) @ (w[:, None] * V.T) + mu * U
    Y, _, Zt = np.linalg.svd(M)
    return Y[:, : U.shape[1]] @ Zt


def _paper_V(X, U, V, lam):
    """Eq. (g): q = 2 U'x_j + (lam - 2) v_j, over its length."""
    Q = 2 * U.T @ X + (lam - 2) * V
    return Q / np.linalg.norm(Q, axis=0)


def _loss(X, U, V, w):
    return float((w * (X - U @ V) ** 2).sum())


def _subgradient(X, U, V, w):
    """Length of the gradient of h projected on the tangent space of both constraints."""
    R = U @ V - X
    A = 2 * R @ (w[:, None] * V.T)
    A -= U @ (U.T @ A + A.T @ U) / 2
    B = 2 * U.T @ R
    B -= V * (V * B).sum(axis=0)
    return math.sqrt((A**2).sum() + (w * B**2).sum())


def _paper_run(X, U, V, *, lam, mu, steps, order, w=None):
    """Every pair (U(k), V(k)) and every measure, for k = 1 ... steps."""
    w = np.ones(X.shape[1]) if w is None else w
    Us, record = [], []
    for _ in range(steps):
        U0, V0 = U, V
        if order == "uv":
            U = _paper_U(X, U, V, mu, w)
            V = _paper_V(X, U, V, lam)
        else:
            V = _paper_V(X, U, V, lam)
            U = _paper_U(X, U, V, mu, w)
        dU, dV = np.linalg.norm(U - U0), math.sqrt((w * (V - V0) ** 2).sum())
        h0, h = _loss(X, U0, V0, w), _loss(X, U, V, w)
        ratio = (h0 - h) / (dU**2 + dV**2)
        Us.append(U)
        record.append((h, dU, dV, ratio, _subgradient(X, U, V, w)))
    return Us, dict(zip(MEASURES, np.array(record).T, strict=True))


def _our_run(problem, start, solver, steps, recorder):
    monitor = recorder()
    found = iterate(problem, solver, start, tol=0.0, max_iter=steps, monitor=monitor)
    return [state.U for state in monitor.states], found


def _agree(ours, papers, rtol=1e-6):
    """Every U(k) and every measure; a decrease is exact to the rounding of the losses."""
    np.testing.assert_allclose(ours[0], papers[0], atol=1e-10)
    history, expected = ours[1].history, papers[1]
    for measure in MEASURES:
        if measure != "decrease_ratio":
            np.testing.assert_allclose(
                history[measure], expected[measure], rtol=rtol, atol=1e-10, err_msg=measure
            )
    moved = expected["delta_U"] ** 2 + expected["delta_V"] ** 2
    decrease = expected["decrease_ratio"] * moved
    rounding = 1e-13 * expected["loss"][0]
    np.testing.assert_allclose(
        history["decrease_ratio"] * moved, decrease, rtol=rtol, atol=rounding
    )


@pytest.fixture(params=["uv", "vu"])
def order(request):
    return request.param


@pytest.fixture(params=["spiked", "noise", "weighted", "long and short", "few rows"])
def case(request, zoo):
    return zoo[request.param]


@pytest.fixture
def written(case, plain, random_U):
    """X, U, V and weights as the paper writes them; the start knows nothing of the data."""
    explicit = plain.of(case)
    V = np.random.default_rng(1).standard_normal((case.r, len(case.X)))
    U = random_U(case.X.shape[1], case.r)
    return explicit.X.T, U, V / np.linalg.norm(V, axis=0), explicit.w


def test_every_iterate_is_the_papers(written, problem, order, recorder):
    X, U, V, w = written
    L = lipschitz_constant(problem, U.shape[1])
    for lam, mu in ((1.01 * L, 1.01 * L), (0.1 * L, 0.3 * L), (2.0 * L, 0.4 * L)):
        options = {"lam": lam, "mu": mu, "order": order}
        papers = _paper_run(X, U, V, steps=25, w=w, **options)
        _agree(_our_run(problem, Start(U, V.T), Linearized(**options), 25, recorder), papers)


def test_named_constants_are_those_of_the_theory_or_renewed_in_every_iteration(
    written, problem, order
):
    X, U, V, w = written
    L = lipschitz_constant(problem, U.shape[1])
    theory = iterate(problem, Linearized(), Start(U), tol=0.0, max_iter=1).constants
    assert theory["lipschitz"] == L
    assert L < theory["lam"] == theory["mu"] < 1.1 * L
    solver = Linearized("block", "block", order)
    found = iterate(problem, solver, Start(U, V.T), tol=0.0, max_iter=12)
    for _ in range(12):
        if order == "vu":
            V = _paper_V(X, U, V, 2.0)
        mu = 2 * np.linalg.eigvalsh((w * V) @ V.T)[-1]
        U = _paper_U(X, U, V, mu, w)
        if order == "uv":
            V = _paper_V(X, U, V, 2.0)
    np.testing.assert_allclose(found.U, U, atol=1e-9)


def _toy(seed):
    """200 points in space, as columns: two sheets between the Z axis and X = Z or Y = Z."""
    rng = np.random.default_rng(seed)
    z, part = rng.uniform(0.2, 2, (2, 100)), rng.uniform(0, 1, (2, 100))
    zero = np.zeros(100)
    return np.hstack([[part[0] * z[0], zero, z[0]], [zero, part[1] * z[1], z[1]]])


@pytest.mark.parametrize("normalize", [True, False])
def test_the_authors_toy_program_is_followed_step_by_step(layout, normalize, recorder):
    X = _toy(seed=0)
    U, V = np.eye(3)[:, :2], np.random.default_rng(0).uniform(size=(2, 200))
    matrix = sparse.csr_array(X.T) if layout == "csr" else X.T.copy()
    problem, monitor = Problem(as_rows(matrix, normalize=normalize)), recorder()
    solver = Linearized(lam=75, mu=75, order="vu")
    options = {"init": (U, V.T), "tol": 0.0, "max_iter": 100, "rng": None, "monitor": monitor}
    found = solve(problem, 2, solver=solver, **options).solution
    if normalize:
        X = X / np.linalg.norm(X, axis=0)
    papers = _paper_run(X, U, V, lam=75.0, mu=75.0, steps=100, order="vu")
    _agree(([state.U for state in monitor.states], found), papers)


def test_without_V_a_run_starts_from_the_best_and_lam_two_makes_the_V_step_exact(
    zoo, make_problem, plain, random_U, order
):
    case, U, explicit = zoo["noise"], random_U(7, 3), plain.of(zoo["noise"])
    one, other = (
        iterate(make_problem(case), Linearized(order=order), start, tol=0.0, max_iter=9)
        for start in (Start(U), Start(U, explicit.best_V(U)))
    )
    np.testing.assert_allclose(one.history["loss"], other.history["loss"], rtol=1e-12)
    found = iterate(make_problem(case), Linearized(lam=2.0), Start(U), tol=0.0, max_iter=3)
    best = explicit.loss(found.U, explicit.best_V(found.U))
    assert found.history["loss"][-1] == pytest.approx(best, rel=1e-12)


def test_larger_constants_make_shorter_steps(zoo, make_problem, random_U, rng):
    """As the formula of the V step says at every lam, also where it is a round number."""
    case, U, V = zoo["noise"], random_U(7, 3), rng.standard_normal((40, 3))
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    lengths = []
    for lam in (2.0, 3.0, 4.0, 10.0, 100.0):
        solver = Linearized(lam=lam, mu=100.0, order="vu")
        found = iterate(make_problem(case), solver, Start(U, V), tol=0.0, max_iter=1)
        X = case.X / np.linalg.norm(case.X, axis=1, keepdims=True)
        expected = np.linalg.norm(_paper_V(X.T, U, V.T, lam).T - V)
        assert found.history["delta_V"][0] == pytest.approx(expected, rel=1e-9)
        lengths.append(expected)
    assert (np.diff(lengths) < 0).all()


def test_sufficient_decrease_holds_in_single_precision_and_once_V_is_unit(order, zoo, make_problem):
    V = np.random.default_rng(0).uniform(size=(40, 3))
    for dtype, start, begin in (
        (np.float64, Start(np.eye(7)[:, :3], V), 1),
        (np.float32, Start(np.eye(7)[:, :3]), 0),
    ):
        problem, solver = make_problem(zoo["noise"], dtype=dtype), Linearized(order=order)
        found = iterate(problem, solver, start, tol=0.0, max_iter=400)
        assert analyse(found.history, found.constants).sufficient_decrease[begin:].all()


@pytest.mark.parametrize("value", [-1, math.nan, math.inf, "exact", None, True, [2.0]], ids=repr)
def test_an_impossible_constant_is_refused(value):
    for option in ("lam", "mu"):
        with pytest.raises(ValueError, match=f"{option}=.*'theory', 'block'"):
            Linearized(**{option: value})


def test_an_unknown_order_is_refused():
    with pytest.raises(ValueError, match=r"order='uu' must be 'uv'.*'vu'"):
        Linearized(order="uu")
