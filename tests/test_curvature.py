"""Approximate Newton steps: what they solve, what they save, and that they do no harm."""

from dataclasses import replace

import numpy as np
import pytest

from sphericalpca import SphericalPCA
from sphericalpca.curvature import Curvature
from sphericalpca.iterate import iterate
from sphericalpca.problem import Problem, symmetric
from sphericalpca.rows import as_rows
from sphericalpca.solvers import Alternating, Anderson, Start, random_start, svd_start

R = 6


def power_law(seed=0, n=800, m=40):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, m)) * np.arange(1, m + 1) ** -0.4


@pytest.fixture
def problem():
    return Problem(as_rows(power_law(), weight=np.random.default_rng(1).random(800)))


@pytest.fixture
def start(problem):
    return svd_start(problem, R, np.random.default_rng(0))


def known_to_the_end(problem):
    """All eigenvectors, not only the leading ones."""
    values, vectors = np.linalg.eigh(problem.gram())
    return Curvature(vectors[:, ::-1], values[::-1])


def test_the_step_solves_the_model(problem, start):
    """At the SVD, with all eigenvectors: D A - c (I - UU') X'WX D (I - A/f) = R."""
    here, curvature, G = problem.evaluate(start.U), known_to_the_end(problem), problem.gram()
    D, A, f = curvature.step(here), symmetric(here.U.T @ here.gradient), here.value
    c = f / curvature.values[:R].sum()
    outside = np.eye(len(G)) - here.U @ here.U.T
    left = D @ A - c * outside @ G @ D @ (np.eye(R) - A / f)
    np.testing.assert_allclose(left, here.tangent, atol=1e-10 * f)
    np.testing.assert_allclose(here.U.T @ D, 0, atol=1e-12)
    # Units of the eigenvalues do not matter.
    other = replace(curvature, values=1e-9 * curvature.values).step(here)
    np.testing.assert_allclose(other, D, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("r", "share"), [(6, 0.8), (12, 0.5), (20, 0.35)])
def test_the_guess_is_nearer_to_newton_than_alternation(problem, r, share):
    """Newton's step makes R + Hess[D] vanish; with many components lengths differ little."""
    start = svd_start(problem, r, np.random.default_rng(0))
    here = problem.evaluate(start.U)

    def missed(D):
        return np.linalg.norm(here.tangent + problem.riemannian_hessian_product(here, D))

    exact = here.tangent @ np.linalg.inv(here.pull)
    assert missed(start.curvature.step(here)) < share * missed(exact)


def test_no_guess_where_components_are_hardly_used():
    X = np.zeros((30, 8))
    X[:, :3] = np.random.default_rng(0).standard_normal((30, 3))
    problem = Problem(as_rows(X))
    start = svd_start(problem, 5, np.random.default_rng(0))
    assert start.curvature.step(problem.evaluate(start.U)) is None
    assert SphericalPCA(5).fit(X).mean_cosine_ == pytest.approx(1.0)


def test_it_saves_half_the_passes(float_type):
    X = power_law(n=3000).astype(float_type)

    def passes(curvature):
        problem = Problem(as_rows(X))
        start = svd_start(problem, R, np.random.default_rng(0))
        start = replace(start, curvature=start.curvature if curvature else None)
        found = iterate(problem, Anderson(), start, tol=1e-5, max_iter=500)
        return problem.rows.passes, found

    (slow, exact), (fast, guessed) = passes(curvature=False), passes(curvature=True)
    assert fast <= 0.6 * slow
    assert guessed.value >= exact.value * (1 - 1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_a_wrong_guess_does_no_harm(problem, seed):
    """Whatever the start claims, f never falls, and the answer is that of exact alternation."""
    rng = np.random.default_rng(seed)
    start = random_start(problem, R, rng)
    vectors = np.linalg.qr(rng.standard_normal((40, 12)))[0]
    wrong = replace(start, curvature=Curvature(vectors, np.sort(rng.random(12))[::-1]))
    found = iterate(problem, Anderson(), wrong, tol=1e-8, max_iter=2000)
    loss = found.history["loss"]
    assert (np.diff(loss) <= 1e-12 * loss[0]).all()
    exact = iterate(problem, Alternating(), Start(found.U), tol=1e-8, max_iter=2000)
    assert found.residual <= 1e-8
    assert found.value == pytest.approx(exact.value, rel=1e-9)


class _Refusing(Problem):
    """Tells of a fall at the next point where there is none."""

    refused = False

    def evaluate(self, U):
        found = super().evaluate(U)
        refuse, self.refused = self.refused, False
        return replace(found, value=0.5 * found.value) if refuse else found


def test_a_guess_that_fails_is_not_made_again(problem, start):
    refusing, solver = _Refusing(problem.rows), Anderson()
    state = solver.init(refusing, start)
    refusing.refused = True
    after = solver.step(refusing, state)
    assert after.curvature is None
    exact = Alternating().step(problem, Alternating().init(problem, Start(start.U)))
    assert after.value == pytest.approx(exact.value, rel=1e-12)
    assert solver.step(refusing, after).value >= after.value


def test_a_state_with_curvature_is_saved_and_goes_on(problem, start):
    solver = Anderson()
    state = solver.step(problem, solver.init(problem, start))
    again = solver.resume(problem, solver.saved(state))
    for _ in range(3):
        state, again = solver.step(problem, state), solver.step(problem, again)
    np.testing.assert_array_equal(again.U, state.U)
    assert solver.resume(problem, solver.saved(replace(state, curvature=None))).curvature is None


def test_a_start_can_be_given_with_its_curvature():
    X = power_law(n=3000)
    start = svd_start(Problem(as_rows(X)), R, np.random.default_rng(0))
    given, plain, own = (
        SphericalPCA(R, init=init, tol=1e-6).fit(X) for init in (start, start.U, "auto")
    )
    assert given.n_passes_ < plain.n_passes_
    assert given.n_iter_ == own.n_iter_
    np.testing.assert_allclose(given.components_, own.components_, atol=1e-12)
