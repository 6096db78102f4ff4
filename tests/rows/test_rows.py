"""Rows give the products of their matrix, wherever it is stored."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows, memory, weighted_mean
from sphericalpca.rows.block import WORTH_TURNING

N, M, R = 23, 6, 3


@pytest.fixture
def X(rng):
    """Some zeros, one empty row."""
    X = rng.standard_normal((N, M)) * (rng.random((N, M)) < 0.6)
    X[4] = 0.0
    return X


def _rows(X, layout, **options):
    return as_rows(sparse.csr_array(X) if layout == "csr" else X, **options)


# Centring, scaling and the height of blocks: all pairs of them.
READINGS = [
    *[(False, True, 1), (True, False, 1), (True, True, 5), (False, False, 5)],
    *[(True, True, N), (False, False, N), (False, True, None), (True, False, None)],
]


@pytest.fixture(params=READINGS, ids=str)
def both(request, X, layout, plain):
    """The rows, and plain numpy to compare with."""
    center, normalize, height = request.param
    reading = {"weight": np.linspace(0.1, 2.0, N), "normalize": normalize}
    reading["mean"] = X.mean(axis=0) if center else None
    return _rows(X, layout, block_rows=height, **reading), plain(X, **reading)


def test_rows_are_those_of_the_explicit_matrix(both, layout, random_U, rng):
    rows, explicit = both
    assert isinstance(rows, memory.SparseRows if layout == "csr" else memory.DenseRows)
    spans = [block.span for block in rows.blocks()]
    covered = np.concatenate([np.arange(N)[span] for span in spans])
    np.testing.assert_array_equal(covered, np.arange(N), "blocks are all rows in order")

    U, V, factor = random_U(M, R), rng.standard_normal((N, R)), rng.random(N)
    np.testing.assert_allclose(rows.project(U), explicit.X @ U, atol=1e-14)
    (found,) = rows.sweep(lambda block: (block.correlate(V[block.span]),))
    np.testing.assert_allclose(found, explicit.X.T @ (explicit.w[:, None] * V), atol=1e-13)
    (found,) = rows.sweep(lambda block: (block.correlate(V[block.span], factor[block.span]),))
    expected = explicit.X.T @ (factor[:, None] * V)
    np.testing.assert_allclose(found, expected, atol=1e-13, err_msg="a factor, not the weight")

    length = np.linalg.norm(explicit.X, axis=1)
    np.testing.assert_allclose(rows.stats.norm, length, rtol=1e-13)
    np.testing.assert_array_equal(rows.stats.weight, explicit.w)
    assert rows.totals.weight == pytest.approx(explicit.w.sum(), rel=1e-14)
    assert rows.totals.energy == pytest.approx(explicit.w @ length**2, rel=1e-13)


def _strided(X):
    wide = np.full((2 * len(X), 3 * X.shape[1]), np.nan)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def _mapped(X, folder):
    X.tofile(folder / "X.bin")
    return np.memmap(folder / "X.bin", dtype=X.dtype, mode="r", shape=X.shape)


def _read_only_csr(X, folder):
    S = sparse.csr_array(X)
    for part in (S.data, S.indices, S.indptr):
        part.setflags(write=False)
    return S


# The same rows, held otherwise: what is made of X in this folder.
HELD = {
    "CSR": lambda X, folder: sparse.csr_array(X),
    "CSR matrix": lambda X, folder: sparse.csr_matrix(X),
    "read-only CSR": _read_only_csr,
    "Fortran order": lambda X, folder: np.asfortranarray(X),
    "strided": lambda X, folder: _strided(X),
    "reversed": lambda X, folder: X[::-1, ::-1].copy()[::-1, ::-1],
    "column slice": lambda X, folder: np.hstack([X, X])[:, : X.shape[1]],
    "memory map": _mapped,
    "float32": lambda X, folder: X.astype(np.float32),
}


def _answers(case, X, U, *, weight=None, **options):
    problem = Problem(as_rows(X, weight=weight, normalize=case.normalize, **options))
    at = problem.evaluate(U)
    return {
        "norms": problem.rows.stats.norm,
        "value": at.value,
        "loss": at.loss,
        "gradient": at.gradient,
        "moment": at.moment,
        "gram": problem.gram(),
        "components": problem.rows.components(U.astype(X.dtype)),
    }


def _agree(found, expected, name, close=1e-12):
    for what, answer in expected.items():
        slack = close * (1 + np.abs(answer).max())
        np.testing.assert_allclose(found[what], answer, atol=slack, err_msg=f"{what} of {name}")


@pytest.mark.parametrize("held", HELD)
def test_answers_do_not_depend_on_how_rows_are_held(held, zoo, random_U, tmp_path):
    """Nor on the blocks: these do not divide the rows evenly.  And X stays as it was."""
    for name, case in zoo.items():
        X, U = HELD[held](case.X, tmp_path), random_U(case.X.shape[1], case.r)
        before = (X.data if sparse.issparse(X) else X).tobytes()
        found = _answers(case, X, U, weight=case.weight, block_rows=7)
        assert (X.data if sparse.issparse(X) else X).tobytes() == before
        expected = _answers(case, case.X, U, weight=case.weight)
        _agree(found, expected, name, 1e-12 if held != "float32" else 1e-5)


@pytest.mark.parametrize("columns", [WORTH_TURNING - 1, WORTH_TURNING])
def test_blocks_that_are_transposed_for_a_product(columns, float_type, rng):
    """As those that are not; the sums of a million equal numbers keep their digits in both."""
    X = sparse.random_array((900, 300), density=0.1, rng=rng, dtype=float_type, format="csr")
    V = rng.standard_normal((900, columns)).astype(float_type)
    found = as_rows(X, normalize=False, block_rows=200).correlate(V)
    expected = X.toarray().astype(np.float64).T @ V
    np.testing.assert_allclose(found, expected, atol=1e2 * np.finfo(float_type).eps)
    n = 1_000_000
    ones = sparse.csr_array((np.ones(n, float_type), np.arange(n) % 2, np.arange(n + 1)))
    V = np.full((n, columns), 0.1, float_type)
    found = as_rows(ones, normalize=False, block_rows=n // 2).correlate(V)
    np.testing.assert_allclose(found, n / 2 * float(V[0, 0]), rtol=1e-5)


def test_answers_do_not_depend_on_the_order_or_the_signs_of_rows(zoo, layout, random_U, rng):
    for name, case in zoo.items():
        U, order = random_U(case.X.shape[1], case.r), rng.permutation(len(case.X))
        sign, make = rng.choice([-1.0, 1.0], (len(order), 1)), _convert(layout)
        expected = _answers(case, make(case.X), U, weight=case.weight)
        found = _answers(case, make((sign * case.X)[order]), U, weight=case.w[order])
        for per_row in ("norms", "components"):
            expected[per_row] = expected[per_row][order]
        expected["components"] = expected["components"] * sign[order]
        _agree(found, expected, name)


def _convert(layout):
    return sparse.csr_array if layout == "csr" else np.asarray


def test_a_row_that_is_zero_or_the_mean_has_no_direction(layout, rng):
    X = rng.standard_normal((6, 5))
    X[3] = 1 / 3
    for mean in (None, np.full(5, 1 / 3)):
        rows = _rows(X if mean is not None else X * (X != 1 / 3), layout, mean=mean)
        for numbers in (rows.stats.weight, rows.stats.scale, rows.stats.norm):
            np.testing.assert_array_equal(numbers > 0, np.arange(6) != 3)


@pytest.mark.parametrize("height", [None, 3])
def test_unsorted_indices_explicit_zeros_and_empty_rows_are_read_right(height, plain, random_U):
    data = np.array([2.0, 0.0, -1.0, 4.0])
    S = sparse.csr_array((data, [3, 0, 1, 2], [0, 3, 3, 3, 4, 4]), shape=(5, 4))
    U, mean = random_U(4, 2), np.arange(4.0)
    expected = plain(S.toarray(), mean=mean).X @ U
    np.testing.assert_allclose(
        as_rows(S, block_rows=height, mean=mean).project(U), expected, atol=1e-14
    )


def test_weighted_mean_is_the_average(X, layout, rng):
    matrix, w = _convert(layout)(X), rng.random(N)
    np.testing.assert_allclose(weighted_mean(matrix, w), np.average(X, axis=0, weights=w))
    np.testing.assert_allclose(weighted_mean(matrix), X.mean(axis=0))
    assert weighted_mean(matrix.astype(np.float32)).dtype == np.float64


SIZES = {np.float64: (1e-300, 1e-160, 1e-20, 1e20, 1e150), np.float32: (1e-30, 1e-20, 1e20, 1e30)}


@pytest.mark.parametrize("center", [False, True])
def test_unit_rows_do_not_depend_on_the_magnitude(X, layout, float_type, center, plain):
    X, U = X.astype(float_type), np.eye(M, dtype=float_type)
    mean = X.mean(axis=0) if center else None
    expected, close = plain(X, mean=mean).X, 100 * np.finfo(float_type).eps
    for size in map(float_type, SIZES[float_type]):
        rows = _rows(X * size, layout, mean=mean * size if center else None)
        np.testing.assert_allclose(rows.project(U), expected, atol=close, err_msg=f"times {size}")


def test_rows_of_all_magnitudes_at_once_are_unit(X, layout, plain, random_U):
    X = np.delete(X, 4, axis=0)
    size = np.logspace(-300, 150, len(X))[:, None]
    U = random_U(M, R)
    np.testing.assert_allclose(_rows(X * size, layout).project(U), plain(X).X @ U, atol=1e-14)


def test_cosines_of_blocks_that_have_no_direction(rng):
    """Rows that are the mean itself, a block full of them, beside others."""
    X = np.where(rng.random((12, 9)) < 0.5, rng.standard_normal((12, 9)), 0.0)
    X = np.concatenate([np.tile(X.mean(axis=0), (4, 1)), X])
    dense, thin = (
        Problem(as_rows(make(X), mean=X.mean(axis=0), block_rows=4)).cosines()
        for make in (np.asarray, sparse.csr_array)
    )
    assert not dense[:4].any()
    np.testing.assert_allclose(thin, dense, atol=1e-12)


@pytest.mark.parametrize("given", [False, True])
def test_a_projection_is_held_once(given, layout, rng, monkeypatch):
    monkeypatch.setattr(memory, "BLOCK_ENTRIES", 100_000)
    monkeypatch.setattr(memory, "BLOCK_NONZEROS", 40_000)
    n, r = 20_000, 40
    X = rng.random((n, 60)) * (rng.random((n, 60)) < 0.5)
    rows, U = _rows(X, layout), rng.random((60, r))
    expected, out = rows.project(U), np.empty((n, r)) if given else None
    tracemalloc.start()
    try:
        found = rows.project(U, out)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(found, expected)
    assert (found is out) == given
    assert peak < (1.6 - given) * expected.nbytes
