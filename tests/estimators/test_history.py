"""The record of a run, and Algorithm 1 followed step by step in plain numpy."""

import itertools

import numpy as np
import pytest

from sphericalpca import SphericalPCA
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.solvers import Linearized

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def polar(M):
    A, _, Bt = np.linalg.svd(M, full_matrices=False)
    return A @ Bt


def algorithm_1(Z, w, U, V, *, lam, mu, order, steps):
    """The pairs (U, V) of the paper's Algorithm 1, samples as rows."""
    pairs = [(U, V)]
    for _ in range(steps):
        for block in order:
            if block == "u":
                WV = w[:, None] * V
                U = polar(2 * (Z.T @ WV - U @ (V.T @ WV)) + mu * U)
            else:
                V = 2 * Z @ U + (lam - 2) * V
                V = V / np.linalg.norm(V, axis=1, keepdims=True)
        pairs.append((U, V))
    return pairs


def subgradient(Z, w, U, V):
    """dist(0, dh): the Riemannian gradient of h, in V for the weighted metric."""
    G = 2 * (U @ (V.T @ (w[:, None] * V)) - Z.T @ (w[:, None] * V))
    S = U.T @ G
    T = 2 * (V - Z @ U)
    T -= V * np.sum(V * T, axis=1, keepdims=True)
    return np.sqrt(np.sum((G - U @ (S + S.T) / 2) ** 2) + w @ np.sum(T**2, axis=1))


@pytest.fixture(params=["uv", "vu"])
def followed(request, X, weight, oracle):
    """The estimator's record of 12 steps beside our own pairs."""
    rng = np.random.default_rng(4)
    U = np.eye(7)[:, :2]
    V = rng.uniform(size=(40, 2))  # used as given, though its rows are not unit
    solver = Linearized(lam=75.0, mu=60.0, order=request.param)
    model = SphericalPCA(2, solver=solver, init=(U, V), tol=0, max_iter=12)
    model.fit(X, sample_weight=weight)
    Z, w = oracle.rows(X, weight)
    pairs = algorithm_1(Z, w, U, V, lam=75.0, mu=60.0, order=request.param, steps=12)
    return model, Z, w, pairs


def test_the_record_is_that_of_the_pairs(followed, oracle):
    model, Z, w, pairs = followed
    history = model.history_
    assert model.constants_.items() >= {"lam": 75.0, "mu": 60.0}.items()
    assert model.constants_["lipschitz"] > 0  # see tests/solvers/test_linearized.py
    h = np.array([oracle.loss(Z, w, U, V) for U, V in pairs])
    np.testing.assert_allclose(history["loss"], h[1:], rtol=1e-11)
    two = list(itertools.pairwise(pairs))
    dU = np.array([np.linalg.norm(b[0] - a[0]) for a, b in two])
    dV = np.array([np.sqrt(w @ np.sum((b[1] - a[1]) ** 2, axis=1)) for a, b in two])
    np.testing.assert_allclose(history["delta_U"], dU, rtol=1e-8)
    np.testing.assert_allclose(history["delta_V"], dV, rtol=1e-8)
    np.testing.assert_allclose(history["decrease_ratio"], -np.diff(h) / (dU**2 + dV**2), rtol=1e-6)
    expected = [subgradient(Z, w, U, V) for U, V in pairs[1:]]
    np.testing.assert_allclose(history["subgradient"], expected, rtol=1e-9)
    expected = [oracle.residual(Z, w, U) for U, _ in pairs[1:]]
    np.testing.assert_allclose(history["residual"], expected, rtol=1e-9)
    # The exact V step that closes the run gains something, and is no entry.
    U, V = pairs[-1]
    closed = oracle.loss(Z, w, U, oracle.best_components(Z, U))
    assert closed < oracle.loss(Z, w, U, V)
    assert model.loss_ == pytest.approx(closed, rel=1e-11)
    assert len(history["loss"]) == model.n_iter_ == 12
    np.testing.assert_allclose(oracle.projector(model.components_), U @ U.T, atol=1e-11)


def test_alternating_objective_is_the_loss_at_the_best_V(X, oracle):
    """Re-run with each iteration count: the record is what a shorter run reports."""
    Z, w = oracle.rows(X)
    full = SphericalPCA(3, solver="alternating", tol=1e-9).fit(X)
    assert (np.diff(full.history_["loss"]) <= 1e-12 * full.history_["loss"][0]).all()
    for k in (1, 2, 5):
        short = SphericalPCA(3, solver="alternating", tol=0, max_iter=k).fit(X)
        U = short.components_.T
        h = oracle.loss(Z, w, U, oracle.best_components(Z, U))
        assert full.history_["loss"][k - 1] == pytest.approx(h, rel=1e-11)
        assert full.history_["residual"][k - 1] == pytest.approx(short.residual_, rel=1e-6)


def test_a_pass_is_4_flops_per_stored_number_and_component(X):
    """X U and X'V: each a multiplication and an addition."""
    for solver, columns in (("alternating", 2), ("linearized", 3)):
        history = SphericalPCA(3, solver=solver, max_iter=9).fit(X).history_
        np.testing.assert_array_equal(np.diff(history["passes"]), 1)
        np.testing.assert_array_equal(np.diff(history["flops"]), columns * 2 * X.size * 3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_start_with_a_given_U_is_taken(X, oracle, solver):
    """One step from U and one from U Q end in the same subspace; from elsewhere they do not."""
    rng = np.random.default_rng(8)
    U = np.linalg.qr(rng.standard_normal((7, 2)))[0]
    Q = np.linalg.qr(rng.standard_normal((2, 2)))[0]

    def one_step(init):
        model = SphericalPCA(2, solver=solver, init=init, tol=0, max_iter=1).fit(X)
        return oracle.projector(model.components_)

    np.testing.assert_allclose(one_step(U), one_step(U @ Q), atol=1e-12)
    np.testing.assert_allclose(one_step(U), one_step(U.tolist()), atol=1e-12)
    skew = U @ [[2.0, 1.0], [0.0, 3.0]]
    before = skew.copy()
    np.testing.assert_allclose(one_step(skew), one_step(polar(skew)), atol=1e-10)
    np.testing.assert_array_equal(skew, before)
    assert np.abs(one_step(U) - one_step("svd")).max() > 1e-3
