"""Lengths, polar factors, rotations and angles, also at the edge of the number range."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sphericalpca.linalg import (
    canonical_rotation,
    fix_signs,
    frobenius,
    in_range,
    leading_eigenvectors,
    orthonormal,
    orthonormal_outside,
    polar,
    principal_angles,
    refined,
    row_norms,
    unit_rows,
)
from sphericalpca.products import inner_products

MAGNITUDES = [
    *[(np.float64, c) for c in (1e-300, 1e-160, 1e-20, 1.0, 1e150)],
    *[(np.float32, c) for c in (1e-30, 1.0, 1e20, 1e30)],
]
at_every_magnitude = pytest.mark.parametrize(("dtype", "size"), MAGNITUDES)

small_matrices = arrays(
    np.float64,
    st.tuples(st.integers(3, 6), st.integers(1, 3)),
    elements=st.floats(-1e6, 1e6, allow_subnormal=False),
)


def _eps(dtype):
    return float(np.finfo(dtype).eps)


def _gauss(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def _is_orthonormal(U, dtype=np.float64):
    return np.abs(U.T @ U - np.eye(U.shape[1])).max() <= 20 * _eps(dtype)


@pytest.mark.parametrize(
    ("height", "columns"), [(0, 1), (1, 8), (4095, 2), (4097, 3), (100_000, 1)]
)
def test_long_sums_keep_the_digits_of_single_precision(height, columns):
    A = np.abs(_gauss((height, columns))).astype(np.float32)
    B = np.abs(_gauss((height, columns), seed=1)).astype(np.float32)
    found = inner_products(A, B)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, A.astype(float).T @ B.astype(float), rtol=1e-6)


@at_every_magnitude
def test_norms_scale_with_the_matrix(dtype, size):
    A = _gauss((7, 5)).astype(dtype)
    near, far = A.astype(np.float64), A * dtype(size)
    norms, rel = row_norms(far), 10 * _eps(dtype)
    assert norms.dtype == np.float64
    np.testing.assert_allclose(norms / size, np.linalg.norm(near, axis=1), rtol=rel)
    assert frobenius(far) / size == pytest.approx(np.linalg.norm(near), rel=rel)


@pytest.mark.parametrize(
    ("length", "order"), [(255, "F"), (1024, "C"), (1025, "C"), (2500, "F"), (100_000, "C")]
)
def test_long_float32_rows_keep_their_digits(length, order):
    # Equal numbers, as pixels of a bright picture are: rounding errors all have one sign.
    A = np.array([np.full(length, 0.1), np.arange(length) % 7], dtype=np.float32, order=order)
    exact = np.linalg.norm(A.astype(np.float64), axis=1)
    np.testing.assert_allclose(row_norms(A), exact, rtol=1e-5)


def test_row_norms_of_all_magnitudes_at_once():
    size = np.array([0.0, 1e-300, 1e-200, 1e-150, 1.0, 1e100, 1e150, 1e300])
    A = np.outer(size, [3.0, 0.0, -4.0])
    np.testing.assert_allclose(row_norms(A), 5 * size, rtol=1e-15)
    # A tiny and a large entry in one row.
    found, expected = row_norms(np.array([[1e-200, 1.0], [1e-200, 1e-200]])), [1.0, 2**0.5 * 1e-200]
    assert found == pytest.approx(expected, rel=1e-15, abs=0)
    # No columns, or no rows.
    assert row_norms(np.empty((3, 0))).tolist() == [0.0] * 3
    assert row_norms(np.empty((0, 3))).shape == (0,)
    assert frobenius(np.empty((0, 3))) == 0.0


@given(small_matrices)
@settings(deadline=None, max_examples=40)
def test_unit_rows_times_lengths_give_the_rows_back(A):
    V, norms = unit_rows(A)
    assert (np.abs(V * norms[:, None] - A) <= 1e-15 * norms[:, None]).all()
    np.testing.assert_allclose(np.linalg.norm(V[norms > 0], axis=1), 1.0, rtol=1e-14)
    assert not V[norms == 0].any()


@at_every_magnitude
def test_polar_factor_is_the_svd_one_at_every_magnitude(dtype, size):
    M = _gauss((8, 3)).astype(dtype)
    A, s, Bt = np.linalg.svd(M.astype(np.float64), full_matrices=False)
    found = polar(M * dtype(size))
    tolerance = 50 * _eps(dtype)
    np.testing.assert_allclose(found.factor, A @ Bt, atol=tolerance)
    assert found.nuclear_norm / size == pytest.approx(s.sum(), rel=tolerance)


@pytest.mark.parametrize("smallest", [1.0, 1e-2, 3e-4, 1.1e-4, 0.9e-4, 1e-6, 1e-12, 0.0])
def test_polar_is_orthonormal_and_optimal_however_ill_conditioned(smallest):
    singular = np.array([1.0, 0.7, np.sqrt(smallest * 0.7), smallest])
    for seed in range(3):
        left, right = (np.linalg.qr(_gauss((k, 4), seed + k))[0] for k in (9, 4))
        M = (left * singular) @ right.T
        factor, nuclear = polar(M)
        assert _is_orthonormal(factor)
        assert nuclear == pytest.approx(singular.sum(), rel=1e-13)
        assert (factor * M).sum() == pytest.approx(nuclear, rel=1e-12)


@pytest.mark.parametrize(
    ("shape", "conditions"),
    [((9, 4), (1.0, 10.0, 1e4)), ((60, 4), (3.0, 1e2, 1e6)), ((5, 5), (4.0, 1e3))],
    ids=str,
)
def test_polar_keeps_the_type_and_is_scipys_at_any_condition(float_type, shape, conditions):
    (m, r), eps = shape, _eps(float_type)
    left, right = (np.linalg.qr(_gauss((k, r), k))[0] for k in (m, r))
    for condition in conditions:
        M = ((left * np.geomspace(1, 1 / condition, r)) @ right.T).astype(float_type)
        factor, nuclear = polar(M)
        assert factor.dtype == float_type
        assert _is_orthonormal(factor, float_type)
        expected = scipy.linalg.polar(M.astype(np.float64))[0]
        # The factor is as well determined as the smallest singular values are.
        np.testing.assert_allclose(factor, expected, atol=20 * eps * condition)
        assert nuclear == pytest.approx(np.linalg.norm(M.astype(np.float64), "nuc"), rel=20 * eps)
        assert np.vdot(factor, M) == pytest.approx(nuclear, rel=50 * eps)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_polar_completes_a_rank_deficient_matrix_in_its_own_type(float_type, rank):
    M = (_gauss((30, rank)) @ _gauss((rank, 4), 1)).astype(float_type)
    factor, nuclear = polar(M)
    assert factor.dtype == float_type
    assert _is_orthonormal(factor, float_type)
    close = {"rel": 50 * _eps(float_type), "abs": 1e-12}
    assert np.vdot(factor, M) == pytest.approx(nuclear, **close)
    assert nuclear == pytest.approx(np.linalg.norm(M.astype(np.float64), "nuc"), **close)


@given(small_matrices)
@settings(deadline=None, max_examples=50)
def test_polar_is_orthonormal_and_reaches_the_nuclear_norm(M):
    (factor, nuclear), size = polar(M), np.linalg.norm(M, "nuc")
    assert _is_orthonormal(factor)
    assert [nuclear, (factor * M).sum()] == pytest.approx([size, size], rel=1e-11)


@at_every_magnitude
def test_orthonormal_spans_the_columns(dtype, size):
    A = _gauss((7, 3)).astype(dtype)
    Q = orthonormal(A * dtype(size))
    assert Q.dtype == np.float64
    assert _is_orthonormal(Q)
    assert principal_angles(Q, A).max() < 100 * _eps(dtype)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_leading_eigenvectors_of_white_data_are_not_missed(float_type, count, rng):
    # Of such matrices LAPACK, asked for some eigenvalues, finds none in one case of thirty.
    for m in np.tile(np.arange(5, 30), 4):
        Q = np.linalg.qr(rng.standard_normal((60, m)))[0].astype(float_type)
        values, E = leading_eigenvectors(Q.T @ Q, count)
        assert E.shape == (m, count)
        np.testing.assert_allclose(values, 1.0, atol=100 * _eps(float_type))
        np.testing.assert_allclose(E.T @ E, np.eye(count), atol=100 * _eps(float_type))


@pytest.mark.parametrize("short", [0, 1, 3])
def test_leading_eigenvectors_are_found_where_lapack_returns_fewer(short, rng, monkeypatch):
    whole = scipy.linalg.eigh

    def eigh(A, subset_by_index=None, **options):
        values, E = whole(A, subset_by_index=subset_by_index, **options)
        return (values[:short], E[:, :short]) if subset_by_index is not None else (values, E)

    B = rng.standard_normal((12, 12))
    A = B @ B.T
    expected, vectors = np.linalg.eigh(A)
    monkeypatch.setattr(scipy.linalg, "eigh", eigh)
    values, E = leading_eigenvectors(A, 3)
    np.testing.assert_allclose(values, expected[:-4:-1])
    np.testing.assert_allclose(np.abs(E.T @ vectors[:, :-4:-1]), np.eye(3), atol=1e-9)


def test_canonical_rotation_diagonalises_in_decreasing_order(rng):
    V = rng.standard_normal((20, 4))
    Q, eigenvalues = canonical_rotation(V.T @ V)
    assert _is_orthonormal(Q)
    assert (np.diff(eigenvalues) <= 0).all()
    np.testing.assert_allclose((V @ Q).T @ (V @ Q), np.diag(eigenvalues), atol=1e-12)
    singular = np.outer(V[:, 0], V[0])
    assert (canonical_rotation(singular.T @ singular)[1] >= 0).all()


def test_fixed_signs_do_not_depend_on_the_signs_given(rng, float_type):
    U = rng.standard_normal((6, 4)).astype(float_type)
    fixed = fix_signs(U)
    assert fixed.dtype == float_type
    np.testing.assert_array_equal(np.abs(fixed), np.abs(U))
    assert (fixed[np.abs(U).argmax(axis=0), range(4)] > 0).all()
    np.testing.assert_array_equal(fix_signs(U * np.array([1, -1, -1, 1], float_type)), fixed)
    # Nor on rounding, where loadings tie.
    U, noise = np.array([[-0.6, 0.6], [0.6, 0.6]]), 1e-12 * np.array([[1, 0], [-1, 1]])
    np.testing.assert_allclose(fix_signs(U + noise), fix_signs(U - noise), atol=1e-11)


def test_principal_angles_of_planes_turned_by_known_angles():
    known = np.array([0.0, 1e-9, 0.3, np.pi / 2])
    A = np.eye(8)[:, :4]
    B = np.vstack([np.diag(np.cos(known)), np.diag(np.sin(known))])
    mixed = B @ _gauss((4, 4))
    # As exact as an orthonormal basis of the mixed columns can be.
    atol = 1e-15 * np.linalg.cond(mixed)
    np.testing.assert_allclose(principal_angles(A, mixed), known, atol=atol)


def test_a_step_of_refinement_makes_nearly_orthonormal_columns_so(float_type, random_U):
    eps = _eps(float_type)
    Q = random_U(50, 4) @ (np.eye(4) + 0.1 * np.sqrt(eps) * _gauss((4, 4)))
    found = refined(Q.astype(float_type))
    assert found.dtype == float_type
    assert _is_orthonormal(found, float_type)
    assert principal_angles(found, Q).max() < 20 * eps


def test_in_range_at_the_edge_of_the_numbers_and_beyond(float_type):
    info = np.finfo(float_type)
    for edge in (info.smallest_subnormal, info.max):
        found, divisor = in_range(np.full((2, 2), edge, float_type))
        np.testing.assert_array_equal(found, 1)
        assert found.dtype == float_type
        assert divisor == float(edge)
    for entry in (0.0, np.inf, np.nan):  # no division helps
        found, divisor = in_range(np.full((2, 2), entry, float_type))
        np.testing.assert_array_equal(found, entry)
        assert divisor == 1.0
    assert in_range(np.empty((0, 2)))[1] == 1.0


def _outside(S, R):
    """R without its part in the span of S, removed once: with rounding errors within."""
    return R - S @ (S.T @ R)


def _check_outside(S, D, dtype):
    assert D.dtype == dtype
    k = D.shape[1]
    assert k <= len(S) - S.shape[1]
    tolerance = 50 * _eps(dtype)
    assert np.abs(D.T @ D - np.eye(k)).max(initial=0.0) < tolerance
    assert np.abs(S.T @ D).max(initial=0.0) < tolerance


@at_every_magnitude
def test_what_is_outside_gets_an_orthonormal_basis(dtype, size, random_U):
    S = random_U(30, 6).astype(dtype)
    R = _outside(S, _gauss((30, 3)).astype(dtype))
    D = orthonormal_outside(S, in_range(R * dtype(size))[0])
    _check_outside(S, D, dtype)
    assert D.shape == (30, 3)
    assert principal_angles(D, R.astype(np.float64)).max() < 1e3 * _eps(dtype)


@pytest.mark.parametrize("part", [1.0, 1e-2, 1e-4, 1e-6])
def test_little_of_it_outside_is_enough(float_type, part, random_U):
    """Most of R is in the span: the rest must still be orthogonal to it."""
    S = random_U(30, 6).astype(float_type)
    R = (S @ _gauss((6, 3)) + part * _gauss((30, 3), 1)).astype(float_type)
    D = orthonormal_outside(S, _outside(S, R))
    _check_outside(S, D, float_type)
    if part > 100 * _eps(float_type):
        assert D.shape[1] == 3


def test_dependent_directions_and_rounding_errors_are_left_out(float_type, random_U):
    S = random_U(30, 6).astype(float_type)
    R = _outside(S, (_gauss((30, 2)) @ _gauss((2, 5), 1)).astype(float_type))
    D = orthonormal_outside(S, R)
    _check_outside(S, D, float_type)
    assert D.shape[1] == 2
    assert orthonormal_outside(S, np.zeros((30, 3), float_type)).shape == (30, 0)
    shared = np.hstack([S[:, :1], D])
    kept = orthonormal_outside(S, shared, harmless=2.0)
    assert kept.shape == shared.shape
    assert principal_angles(kept, shared).max() < 1e3 * _eps(float_type)
    for columns in (1, 6, 29, 30):
        S = random_U(30, columns).astype(float_type)
        for seed in range(3):
            within = (S @ _gauss((columns, 3), seed)).astype(float_type)
            _check_outside(S, orthonormal_outside(S, _outside(S, within)), float_type)
