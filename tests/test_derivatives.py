"""Gradient and Hessian by Taylor slopes: the remainder must shrink with the right power."""

import numpy as np
import pytest

STEPS = 2.0 ** -np.arange(5, 12)


@pytest.fixture(params=["noise", "weighted", "long and short", "few rows", "empty rows"])
def case(request, zoo):
    return zoo[request.param]


@pytest.fixture
def U(case, random_U):
    return random_U(case.X.shape[1], case.r, seed=2)


@pytest.fixture
def D(U, rng):
    D = rng.standard_normal(U.shape)
    return D / np.linalg.norm(D)


@pytest.fixture
def tangent(U, D):
    """A direction that leaves the subspace: U'D = 0."""
    T = D - U @ (U.T @ D)
    return T / np.linalg.norm(T)


def _slope(remainders):
    return np.polyfit(np.log(STEPS), np.log(np.abs(remainders)), 1)[0]


def _geodesic(U, D, t):
    """The point at t on the Grassmannian's geodesic from U along D."""
    A, angles, Bt = np.linalg.svd(D, full_matrices=False)
    return (U @ (Bt.T * np.cos(t * angles)) + A * np.sin(t * angles)) @ Bt


def _value(problem, U):
    return problem.evaluate(U).value


def test_the_remainders_shrink_with_the_square_and_the_cube(problem, U, D):
    here, H = problem.evaluate(U), problem.hessian_product(U, D)
    slope, bend = (here.gradient * D).sum(), (H * D).sum()
    rest = np.array([_value(problem, U + t * D) for t in STEPS]) - here.value - STEPS * slope
    assert _slope(rest) == pytest.approx(2.0, abs=0.1)
    assert _slope(rest - STEPS**2 / 2 * bend) == pytest.approx(3.0, abs=0.2)
    # The Hessian product is the derivative of the gradient.
    t = 1e-5
    ahead, behind = (problem.evaluate(U + a * D).gradient for a in (t, -t))
    np.testing.assert_allclose(H, (ahead - behind) / (2 * t), atol=1e-6 * np.abs(H).max())


def test_the_hessian_is_symmetric_linear_and_kills_U(problem, U, D, rng):
    E = rng.standard_normal(U.shape)
    HD, HE = problem.hessian_product(U, D), problem.hessian_product(U, E)
    assert (HD * E).sum() == pytest.approx((HE * D).sum(), rel=1e-11)
    np.testing.assert_allclose(problem.hessian_product(U, 2 * D - E), 2 * HD - HE, atol=1e-10)
    # f is positively homogeneous: along U itself it is a straight line.
    np.testing.assert_allclose(problem.hessian_product(U, U), 0.0, atol=1e-11)


def test_the_riemannian_model_is_right_to_third_order_along_geodesics(problem, U, tangent, rng):
    here, E = problem.evaluate(U), rng.standard_normal(U.shape)
    E -= U @ (U.T @ E)
    HT, HE = (problem.riemannian_hessian_product(here, A) for A in (tangent, E))
    slope, bend = (here.gradient * tangent).sum(), (HT * tangent).sum()
    along = np.array([_value(problem, _geodesic(U, tangent, t)) for t in STEPS])
    rest = along - here.value - STEPS * slope
    assert _slope(rest) == pytest.approx(2.0, abs=0.1)
    assert _slope(rest - STEPS**2 / 2 * bend) == pytest.approx(3.0, abs=0.2)
    # The Hessian is tangent, symmetric, and the derivative of the projected gradient.
    np.testing.assert_allclose(U.T @ HT, 0.0, atol=1e-11)
    assert (HT * E).sum() == pytest.approx((HE * tangent).sum(), rel=1e-11)

    def projected(V):
        G = problem.evaluate(V).gradient
        return G - V @ (V.T @ G)

    t = 1e-5
    ahead, behind = (projected(_geodesic(U, tangent, a)) for a in (t, -t))
    difference = (ahead - behind) / (2 * t)
    expected = difference - U @ (U.T @ difference)
    np.testing.assert_allclose(HT, expected, atol=1e-6 * np.abs(HT).max())


def test_a_row_whose_projection_vanishes_has_no_curvature(make_problem, zoo, rng):
    problem = make_problem(zoo["one-hot"])
    U, D = np.eye(4)[:, :2], rng.standard_normal((4, 2))
    H = problem.hessian_product(U, D)
    assert np.isfinite(H).all()
    np.testing.assert_allclose(H[2:], 0.0)
