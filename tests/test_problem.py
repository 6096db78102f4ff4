"""Value, loss, gradient and second moments against plain numpy, and the laws of f."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from sphericalpca.linalg import polar
from sphericalpca.problem import FinalSums, Problem, lengths_of_projections, residual
from sphericalpca.rows import as_rows


@pytest.fixture
def explicit(case, plain):
    return plain.of(case)


@pytest.fixture
def U(case, random_U):
    return random_U(case.X.shape[1], case.r)


def test_value_gradient_and_residual_are_those_of_the_explicit_rows(problem, explicit, U, case):
    found = problem.evaluate(U)
    assert found.value == pytest.approx(explicit.value(U), rel=1e-13)
    np.testing.assert_allclose(found.gradient, explicit.gradient(U), atol=1e-12)
    np.testing.assert_array_equal(found.U, U)
    assert found.residual == pytest.approx(explicit.residual(U), rel=1e-9, abs=1e-14)
    # Another basis of the same subspace.
    Q = np.linalg.qr(np.random.default_rng(5).standard_normal((case.r, case.r)))[0]
    turned = problem.evaluate(U @ Q)
    assert turned.value == pytest.approx(found.value, rel=1e-13)
    np.testing.assert_allclose(turned.gradient, found.gradient @ Q, atol=1e-12)
    assert turned.residual == pytest.approx(found.residual, abs=1e-13)


def test_only_the_symmetric_part_within_the_span_is_no_residual(random_U, rng):
    U, A = random_U(6, 3), rng.standard_normal((3, 3))
    assert residual(U, U @ (A + A.T)) < 1e-15
    assert residual(U, U @ (A - A.T)) == pytest.approx(1.0, rel=1e-14)
    assert residual(U, np.zeros_like(U)) == 0.0


def test_loss_is_the_weighted_sum_of_squared_errors(problem, explicit, U, rng, case):
    best = explicit.loss(U, explicit.best_V(U))
    assert problem.loss(explicit.value(U)) == pytest.approx(best, rel=1e-12, abs=1e-12)
    # Any other V, unit or not.
    V = rng.standard_normal((len(case.X), case.r))
    alignment = explicit.w @ ((explicit.X @ U) * V).sum(axis=1)
    energy = explicit.w @ (V**2).sum(axis=1)
    assert problem.loss(alignment, energy) == pytest.approx(explicit.loss(U, V), rel=1e-12)


def test_delta_is_not_negative_and_the_exact_step_gains_at_least_delta(problem, explicit, U):
    for _ in range(5):
        here = problem.evaluate(U)
        slack = 1e-13 * here.value
        nuclear = np.linalg.norm(explicit.gradient(U), "nuc")
        assert nuclear - explicit.value(U) >= -slack
        assert here.delta == pytest.approx(nuclear - explicit.value(U), abs=slack)
        U = polar(here.gradient).factor
        assert explicit.value(U) - here.value >= here.delta - slack


def test_a_fall_beyond_rounding_is_a_fall(make_problem, zoo, random_U):
    here = make_problem(zoo["noise"]).evaluate(random_U(7, 3))
    assert here.not_below(replace(here, value=here.value * (1 + 1e-16)))
    assert not here.not_below(replace(here, value=here.value * (1 + 1e-14)))
    assert here.not_below(replace(here, value=here.value * (1 + 1e-14)), roundings=64)


def test_restriction_to_a_subspace_is_the_same_problem(problem, explicit, case, random_U, rng):
    m, r = case.X.shape[1], case.r
    S = random_U(m, min(m, r + 2), seed=3)
    C = random_U(S.shape[1], r, seed=4)
    restricted = problem.restrict(problem.rows.project(S))
    inner, outer = restricted.evaluate(C), problem.evaluate(S @ C)
    assert inner.value == pytest.approx(outer.value, rel=1e-13)
    np.testing.assert_allclose(inner.gradient, S.T @ outer.gradient, atol=1e-12)
    D = rng.standard_normal(C.shape)
    found, expected = restricted.hessian_product(C, D), problem.hessian_product(S @ C, S @ D)
    np.testing.assert_allclose(found, S.T @ expected, atol=1e-10)
    # Its rows are not normalised again.
    lengths, stats = np.linalg.norm(explicit.X @ S, axis=1), restricted.rows.stats
    np.testing.assert_allclose(stats.norm, lengths, atol=1e-14)
    np.testing.assert_array_equal(stats.weight, problem.rows.stats.weight)


def test_second_moments_and_cosines_are_the_explicit_products(problem, explicit, rng, case, plain):
    factor, X = rng.random(len(case.X)), explicit.X
    gram = X.T @ (factor[:, None] ** 2 * X)
    Q = rng.standard_normal((X.shape[1], 2))
    np.testing.assert_allclose(problem.gram(factor), gram, atol=1e-12)
    np.testing.assert_allclose(problem.covariance_times(Q, factor), gram @ Q, atol=1e-12)
    unit = plain(case.X).X
    np.testing.assert_allclose(problem.cosines(), unit @ unit.T, atol=1e-13)


def test_each_question_is_one_pass_or_half_of_one(problem, U, case):
    """A read that makes one of the two products counts half; flops are those of all products."""
    rows, ones, r, m = problem.rows, np.ones(len(case.X)), case.r, case.X.shape[1]
    Y = rows.project(U)
    asks = {
        "project": (lambda: rows.project(U), 0.5, r),
        "canonical": (lambda: problem.canonical(U), 0.5, r),
        "restrict": (lambda: problem.restrict(Y), 0.0, 0),
        "within": (lambda: problem.evaluate_within(Y, np.eye(r)), 0.5, r),
        "evaluate": (lambda: problem.evaluate(U), 1.0, 2 * r),
        "hessian": (lambda: problem.hessian_product(U, U), 1.0, 3 * r),
        "gram": (lambda: problem.gram(ones), 1.0, m),
        "covariance": (lambda: problem.covariance_times(U, ones), 1.0, 2 * r),
        "form": (lambda: problem.canonical_form(U, FinalSums(1.0, 1.0, np.eye(r))), 0.0, 0),
    }
    for what, (ask, passes, columns) in asks.items():
        before, done = rows.passes, rows.flops
        ask()
        assert rows.passes - before == passes, what
        assert rows.flops - done == 2 * rows.stored * columns, what


@pytest.mark.parametrize("block_rows", [None, 1])
def test_U_keeps_the_type_and_sums_over_blocks_are_double(case, U, make_problem, block_rows):
    single, double = (
        make_problem(case, "csr", dtype, block_rows=block_rows)
        for dtype in (np.float32, np.float64)
    )
    found = single.evaluate(U)
    assert found.U.dtype == single.canonical(U).U.dtype == np.float32
    # One block may answer in the data's own type; what is added up is double.
    assert found.gradient.dtype == np.float64 or len(list(single.rows.blocks())) == 1
    assert found.moment.dtype == np.float64
    assert isinstance(found.value, float)
    assert isinstance(found.cosines, float)
    assert found.value == pytest.approx(double.evaluate(U).value, rel=1e-6)


@pytest.mark.parametrize("count", [8192, 8193, 300_000])
def test_very_many_short_float32_rows_keep_the_digits_of_the_gradient(count, rng):
    X = (rng.random((count, 2)) + 0.5).astype(np.float32)
    U = np.array([[0.6], [0.8]], dtype=np.float32)
    G = Problem(as_rows(X, normalize=False)).evaluate(U).gradient
    # All rows have a positive projection, so that V is one.
    np.testing.assert_allclose(G[:, 0], X.sum(axis=0, dtype=np.float64), rtol=3e-6)


@pytest.mark.parametrize("centred", [False, True])
def test_equal_rows_in_float32_do_not_add_up_their_rounding_errors(layout, centred, rng, random_U):
    X = np.eye(5)[rng.integers(1, 5, size=100_000)]
    X[:, 0] = 1
    mean, U = X.mean(axis=0) if centred else None, random_U(5, 3)
    single = X.astype(np.float32)
    single = sparse.csr_array(single) if layout == "csr" else single
    G = Problem(as_rows(single, mean=mean)).evaluate(U).gradient
    exact = Problem(as_rows(X, mean=mean)).evaluate(U).gradient
    assert np.linalg.norm(G - exact) <= 3e-5 * np.linalg.norm(exact)


def test_canonical_form_is_ordered_signed_and_of_the_same_value(problem, explicit, U, case):
    form = problem.canonical(U)
    V = explicit.best_V(form.U)
    moment = (V * explicit.w[:, None]).T @ V / explicit.w.sum()
    assert form.value == pytest.approx(explicit.value(U), rel=1e-13)
    assert form.shares.sum() == pytest.approx(1.0)
    assert (np.diff(form.shares) <= 0).all()
    np.testing.assert_allclose(moment, np.diag(form.shares), atol=1e-13)
    assert (form.U[np.abs(form.U).argmax(axis=0), range(case.r)] > 0).all()
    np.testing.assert_allclose(form.U @ form.U.T, U @ U.T, atol=1e-14)
    # The mean cosine is that over the rows with a direction; components are unit or zero.
    norm, lengths = (np.linalg.norm(A, axis=1) for A in (explicit.X, explicit.X @ U))
    cosine = explicit.w @ (lengths / np.where(norm > 0, norm, 1)) / explicit.w.sum()
    assert form.mean_cosine == pytest.approx(cosine, rel=1e-13)
    np.testing.assert_allclose(problem.rows.components(U), explicit.best_V(U), atol=1e-13)
    np.testing.assert_allclose(lengths_of_projections(problem, U), lengths, atol=1e-14)


def test_canonical_form_does_not_depend_on_the_basis(zoo, make_problem, random_U):
    problem, U = make_problem(zoo["noise"]), random_U(7, 3)
    one, other = problem.canonical(U), problem.canonical(U @ random_U(3, 3, seed=8))
    np.testing.assert_allclose(one.U, other.U, atol=1e-12)


def test_vanishing_projections_are_zero_for_users_and_unit_for_solvers(layout, plain):
    X = np.array([[3.0, 0, 0], [0, 2, 0], [0, 0, 0], [0, 0, 5]])
    U = np.eye(3)[:, :1]
    rows = as_rows(sparse.csr_array(X) if layout == "csr" else X)
    np.testing.assert_array_equal(rows.components(U)[:, 0], [1, 0, 0, 0])
    (block,) = rows.blocks()
    V, lengths = block.directions(block.project(U))
    np.testing.assert_array_equal(np.abs(V[:, 0]), [1, 1, 0, 1])
    np.testing.assert_array_equal(lengths, [1, 0, 0, 0])


def test_a_saddle_with_a_vanishing_projection_has_a_residual():
    problem = Problem(as_rows(np.repeat(np.eye(3), [10, 9, 4], axis=0)))
    here = problem.evaluate(np.eye(3)[:, :1])
    assert here.residual > 0.1
    assert here.delta > 0.1


def test_implicit_centring_of_sparse_rows_equals_explicit_centring(case, random_U, rng):
    X, r = case.X, case.r
    mean = rng.standard_normal(X.shape[1])
    options = {"weight": case.weight, "normalize": case.normalize}
    implicit = Problem(as_rows(sparse.csr_array(X), mean=mean, block_rows=7, **options))
    given_dense = Problem(as_rows(X, mean=mean, **options))
    explicit = Problem(as_rows(X - mean, **options))
    U, factor = random_U(X.shape[1], r), rng.random(len(X))
    for other in (implicit, given_dense):
        assert other.evaluate(U).value == pytest.approx(explicit.evaluate(U).value, rel=1e-12)
        for ask in (
            lambda problem: problem.evaluate(U).gradient,
            lambda problem: problem.hessian_product(U, U[::-1]),
            lambda problem: problem.gram(factor),
            lambda problem: problem.covariance_times(U, factor),
            lambda problem: problem.cosines(),
            lambda problem: problem.rows.components(U),
            lambda problem: problem.canonical(U).shares,
        ):
            np.testing.assert_allclose(ask(other), ask(explicit), rtol=1e-10, atol=1e-11)


def test_sign_flips_of_rows_change_nothing(case, make_problem, U, rng):
    problem = make_problem(case)
    signs = rng.choice([-1.0, 1.0], size=(len(case.X), 1))
    options = {"weight": case.weight, "normalize": case.normalize}
    flipped = Problem(as_rows(case.X * signs, **options))
    assert flipped.evaluate(U).value == problem.evaluate(U).value
    gradients = (each.evaluate(U).gradient for each in (flipped, problem))
    np.testing.assert_allclose(*gradients, atol=1e-13)
