"""Every method finds a subspace; iterative ones arrive, and their curves fit their answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from benchmarks.checks import is_right, measure
from benchmarks.manifold import CONJUGATE_GRADIENT, TRUST_REGIONS, Descent
from benchmarks.methods import METHODS
from benchmarks.ours import ALGORITHM_1, ALTERNATION, OURS, OURS_FROM_START
from benchmarks.peers import COVARIANCE_EIGH, NMF_PEER, OTHER_SVDS, RANDOMIZED_PCA, TRUNCATED_SVD
from benchmarks.task import Task, random_subspace

ARRIVE = [OURS, OURS_FROM_START, ALTERNATION, CONJUGATE_GRADIENT, TRUST_REGIONS]


@pytest.fixture(autouse=True)
def _peers():
    pytest.importorskip("pymanopt")  # not while tests are collected: it imports torch


def _run(method, X, tol=1e-5, cap=10.0):
    task = Task(random_subspace(X.shape[1], 3), tol, cap)
    return method.read(method.fit(method.layout(X), task))


def _name(method):
    return method.name.replace(" ", "_")


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_every_method_finds_an_orthonormal_basis_or_says_why_not(kind, small):
    X = sparse.csr_array(np.abs(small)) if kind == "csr" else np.abs(small)
    for method in METHODS:
        if method.refusal(X, 3):
            assert kind == "csr"
            continue
        U = _run(method, X, tol=1e-2, cap=0.1).U
        assert U.shape == (12, 3)
        assert U.dtype == np.float64
        np.testing.assert_allclose(U.T @ U, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("method", ARRIVE, ids=_name)
def test_iterative_methods_arrive_and_their_curves_never_go_back(method, small):
    assert is_right(measure(small, _run(method, small.astype(np.float32)).U), 2e-5)
    fit = _run(method, small)
    assert fit.note == ""
    found = measure(small, fit.U)
    assert is_right(found, 1e-5)
    seconds, passes, losses = map(np.array, zip(*fit.trace, strict=True))
    assert losses[-1] == pytest.approx(found.loss, rel=1e-9)
    assert (np.diff(seconds) >= 0).all()
    assert (np.diff(passes) >= 0).all()
    assert passes[-1] <= fit.passes


@pytest.mark.parametrize("method", [ALGORITHM_1, CONJUGATE_GRADIENT, TRUST_REGIONS], ids=_name)
def test_a_method_without_time_says_that_it_was_capped(method, small):
    fit = _run(method, small, tol=1e-12, cap=0.0)
    assert fit.note == "capped"
    assert len(fit.trace) <= 2


def test_hand_written_derivatives_are_those_of_the_cost_and_made_once(small, random_U):
    U, D, step = random_U(12, 3), random_U(12, 3, 1), 1e-5
    run = Descent(small, Task(U, tol=0.0))
    run.cost(U), run.gradient(U), run.cost(U), run.gradient(U)
    assert run.passes == 1.0
    run.hessian(U, U)
    assert run.passes == 2.0
    slope = (run.cost(U + step * D) - run.cost(U - step * D)) / (2 * step)
    assert slope == pytest.approx(float(np.sum(run.gradient(U) * D)), rel=1e-7)
    bend = (run.gradient(U + step * D) - run.gradient(U - step * D)) / (2 * step)
    np.testing.assert_allclose(run.hessian(U, D), bend, atol=1e-6)


@pytest.mark.parametrize("peer", OTHER_SVDS, ids=_name)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_other_ways_to_the_svd_find_it(peer, form, rng):
    X = (rng.standard_normal((120, 60)) * 0.8 ** np.arange(60)).astype(np.float32)
    fit = peer.read(peer.fit(form(X), Task(np.eye(60)[:, :4])))
    exact = np.linalg.svd(X)[2][:4].T
    np.testing.assert_allclose(np.linalg.svd(exact.T @ fit.U)[1], 1.0, atol=1e-4)
    assert "few" in peer.refusal(X, 40)
    assert not peer.refusal(X, 4)


def test_what_a_peer_cannot_do_is_refused_with_a_reason(small):
    text = sparse.csr_array(np.abs(small))
    assert "sparse" in RANDOMIZED_PCA.refusal(text, 3)
    assert "sparse" in COVARIANCE_EIGH.refusal(text, 3)
    assert "negative" in NMF_PEER.refusal(small, 3)
    assert "minute" in NMF_PEER.refusal(text, 10**6)
    assert not NMF_PEER.refusal(text, 3)
    assert not TRUNCATED_SVD.refusal(text, 3)
    assert "features" in COVARIANCE_EIGH.refusal(np.ones((1, 6000)), 3)
