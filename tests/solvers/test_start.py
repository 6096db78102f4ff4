"""Where a run begins, and that the best of several is kept."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import TruncatedSVD

from sphericalpca import SphericalPCA
from sphericalpca.estimators.monitoring import UnfinishedFitWarning
from sphericalpca.exceptions import DataError
from sphericalpca.iterate import iterate
from sphericalpca.linalg import principal_angles, unit_rows
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.solvers import (
    SOLVERS,
    Alternating,
    Linearized,
    choose_solver,
    given_start,
    random_start,
    solve,
    start,
    svd_start,
)

N, M, R = 60, 12, 3


@pytest.fixture
def X(rng):
    """A gap after R singular values."""
    singular = np.array([9.0, 7, 5, *(0.5 ** np.arange(M - R))])
    left, right = (np.linalg.qr(rng.standard_normal((k, M)))[0] for k in (N, M))
    return (left * singular) @ right.T


@pytest.fixture(params=[M, M - 1], ids=["gram", "randomized"])
def svd_method(request, monkeypatch):
    monkeypatch.setattr(start, "GRAM_FEATURES", request.param)


@pytest.fixture
def all_are_many(monkeypatch):
    """No rows and features are so few that the SVD must be exact."""
    monkeypatch.setattr(start, "EXACT_SIDE", 0)
    monkeypatch.setattr("sphericalpca.rowspace.EXACT_SIDE", 0)


@pytest.fixture
def problem(X):
    return Problem(as_rows(X))


@pytest.mark.usefixtures("svd_method")
@pytest.mark.parametrize("reading", ["unit", "raw centred", "unit centred"])
def test_the_svd_start_spans_numpys_leading_vectors(X, layout, float_type, reading, plain):
    X, mean = X.astype(float_type), X.mean(axis=0) if "centred" in reading else None
    reading = {"weight": np.linspace(0.5, 1.5, N), "normalize": "unit" in reading, "mean": mean}
    matrix = sparse.csr_array(X) if layout == "csr" else X
    problem = Problem(as_rows(matrix, block_rows=7, **reading))
    found = svd_start(problem, R, np.random.default_rng(0))
    explicit = plain(X, **reading)
    expected = np.linalg.svd(np.sqrt(explicit.w)[:, None] * explicit.X)[2][:R].T
    assert found.is_svd
    assert found.V is None
    assert principal_angles(found.U, expected).max() < (1e-4 if float_type == np.float32 else 1e-6)
    np.testing.assert_allclose(found.U.T @ found.U, np.eye(R), atol=1e-5)


def _wide(rng, rank, dtype, *, n=200, m=1100, noise=0.0):
    """More features than the Gram matrix is formed for; a gap after `rank`."""
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m))
    return (X + noise * rng.standard_normal((n, m))).astype(dtype)


def _reads(r):
    return start.KRYLOV_READS if r <= start.FEW_COMPONENTS else start.MORE_READS


def _is_orthonormal(U):
    return np.abs(U.T @ U - np.eye(U.shape[1])).max() < 20 * np.finfo(U.dtype).eps


@pytest.mark.parametrize("r", [1, 4, 45])
def test_wide_data_with_a_gap_start_from_numpys_vectors(rng, float_type, r):
    X = _wide(rng, r, float_type, noise=0.05)
    problem = Problem(as_rows(X, normalize=False))
    U = svd_start(problem, r, np.random.default_rng(0)).U
    expected = np.linalg.svd(X.astype(np.float64), full_matrices=False)[2][:r].T
    assert U.dtype == float_type
    assert _is_orthonormal(U)
    assert principal_angles(U, expected).max() < (2e-3 if float_type == np.float32 else 1e-4)
    assert problem.rows.passes <= _reads(r) + 1


@pytest.mark.parametrize(
    ("rank", "r", "noise"), [(1, 10, 1e-4), (1, 10, 0.3), (3, 40, 1e-4), (3, 40, 1e-2)]
)
@pytest.mark.usefixtures("all_are_many")
def test_few_strong_directions_cost_no_reads_and_hide_no_others(rng, float_type, rank, r, noise):
    """As accurate as scikit-learn's TruncatedSVD, from as many reads."""
    X = _wide(rng, rank, float_type, noise=noise)
    problem = Problem(as_rows(X, normalize=False))
    ours = svd_start(problem, r, np.random.default_rng(0)).U.T
    theirs = TruncatedSVD(r, random_state=0).fit(X).components_
    left, expected = (np.linalg.norm(X - (X @ C.T.astype(np.float64)) @ C) for C in (ours, theirs))
    # Single precision loses the squares of numbers that are 1e-4 of the others.
    assert left <= (1.15 if noise**2 < np.finfo(float_type).eps else 1.02) * expected
    assert problem.rows.passes <= _reads(r) + 1


@pytest.mark.parametrize("shape", [(3000, 1200), (700, 3000)])
@pytest.mark.parametrize("spectrum", ["flat", "falling"])
def test_the_svd_is_exact_where_rows_or_features_are_few(rng, float_type, shape, spectrum, layout):
    X = rng.standard_normal(shape)
    X = X if spectrum == "flat" else X * np.geomspace(1, 0.01, shape[1])
    X = np.where(rng.random(shape) < 0.1, X, 0.0) if layout == "csr" else X
    X = unit_rows(X)[0].astype(float_type)
    model = SphericalPCA(8, max_iter=5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnfinishedFitWarning)
        model.fit(sparse.csr_array(X) if layout == "csr" else X)
    E = np.linalg.svd(X.astype(np.float64), full_matrices=False)[2][:8]
    svd, found = (np.linalg.norm(X @ C.T, axis=1).mean() for C in (E, model.components_))
    assert model.mean_cosine_ == pytest.approx(found, rel=1e-6)
    assert model.svd_ratio_ == pytest.approx(svd / found, rel=5e-6)


@pytest.mark.parametrize(("rank", "r"), [(1, 1), (1, 2), (2, 5), (3, 40), (3, 50), (50, 70)])
def test_wide_data_of_low_rank_start_from_an_orthonormal_basis(rng, layout, float_type, rank, r):
    X = _wide(rng, rank, float_type)
    problem = Problem(as_rows(sparse.csr_array(X) if layout == "csr" else X))
    U = svd_start(problem, r, np.random.default_rng(0)).U
    assert _is_orthonormal(U)
    # All rows lie in the span, up to rounding; more components than rows included.
    lengths = np.linalg.norm(problem.rows.project(U), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-3 if float_type == np.float32 else 1e-6)


@pytest.mark.usefixtures("svd_method")
def test_the_svd_start_works_with_all_components_and_one_row(rng):
    for shape, r in (((20, M), M), ((1, M), 1)):
        problem = Problem(as_rows(rng.standard_normal(shape)))
        U = svd_start(problem, r, rng).U
        np.testing.assert_allclose(U.T @ U, np.eye(r), atol=1e-12)


@pytest.mark.usefixtures("svd_method")
def test_rows_without_weight_do_not_enter_the_svd(X):
    w = np.ones(N)
    w[:10] = 0.0
    heavy = X.copy()
    heavy[:10] *= 1e6
    one, other = (
        svd_start(Problem(as_rows(A, weight=w, normalize=False)), R, np.random.default_rng(0)).U
        for A in (X, heavy)
    )
    assert principal_angles(one, other).max() < 1e-6


def test_a_random_start_is_orthonormal_and_follows_the_seed(problem):
    one, same, other = (random_start(problem, R, np.random.default_rng(k)).U for k in (0, 0, 1))
    np.testing.assert_allclose(one.T @ one, np.eye(R), atol=1e-14)
    np.testing.assert_array_equal(one, same)
    assert principal_angles(one, other).max() > 0.1


def test_a_given_U_is_kept_or_made_orthonormal_with_the_same_span(problem, random_U, rng):
    U, V = random_U(M, R), rng.uniform(size=(N, R))
    for init in (U, U.tolist(), (U, V), [U, V], (U.tolist(), V.tolist())):
        found = given_start(problem, R, init)
        np.testing.assert_array_equal(found.U, U)
        if len(init) == 2:
            np.testing.assert_array_equal(found.V, V)
    other = rng.standard_normal((M, R)) * [1e-3, 1.0, 1e3]
    found = given_start(problem, R, other).U
    np.testing.assert_allclose(found.T @ found, np.eye(R), atol=1e-14)
    assert principal_angles(found, other).max() < 1e-9


def test_a_U_of_two_rows_as_a_list_is_no_pair():
    problem = Problem(as_rows(np.eye(2)))
    assert given_start(problem, 2, [[1.0, 0.0], [0.0, 1.0]]).V is None


def _bad_starts():
    U, V = np.eye(M)[:, :R], np.ones((N, R))
    nan, inf = U.copy(), V.copy()
    nan[0, 0], inf[0, 0] = np.nan, np.inf
    return {
        "transposed": (U.T, r"\(3, 12\), but must .*\(12, 3\).*transpose"),
        "too few columns": (U[:, :2], r"U has .*\(12, 2\), but must .*\(12, 3\)"),
        "one-dimensional": (U[:, 0], r"U has .*\(12,\), but must .*\(12, 3\)"),
        "rank-deficient": (U[:, [0, 1, 1]], "rank 2, .* independent"),
        "zero": (0 * U, "rank 0"),
        "nan": (nan, "U .*NaN.* must .*finite"),
        "text": (np.full((M, R), "a"), "U is text, but must .*numeric"),
        "complex": (U * 1j, "U is .*must be"),
        "nothing": (None, "U .*must"),
        "V transposed": ((U, V.T), r"V has .*\(3, 60\), but must .*\(60, 3\).*transpose"),
        "V infinite": ((U, inf), "V .*infinity.* must .*finite"),
        "triple": ((U, V, V), r"init.*\(U, V\)"),
    }


@pytest.mark.parametrize("what", _bad_starts(), ids=lambda what: what.replace(" ", "_"))
def test_an_impossible_start_is_refused_with_the_rule(problem, what):
    init, message = _bad_starts()[what]
    with pytest.raises(DataError, match=message):
        given_start(problem, R, init)


def test_a_pair_is_refused_by_a_solver_that_starts_from_U_alone(problem, random_U):
    init = (random_U(M, R), np.ones((N, R)))
    with pytest.raises(DataError, match=r"init=\(U, V\).*solver='linearized'"):
        solve(problem, R, solver=Alternating(), init=init, rng=np.random.default_rng(0))


@pytest.mark.parametrize("init", ["auto", "svd", "random", "given"])
def test_the_best_of_all_starts_is_kept(zoo, make_problem, init, random_U):
    problem, options = make_problem(zoo["noise"]), {"tol": 1e-3, "max_iter": 40}
    svd, init = init in ("auto", "svd"), random_U(7, 3) if init == "given" else init
    points = list(start.starts(problem, 3, init, 4, np.random.default_rng(5)))
    assert [point.is_svd for point in points] == [svd, False, False, False]
    each = [iterate(problem, Alternating(), point, **options).value for point in points]
    options |= {"init": init, "n_init": 4, "rng": np.random.default_rng(5)}
    found = solve(problem, 3, solver=Alternating(), **options)
    assert len(set(each)) > 1
    assert found.solution.value == max(each)
    if svd:
        expected = problem.evaluate(points[0].U).value / max(each)
        assert found.svd_ratio == pytest.approx(expected, rel=1e-12)
    else:
        assert np.isnan(found.svd_ratio)


def test_solvers_go_by_name_or_are_taken_as_they_are(problem):
    def chosen(solver):
        return choose_solver(solver, problem.rows, R, 1e-4)

    for name, entry in SOLVERS.items():
        assert chosen(name) == entry.load()()
        assert type(chosen(name)).__name__.lower() == name
    own = Linearized(lam=3.0)
    assert chosen(own) is own
    choices = tuple(entry.load() for entry in SOLVERS.values() if entry.automatic)
    assert isinstance(chosen("auto"), choices)
    with pytest.raises(TypeError, match=r"Linearized is a class.*pass Linearized\(\)"):
        chosen(Linearized)
