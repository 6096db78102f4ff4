"""A stream of batches: its formulas in plain numpy, its laws, and how near to `fit` it comes."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from sphericalpca.linalg import principal_angles
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.solvers import Anderson, solve, streaming
from sphericalpca.solvers.streaming import Stream


def begin(rows, r):
    return Stream.at_svd(Problem(rows), r, np.random.default_rng(0))


def stream(batches, r, **options):
    """The stream after each batch."""
    state = None
    for X in batches:
        rows = as_rows(X, **options)
        state = (state or begin(rows, r)).after(rows)
        yield state


def last(batches, r, **options):
    *_, state = stream(batches, r, **options)
    return state


def batches(X, size, passes=1, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(passes):
        order = rng.permutation(X.shape[0])
        yield from (X[order[a : a + size]] for a in range(0, len(order), size))


def optimum(X, r):
    options = {"tol": 1e-6, "max_iter": 500, "rng": np.random.default_rng(0)}
    return solve(Problem(as_rows(X)), r, solver=Anderson(), **options).solution


def gap(X, U, best):
    """By what share the mean cosine falls short of the best."""
    return 1.0 - Problem(as_rows(X)).canonical(U).value / best.value


def distance(A, B):
    return principal_angles(A, B)[-1]


@pytest.fixture(scope="module")
def digits():
    return load_digits().data


@pytest.fixture(scope="module")
def best_of_digits(digits):
    return optimum(digits, 10)


@pytest.fixture(scope="module")
def groups():
    """More groups than components, so that the SVD is far from the best subspace."""
    rng = np.random.default_rng(5)
    centres = rng.standard_normal((20, 60))
    return centres[rng.integers(20, size=3000)] + 0.7 * rng.standard_normal((3000, 60))


# One step, in plain numpy


def test_the_first_step_is_that_of_exact_alternation(case, layout, make_problem, plain, random_U):
    if not case.smooth:
        pytest.skip("the U step has several solutions")
    U = random_U(case.X.shape[1], case.r)
    rows = make_problem(case, layout, block_rows=7).rows
    found = Stream.at(U, case.r).after(rows)
    A, _, B = np.linalg.svd(plain.of(case).gradient(U), full_matrices=False)
    assert distance(found.U, A @ B) < 1e-7


def test_the_gradient_of_the_past_moves_with_U(rng, plain, random_U):
    """It was measured at the U before the step, and is used for the U after it."""
    X = rng.standard_normal((5000, 8)) * np.linspace(1.5, 1, 8)
    for r in (1, 3):
        U = random_U(8, r)
        found = Stream.at(np.hstack([U, np.linalg.svd(U)[0][:, r:]]), r).after(as_rows(X))
        before, after = (plain(X).gradient(at) / len(X) for at in (U, found.U))
        lag = np.linalg.norm(before - after)
        assert np.linalg.norm(found.gradient - after) < 0.3 * lag


def test_means_weigh_rows_by_their_place_and_look_before_they_learn(rng, plain):
    """After weights a and b the first batch has the share (a / (a + b))^2."""
    X = rng.standard_normal((50, 6))
    first, second = as_rows(X[:20]), as_rows(X[20:], weight=np.full(30, 0.5))
    one = begin(first, 2).after(first)
    two, alone = one.after(second), Stream.at(one.basis, 2).after(second)
    assert alone.reservoir.mean == pytest.approx(plain(X[20:]).value(one.U) / 30, rel=1e-12)
    old = (20 / 35) ** 2
    assert (two.weight, two.n_rows) == (35, 50)
    moment = old * one.means.moment + (1 - old) * alone.means.moment
    np.testing.assert_allclose(two.means.moment, moment, atol=1e-12)
    assert np.trace(two.means.moment) == pytest.approx(1.0)


# Laws


def test_it_rests_where_alternation_rests(groups):
    best = optimum(groups, 3)
    state = Stream.at(best.U, 3)
    for _ in range(30):
        state = state.after(as_rows(groups))
    assert distance(state.U, best.U) < 1e-3
    assert abs(gap(groups, state.U, best)) < 1e-9


def test_csr_and_single_precision_follow_dense_double(digits):
    double, csr, single = (
        last(batches(X, 100, passes=2), 5)
        for X in (digits, sparse.csr_array(digits), digits.astype(np.float32))
    )
    assert distance(double.U, csr.U) < 1e-6
    np.testing.assert_allclose(double.means.moment, csr.means.moment, atol=1e-8)
    assert single.basis.dtype == single.gradient.dtype == np.float32
    assert distance(double.U, single.U) < 1e-2
    S = single.basis.astype(np.float64)
    np.testing.assert_allclose(S.T @ S, np.eye(S.shape[1]), atol=2e-6)
    # A stream keeps the type that it began with.
    mixed = single.after(as_rows(digits))
    assert mixed.basis.dtype == mixed.gradient.dtype == np.float32


def test_weak_directions_are_orthogonal_to_U_in_single_precision(rng):
    """They are made hundreds of times longer, but not rounding errors of U."""
    X = rng.standard_normal((500, 40)) * np.where(np.arange(40) < 3, 1.0, 0.005)
    X = X @ np.linalg.qr(rng.standard_normal((40, 40)))[0]
    state = last(batches(X.astype(np.float32), 50), 3)
    S = state.basis.astype(np.float64)
    assert S.shape[1] == 3 + streaming.FEWEST_BESIDE
    np.testing.assert_allclose(S.T @ S, np.eye(S.shape[1]), atol=1e-6)


def test_weight_is_repetition_and_only_ratios_matter(rng):
    X, counts = rng.standard_normal((30, 7)), rng.integers(0, 4, size=30)
    parts = [slice(0, 12), slice(12, 30)]
    repeated = last([np.repeat(X[p], counts[p], axis=0) for p in parts], 2)
    for unit in (1.0, 1e-9, 1e9):
        first, second = (as_rows(X[p], weight=unit * counts[p]) for p in parts)
        state = begin(first, 2).after(first).after(second)
        assert distance(state.U, repeated.U) < 1e-6
        assert state.weight == pytest.approx(unit * repeated.weight, rel=1e-12)


def test_it_turns_with_the_data_and_the_unit_of_length_does_not_matter(rng):
    X = rng.standard_normal((90, 12)) * np.linspace(3, 1, 12)
    Q = np.linalg.qr(rng.standard_normal((12, 12)))[0]
    plain = last(batches(X, 20), 3, normalize=False)
    turned = last(batches(X @ Q, 20), 3, normalize=False)
    assert distance(Q.T @ plain.U, turned.U) < 1e-6
    for scale in (1e-100, 1e-9, 1e9, 1e100):
        assert distance(plain.U, last(batches(scale * X, 20), 3, normalize=False).U) < 1e-6


def test_zero_rows_teach_nothing(rng):
    X = rng.standard_normal((40, 6))
    padded = np.insert(X, [3, 17, 30], 0.0, axis=0)
    with_zeros = last([padded[:20], padded[20:]], 2)
    without = last([X[:18], X[18:]], 2)
    assert distance(with_zeros.U, without.U) < 1e-9
    assert (with_zeros.weight, with_zeros.n_rows) == (40, 43)
    state = without.after(as_rows(np.zeros((5, 6))))
    assert state == without._replace(n_rows=45)


def test_rows_in_a_plane_are_found_exactly(rng):
    plane = rng.standard_normal((3, 20))
    X = rng.standard_normal((200, 3)) @ plane
    for size in (1, 2, 50):
        assert distance(last(batches(X, size), 3).U, plane.T) < 1e-6


def test_one_hot_rows_do_not_hold_it_at_a_saddle():
    """Rows orthogonal to U pull it out of its span all the same."""
    X = np.repeat(np.eye(2), [10, 9], axis=0)
    state = Stream.at(np.eye(2)[:, :1], 1)
    for _ in range(100):
        state = state.after(as_rows(X))
    assert Problem(as_rows(X)).canonical(state.U).value > 13.45 * (1 - 1e-3)


def test_a_row_that_is_nearly_orthogonal_does_not_take_over(rng):
    """1 / ||U'x|| of such a row is as large as you please; the stream must stay in its plane."""
    X = np.hstack([rng.standard_normal((600, 4)), 0.05 * rng.standard_normal((600, 8))])
    X[::50, :4] *= 1e-7
    best = optimum(X, 4)
    assert gap(X, last(batches(X, 10, passes=2), 4).U, best) < 2e-3


def test_the_canonical_form_decorrelates(digits):
    state = last(batches(digits, 200), 6)
    form = state.canonical()
    Q = state.U.T @ form.U
    np.testing.assert_allclose(Q.T @ state.means.moment @ Q, np.diag(form.shares), atol=1e-12)
    assert (np.diff(form.shares) <= 0).all()
    assert form.shares.sum() == pytest.approx(1.0)
    assert (form.U[np.abs(form.U).argmax(axis=0), range(6)] > 0).all()
    assert form.mean_cosine == pytest.approx(state.reservoir.mean_cosine(state.U))
    # Before the first row nothing is known.
    form = Stream.at(np.eye(5)[:, :2], 2).canonical()
    assert np.isnan(form.mean_cosine)
    np.testing.assert_array_equal(form.shares, [0.5, 0.5])


# How near it comes to the best subspace


@pytest.mark.parametrize("size", [3, 64, 256, 1797])
def test_one_pass_in_batches_of_any_size_comes_near(digits, best_of_digits, size):
    assert gap(digits, last(batches(digits, size), 10).U, best_of_digits) < 5e-4


def test_it_beats_the_svd_where_that_is_not_the_answer(groups):
    best, svd = optimum(groups, 5), begin(as_rows(groups), 5).U
    ends = list(stream(batches(groups, 100, passes=3), 5))[29::30]
    one, _, three = (gap(groups, state.U, best) for state in ends)
    assert one < 0.5 * gap(groups, svd, best)
    assert three < 0.1 * gap(groups, svd, best)
    # A given U, or a first batch of fewer rows than components, has no directions besides U.
    small = last([groups[:4], *batches(groups, 100, passes=2)], 5)
    given = Stream.at(optimum(groups[:100], 5).U, 5)
    for X in batches(groups, 100, passes=2):
        given = given.after(as_rows(X))
    for state in (small, given):
        assert gap(groups, state.U, best) < 0.2 * gap(groups, svd, best)


def test_it_follows_data_that_change(rng):
    axes = np.linalg.qr(rng.standard_normal((30, 8)))[0]
    before, after = (
        rng.standard_normal((2000, 4)) @ axes[:, part].T + 0.2 * rng.standard_normal((2000, 30))
        for part in (slice(0, 4), slice(4, 8))
    )
    half = last([*batches(before, 100), *batches(after[:1000], 100)], 4)
    full = last([*batches(before, 100), *batches(after, 100), *batches(after, 100)], 4)
    best = optimum(after, 4)
    assert gap(after, full.U, best) < 0.1 * gap(after, half.U, best)
    assert gap(after, full.U, best) < 0.01


def test_a_known_solution_is_hardly_moved_by_a_small_batch(digits, best_of_digits):
    form = Problem(as_rows(digits)).canonical(best_of_digits.U)
    state = Stream.at_solution(form.U, form.shares, form.mean_cosine, length=1.0, weight=1797.0)
    for X in batches(digits[:200], 20):
        state = state.after(as_rows(X))
        assert gap(digits, state.U, best_of_digits) < 5e-4
