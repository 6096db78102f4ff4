"""Newton: it ends where alternation ends, in the last digits, and never does worse on the way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sphericalpca.datasets import make_toy
from sphericalpca.iterate import StopReason, iterate
from sphericalpca.linalg import polar, principal_angles
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.solvers import Alternating, Start, svd_start
from sphericalpca.solvers.newton import Model, Newton, maximise_model

EPS = np.finfo(np.float64).eps
STEPS = 2.0 ** -np.arange(5, 12)


def _toy(dtype=np.float64):
    return Problem(as_rows(make_toy(100, random_state=0)[0].astype(dtype))), 2


def _sparse(dtype=np.float64):
    X = sparse.random_array((300, 80), density=0.1, random_state=np.random.default_rng(3))
    return Problem(as_rows(X.tocsr().astype(dtype))), 6


def _weighted(dtype=np.float64):
    rng = np.random.default_rng(4)
    X, w = rng.standard_normal((300, 25)), rng.uniform(0, 3, 300)
    return Problem(as_rows(X.astype(dtype), weight=w, normalize=False)), 4


@pytest.fixture(params=[_toy, _sparse, _weighted], ids=lambda make: make.__name__[1:])
def make(request):
    return request.param


def _start(problem, r, seed=None):
    rng = np.random.default_rng(seed)
    if seed is None:
        return svd_start(problem, r, rng)
    return Start(np.linalg.qr(rng.standard_normal((problem.rows.shape[1], r)))[0])


def _run(problem, r, solver=None, *, seed=None, **options):
    options = {"tol": 1e-10, "max_iter": 80, **options}
    return iterate(problem, solver or Newton(), _start(problem, r, seed), **options)


def _largest_rise(found, problem):
    """Of the loss, in rounding errors of the sums it is the difference of."""
    size = np.finfo(problem.rows.dtype).eps * (
        problem.rows.totals.energy + problem.rows.totals.weight
    )
    return np.diff(found.history["loss"]).max(initial=0.0) / size


# The way to the optimum.


@pytest.mark.parametrize("seed", [None, 1])
def test_it_reaches_a_residual_of_1e_10_where_alternation_ends(make, seed):
    problem, r = make()
    found = _run(problem, r, seed=seed)
    assert found.stop_reason is StopReason.CONVERGED
    assert problem.evaluate(found.U).residual <= 1e-10
    assert np.abs(found.U.T @ found.U - np.eye(r)).max() < 30 * EPS
    assert found.history["hessian_products"].max() > 0
    assert _largest_rise(found, problem) <= 64
    if seed is None:
        slow = _run(problem, r, Alternating(), max_iter=3000)
        assert slow.stop_reason is StopReason.CONVERGED
        assert principal_angles(found.U, slow.U).max() < 1e-7
        assert found.value == pytest.approx(slow.value, rel=1e-13)


def test_the_last_steps_are_superlinear(rng):
    problem = Problem(as_rows(rng.standard_normal((300, 20))))
    residuals = _run(problem, 4, tol=1e-13).history["residual"]
    tail = residuals[residuals < 1e-3]
    before, after = tail[:-1], tail[1:]
    seen = after > 1e-13  # what is smaller is rounding
    assert seen.sum() >= 2
    # A linear method keeps after/before; here it falls at least with before^(1/3).
    assert (after[seen] <= 5 * before[seen] ** (4 / 3)).all()


def test_every_problem_of_the_zoo_ends_where_alternation_does(case, make_problem):
    problem = make_problem(case)
    found, slow = _run(problem, case.r), _run(problem, case.r, Alternating(), max_iter=2000)
    assert found.stop_reason is StopReason.CONVERGED
    assert found.value == pytest.approx(slow.value, rel=1e-9)


# Saddles.


def test_it_leaves_a_smooth_saddle_along_negative_curvature(float_type):
    # span(e1, e2) is critical with f = 20, for no row vanishes and e3 cancels; turning e1
    # towards e3 raises f.  The best plane is span(e1, e3).
    X = np.repeat([[1, 0, 0], [0, 1, 2], [0, 1, -2]], [10, 5, 5], axis=0).astype(float_type)
    problem = Problem(as_rows(X, normalize=False))
    U = np.eye(3)[:, :2]
    assert problem.evaluate(U).residual <= 1e-7
    for seed in range(3):
        near = U + 1e-5 * np.random.default_rng(seed).standard_normal(U.shape)
        found = iterate(problem, Newton(), Start(polar(near).factor), tol=1e-6, max_iter=50)
        assert found.start_value == pytest.approx(20, rel=1e-6)
        assert found.value == pytest.approx(30, rel=1e-6)
        assert _largest_rise(found, problem) <= 64


# Rounding.


def test_it_goes_on_below_the_rounding_of_f_and_ends_at_the_floor_of_its_type(make, float_type):
    problem, r = make(float_type)
    found = _run(problem, r, tol=0.0, max_iter=50)
    assert found.U.dtype == float_type
    assert _largest_rise(found, problem) <= 64
    residuals = found.history["residual"][-10:]
    if float_type == np.float64:
        assert residuals.max() < 1e-13
    else:
        assert residuals.max() < 2e-6
        assert (np.diff(found.history["passes"])[-10:] == 1).all()
        assert found.value == pytest.approx(_run(*make()).value, rel=1e-6)


@pytest.mark.parametrize("factor", [0.2, 0.4])
def test_steps_too_small_for_f_to_judge_must_lower_the_residual(factor, make):
    problem, r = make()
    best = _run(problem, r)
    touch = 1e-10 * np.random.default_rng(0).standard_normal(best.U.shape)
    misled = _Misled(problem.rows, factor)  # its Newton steps are several times too long
    start = Start(polar(best.U + touch).factor)
    found = iterate(misled, Newton(), start, tol=0.0, max_iter=6)
    first = misled.evaluate(start.U).residual
    assert found.history["hessian_products"].max() > 0
    assert (np.diff([first, *found.history["residual"]]) <= 1e-14).all()


def test_on_a_flat_top_it_stays_where_it_has_arrived():
    # One-hot rows have whole families of optima: curvature in the flat directions is
    # rounding, and as often up as down.
    for seed in (1, 2, 3):
        X = np.eye(33)[np.random.default_rng(seed).integers(33, size=114)]
        residuals = _run(Problem(as_rows(X)), 15, tol=0.0, max_iter=60).history["residual"]
        arrived = np.flatnonzero(residuals < 1e-12)[0]
        assert residuals[arrived:].max() < 1e-11


# The parts of a step.


class _Misled(Problem):
    """A problem whose Hessian is wrong by a factor."""

    def __init__(self, rows, factor):
        super().__init__(rows)
        self.factor = factor

    def riemannian_hessian_product(self, point, D):
        return self.factor * super().riemannian_hessian_product(point, D)


@pytest.mark.parametrize("factor", [-1.0, 0.0, 0.01, 100.0])
def test_a_wrong_hessian_costs_time_but_no_loss(factor, zoo, plain):
    case = zoo["spiked"]
    problem = _Misled(as_rows(plain.of(case).X), factor)
    found = _run(problem, case.r, seed=1, max_iter=500)
    assert _largest_rise(found, problem) <= 64
    assert found.residual < 1e-4
    assert found.value == pytest.approx(_run(problem, case.r, Alternating()).value, rel=1e-8)


def test_without_a_switch_it_is_alternation_and_it_may_begin_at_once(make):
    problem, r = make()
    found = _run(problem, r, Newton(switch=0), tol=0.0, max_iter=6)
    alternating = _run(problem, r, Alternating(), tol=0.0, max_iter=6)
    assert found.U.tobytes() == alternating.U.tobytes()
    assert (found.history["hessian_products"] == 0).all()
    found = _run(problem, r, Newton(switch=np.inf, max_products=7), seed=5)
    assert found.stop_reason is StopReason.CONVERGED
    assert _largest_rise(found, problem) <= 64
    products, passes = found.history["hessian_products"], np.diff(found.history["passes"])
    assert products.max() <= 7
    # One point a step, and one more where a trial failed.
    assert set(passes - products[1:]) <= {1, 2}
    assert (passes[products[1:] == 0] == 1).all()


def test_a_start_that_sees_no_row_is_left():
    problem = Problem(as_rows(np.eye(6)[[0, 0, 1, 2, 2, 2]]))
    start = Start(np.eye(6)[:, 4:])
    assert problem.evaluate(start.U).value == 0
    found = iterate(problem, Newton(switch=np.inf), start, tol=1e-10, max_iter=50)
    assert found.stop_reason is StopReason.CONVERGED
    assert found.value > 4


def test_bad_options_name_value_and_rule():
    for options, message in (
        ({"switch": -1.0}, r"switch=-1.0 must be a number >= 0"),
        ({"switch": np.nan}, r"switch=nan must be"),
        ({"forcing": 0.0}, r"forcing=0.0 must be a number between 0 and 1"),
        ({"forcing": 1.0}, r"forcing=1.0 must be a number between 0 and 1"),
        ({"max_products": 0}, r"max_products=0 must be a positive integer"),
    ):
        with pytest.raises(ValueError, match=message):
            Newton(**options)


# The model.


def _tangent(U, rng):
    E = rng.standard_normal(U.shape)
    E -= U @ (U.T @ E)
    return E / np.linalg.norm(E)


@pytest.mark.parametrize("name", ["noise", "weighted", "long and short", "few rows", "empty rows"])
def test_the_model_is_f_to_third_order(case, make_problem, random_U, rng):
    """Symmetric, tangent, nowhere bent down faster than one; its slope is alternation's step."""
    problem = make_problem(case)
    here = problem.evaluate(random_U(case.X.shape[1], case.r, seed=2))
    model, E, F = Model(problem, here), _tangent(here.U, rng), _tangent(here.U, rng)
    along = np.array([problem.evaluate(model.moved(t * E)).value for t in STEPS]) / here.value
    slope, bend = (model.slope * E).sum(), (model.bend(E) * E).sum()
    remainder = np.abs(along - (1 + STEPS * slope - STEPS**2 / 2 * bend))
    assert np.polyfit(np.log(STEPS), np.log(remainder), 1)[0] >= 2.8
    assert (model.bend(E) * F).sum() == pytest.approx((model.bend(F) * E).sum(), rel=1e-9)
    for tangent in (model.slope, model.bend(E)):
        np.testing.assert_allclose(here.U.T @ tangent, 0.0, atol=1e-11)
    exact = polar(here.gradient).factor
    assert principal_angles(model.moved(model.slope), exact).max() < 1e-7
    for _ in range(10):
        E = _tangent(here.U, rng)
        assert (model.bend(E) * E).sum() <= 1 + 1e-12


# Its maximiser, against dense linear algebra.


def _quadratic(smallest, seed=0, size=12):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((size, size)))[0]
    K = (Q * np.linspace(smallest, 2.0, size)) @ Q.T
    return K, rng.standard_normal(size)


def _maximise(K, b, radius, accuracy=1e-12, max_products=100):
    """As `maximise_model` on a 4 x 3 matrix of unknowns."""
    options = {"accuracy": accuracy, "max_products": max_products}
    bend, slope = (lambda E: (K @ E.ravel()).reshape(4, 3)), b.reshape(4, 3)
    found = maximise_model(bend, slope, radius, **options)
    return found, found.E.ravel()


@pytest.mark.parametrize(
    ("smallest", "radius"),
    [(0.1, 1e-3), (0.1, 0.5), (0.1, 2.0), (-1.0, 1e-3), (-1.0, 0.5), (-1.0, 2.0), (-1.0, 1e3)],
)
def test_the_maximiser_stays_in_the_region_and_beats_the_steepest_step(smallest, radius):
    K, b = _quadratic(smallest)
    found, e = _maximise(K, b, radius)
    assert found.length <= radius * (1 + 1e-12)
    assert found.gain == pytest.approx(b @ e - e @ K @ e / 2, rel=1e-10)
    lengths = np.linspace(0, radius / np.linalg.norm(b), 1000)
    steepest = (lengths * (b @ b) - lengths**2 / 2 * (b @ K @ b)).max()
    assert found.gain >= steepest * (1 - 1e-12)
    assert found.on_edge or smallest > 0  # upward curvature leads to the edge
    if found.on_edge:
        assert found.length == pytest.approx(radius, rel=1e-12)
