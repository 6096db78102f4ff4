"""The bound is never below the optimum, and the gap closes where it can."""

from __future__ import annotations

import threading
import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from sphericalpca import SphericalPCA, certificate, open_rows
from sphericalpca.certificate import certify
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.solvers import Alternating, solve


def _solve(problem, r, n_init=1, tol=1e-8):
    options = {"n_init": n_init, "tol": tol, "rng": np.random.default_rng(0)}
    return solve(problem, r, solver=Alternating(), **options).solution


def _directions(count=20_000):
    """Unit vectors spread evenly over a half-sphere in three dimensions."""
    k = np.arange(count) + 0.5
    z, angle = k / count, np.pi * (1 + np.sqrt(5)) * k
    planar = np.sqrt(1 - z**2)
    return np.column_stack([planar * np.cos(angle), planar * np.sin(angle), z])


DIRECTIONS = _directions()


def _brute_force(X, w, r):
    """The largest f among very many lines (r = 1) or planes (r = 2) in three dimensions."""
    along = (X @ DIRECTIONS.T) ** 2
    squares = along if r == 1 else (X**2).sum(axis=1)[:, None] - along
    return float((w @ np.sqrt(np.maximum(squares, 0.0))).max())


def _instance(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 12))
    X = rng.standard_normal((n, 3)) * rng.choice([1.0, 1.0, 0.2], size=3)
    return X / np.linalg.norm(X, axis=1, keepdims=True), rng.uniform(0.1, 2, n)


@pytest.mark.parametrize("r", [1, 2])
def test_the_bound_is_never_below_a_brute_force_optimum(r, random_U):
    gaps = []
    for seed in range(12):
        X, w = _instance(seed)
        problem, best = Problem(as_rows(X, weight=w)), _brute_force(X, w, r)
        found = _solve(problem, r, n_init=8)
        assert found.value >= best - 1e-12
        for U in (found.U, random_U(3, r, seed)):
            for max_bounds in (1, 3, 30):
                assert certify(problem, U, max_bounds=max_bounds).bound >= best * (1 - 1e-12)
        gaps.append(certify(problem, found.U).gap)
    assert np.mean(np.array(gaps) < 1e-6) > 0.2


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_never_below_the_optimum_by_sign_enumeration(seed):
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((9, 5)), rng.uniform(0, 2, 9)
    signs = np.array(list(product([1.0, -1.0], repeat=9)))
    best = np.linalg.norm((signs * w) @ X, axis=1).max()
    problem = Problem(as_rows(X, weight=w, normalize=False))
    found = certify(problem, _solve(problem, 1, n_init=20).U)
    assert found.value == pytest.approx(best, rel=1e-9)
    assert found.bound >= best * (1 - 1e-12)


@pytest.mark.parametrize("m", [4, 7])
def test_the_bound_of_an_orthonormal_basis_is_not_below_its_optimum(m, random_U):
    # The projection with r / m throughout its diagonal exists, and is best by concavity.  Its
    # weighted covariance is a multiple of the identity, where eigenvalues are easily missed.
    for r, seed in product(range(1, m), range(4)):
        problem = Problem(as_rows(random_U(m, m, seed)))
        found = certify(problem, random_U(m, r, seed + 100))
        assert found.bound >= m * np.sqrt(r / m) * (1 - 1e-12)


def test_value_bound_and_gap_belong_together(problem, case, random_U, plain):
    U = random_U(case.X.shape[1], case.r)
    found = certify(problem, U)
    assert found.value == pytest.approx(plain.of(case).value(U), rel=1e-13)
    assert found.gap == pytest.approx(found.bound / found.value - 1, rel=1e-12)
    assert found.gap >= 0
    assert found.rigorous
    # Tightening never worsens the bound.
    bounds = [certify(problem, U, max_bounds=k).bound for k in (1, 2, 3, 5, 10, 30)]
    assert (np.diff(bounds) <= 0).all()


def test_tightening_goes_on_as_long_as_it_helps(rng, random_U):
    problem = Problem(as_rows(rng.standard_normal((60, 12))))
    bounds = [certify(problem, random_U(12, 1), max_bounds=k).bound for k in (5, 8, 14, 60, 90)]
    assert (np.diff(bounds[:4]) < -1e-4 * bounds[3]).all()
    assert bounds[3] == bounds[4]  # it has ended before


def test_no_subspace_beats_the_bound(name, run):
    solutions = [run("alternating", name, init=init)[0] for init in ("svd", "random")]
    best = max(solution.value for solution in solutions)
    for solution in solutions:
        assert certify(run("alternating", name)[1], solution.U).bound >= best * (1 - 1e-12)


def test_the_bound_is_that_of_the_formula_at_the_lengths(zoo, make_problem):
    case = zoo["weighted"]
    X = case.X / np.linalg.norm(case.X, axis=1, keepdims=True)
    U = np.linalg.svd(X)[2][:2].T
    s = np.linalg.norm(X @ U, axis=1)
    top = np.linalg.eigvalsh(X.T @ ((case.w / s)[:, None] * X))[-2:].sum()
    found = certify(make_problem(case), U, max_bounds=1).bound
    assert found == pytest.approx((case.w @ s + top) / 2, rel=1e-12)


@pytest.mark.parametrize("name", ["plane", "all components", "one row", "identical rows", "line"])
def test_the_gap_is_zero_where_the_optimum_is_known_to_be_found(name, layout, run):
    solution, problem = run("alternating", name, layout)
    assert certify(problem, solution.U).gap < (1e-9 if name == "plane" else 1e-8)


def test_the_bound_from_a_saddle_is_above_the_optimum_beyond_it():
    problem = Problem(as_rows(np.repeat(np.eye(2), [10, 9], axis=0)))
    found = certify(problem, np.eye(2)[:, :1])
    assert found.value == 10.0
    assert found.bound >= np.sqrt(10**2 + 9**2)
    assert found.bound == pytest.approx(np.sqrt(10**2 + 9**2), rel=0.02)


def test_a_subspace_that_sees_nothing_has_an_infinite_gap():
    problem = Problem(as_rows(np.eye(3)[[0, 0, 1]]))
    found = certify(problem, np.eye(3)[:, 2:])
    assert found.value == 0.0
    assert found.bound >= np.sqrt(2**2 + 1**2)
    assert found.gap == np.inf


@pytest.mark.parametrize("direct", [2048, 3])
def test_no_bound_is_above_the_sum_of_all_lengths(direct, monkeypatch, rng, random_U):
    monkeypatch.setattr(certificate, "DIRECT_SIZE", direct)
    X = rng.standard_normal((6, 20)) @ np.diag([1.0] + 19 * [1e-3])
    found = certify(Problem(as_rows(X)), np.eye(20)[:, 1:3], max_bounds=1)
    assert found.bound == pytest.approx(6.0, rel=1e-12)


@pytest.fixture
def sides(zoo, monkeypatch):
    """Certificates of one problem by each way to get at its eigenvalues."""
    X = zoo["few rows"].X

    def certificates(layout, max_bounds, mean=None):
        matrix = sparse.csr_array(X) if layout == "csr" else X
        found = {}
        for side, size in (("features", 25), ("rows", 24), ("iterative", 5)):
            monkeypatch.setattr(certificate, "DIRECT_SIZE", size)
            problem = Problem(as_rows(matrix, mean=mean, weight=np.linspace(0.5, 2, len(X))))
            found[side] = certify(problem, _solve(problem, 3).U, max_bounds=max_bounds)
        return found

    return certificates


@pytest.mark.parametrize("centred", [False, True])
def test_every_way_to_the_eigenvalues_gives_the_same_bound(sides, layout, centred, zoo):
    mean = zoo["few rows"].X.mean(axis=0) if centred else None
    once, tight = sides(layout, 1, mean), sides(layout, 30, mean)
    rigorous = {side: found.rigorous for side, found in once.items()}
    assert rigorous == {"features": True, "rows": True, "iterative": False}
    for side in ("rows", "iterative"):
        assert once[side].bound == pytest.approx(once["features"].bound, rel=1e-6)
        # Tightening ends within a hundredth of the gap that remains.
        slack = 0.02 * tight["features"].gap + 1e-6
        assert tight[side].gap == pytest.approx(tight["features"].gap, abs=slack)


def test_short_rows_of_large_weight_count_on_every_side(layout, zoo, monkeypatch, random_U):
    X = zoo["few rows"].X
    lengths = 10.0 ** np.array([-9, 0, -12, -3, -6, 0])
    matrix = X / np.linalg.norm(X, axis=1, keepdims=True) * lengths[:, None]
    matrix = sparse.csr_array(matrix) if layout == "csr" else matrix
    problem = Problem(as_rows(matrix, weight=1 / lengths, normalize=False))
    features = certify(problem, random_U(25, 3), max_bounds=1)
    monkeypatch.setattr(certificate, "DIRECT_SIZE", 24)
    assert certify(problem, random_U(25, 3), max_bounds=1).bound == pytest.approx(features.bound)


def _single(seed):
    """Float32 rows whose relaxation is often tight: in, near or not far from a subspace."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(5, 60)), int(rng.integers(3, 40))
    r = int(rng.integers(1, min(n, m)))
    X = rng.standard_normal((n, r)) @ rng.standard_normal((r, m))
    X += rng.choice([0.0, 1e-4, 0.1, 0.5]) * rng.standard_normal((n, m))
    weight = rng.uniform(0.1, 2, n) if seed % 3 == 0 else np.ones(n)
    return (10.0 ** rng.uniform(-3, 3) * X).astype(np.float32), weight, r


def _holds(X, w, r, normalize=True, layout="dense"):
    """Whether bound and gap of float32 rows hold for these rows in float64."""
    matrix = sparse.csr_array(X) if layout == "csr" else X
    single = Problem(as_rows(matrix, weight=w, normalize=normalize))
    double = Problem(as_rows(X.astype(np.float64), weight=w, normalize=normalize))
    U = np.linalg.qr(_solve(single, r, tol=1e-6).U.astype(np.float64))[0]
    best = max(_solve(double, r, tol=1e-12).value, double.evaluate(U).value)
    found = certify(single, U)
    assert found.rigorous
    assert found.gap >= best / double.evaluate(U).value - 1
    return found.bound >= best


@pytest.mark.parametrize("normalize", [True, False])
def test_the_bound_of_float32_rows_is_not_below_a_float64_value(normalize):
    wrong = [seed for seed in range(40) if not _holds(*_single(seed), normalize)]
    assert not wrong


@pytest.mark.parametrize("size", [2048, 20], ids=["features", "rows"])
def test_every_direct_way_to_the_eigenvalues_allows_for_rounding(layout, size, monkeypatch):
    monkeypatch.setattr(certificate, "DIRECT_SIZE", size)
    for seed in range(10):
        X = _single(seed)[0][:15]
        X = np.hstack([X] * (21 // X.shape[1] + 1))
        assert _holds(X, np.ones(len(X)), min(3, len(X) - 1), layout=layout), seed


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_gap_is_below_rounding(dtype, rng):
    """Rows in a line, in a space of three dimensions, and in all there are."""
    eps = float(np.finfo(dtype).eps)
    for r in (1, 3, 5):
        X = rng.standard_normal((50, r)) @ rng.standard_normal((r, 5))
        problem = Problem(as_rows(X.astype(dtype)))
        found = certify(problem, _solve(problem, r).U)
        assert eps <= found.gap <= 1000 * eps
        assert found.bound > found.value


def test_the_allowance_of_float32_stays_small_for_long_rows(rng):
    """Sums over more than 1,024 features are added up in float64."""
    for m in (1024, 2000):
        x = rng.standard_normal(m)
        problem = Problem(as_rows(np.outer(np.ones(30), x).astype(np.float32)))
        found = certify(problem, x[:, None] / np.linalg.norm(x), max_bounds=1)
        assert np.finfo(np.float32).eps < found.gap < 4e-5


@given(
    X=arrays(np.float64, (5, 3), elements=st.floats(-4, 4, allow_subnormal=False)),
    r=st.integers(1, 2),
    normalize=st.booleans(),
)
@settings(deadline=None, max_examples=30)
def test_the_bound_holds_for_any_rows(plain, X, r, normalize):
    X = X.round(6)
    assume(X.any())
    problem, explicit = Problem(as_rows(X, normalize=normalize)), plain(X, None, normalize)
    best = _brute_force(explicit.X, explicit.w, r)
    U = np.linalg.qr(np.random.default_rng(r).standard_normal((3, r)))[0]
    assume(problem.evaluate(U).value > 0)
    assert certify(problem, U).bound >= best * (1 - 1e-12)


@pytest.mark.parametrize("direct", [2048, 3])
def test_there_is_only_one_subspace_of_all_dimensions(direct, monkeypatch, rng):
    """Lanczos could not find as many eigenvectors as there are features."""
    monkeypatch.setattr(certificate, "DIRECT_SIZE", direct)
    X = rng.standard_normal((30, 6))
    problem = Problem(as_rows(X, weight=rng.uniform(0, 2, 30), normalize=False))
    found = certify(problem, np.eye(6))
    weighted = problem.rows.stats.weight @ np.linalg.norm(X, axis=1)
    np.testing.assert_allclose([found.value, found.bound], weighted, rtol=1e-12)
    assert 0 < found.gap < 1e-14  # rounding alone
    assert found.rigorous


@pytest.fixture
def wide(rng):
    """Rows whose certificate is found by iteration: more than 2,048 features, and rows."""
    X = rng.standard_normal((2100, 8)) @ rng.standard_normal((8, 2100))
    return (X + 2.0 * rng.standard_normal(X.shape)).astype(np.float32)


@pytest.mark.parametrize("megabytes", [2, 64])
def test_wide_rows_in_a_file_have_a_probable_certificate(wide, megabytes, tmp_path):
    """Bound and kind are those of rows in memory; passes are counted, and memory is kept to."""
    np.save(tmp_path / "X.npy", wide)
    model = SphericalPCA(3, tol=1e-2, random_state=0).fit(wide)
    U = model.components_.T.astype(np.float64)
    rows = as_rows(open_rows(tmp_path / "X.npy", memory_budget=megabytes * 2**20))
    problem, before = Problem(rows), rows.passes
    tracemalloc.start()
    try:
        found = certify(problem, U)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    expected = certify(Problem(as_rows(wide)), U)
    assert (found.kind, found.probability) == ("probable", 1e-9)
    assert found.bound == pytest.approx(expected.bound, rel=1e-5)
    assert found.gap < 0.05
    assert rows.passes - before > 10
    # What is always there: a few arrays as long as the vertices, and blocks in float64.
    assert peak < 2 * megabytes * 2**20 + 16 * 2**20


def test_progress_and_ctrl_c_are_heard(wide):
    model, told, threads = SphericalPCA(3, tol=1e-2).fit(wide), [], threading.active_count()
    found = model.certify(wide, progress=told.append)
    assert found == model.certify(wide)
    assert told[-1].n_samples == len(wide)
    assert told[-1].passes >= told[0].passes > 0  # once at least, however fast it is

    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.certify(wide, progress=interrupt)
    assert threading.active_count() <= threads
