"""Rows give the products of the matrix they stand for, whatever holds it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sphericalpca.problem import Problem
from sphericalpca.rows import DenseRows, SparseRows, as_rows, weighted_mean

N, M, R = 23, 6, 3


@pytest.fixture
def X(rng):
    """Some zeros, one empty row."""
    X = rng.standard_normal((N, M)) * (rng.random((N, M)) < 0.6)
    X[4] = 0.0
    return X


@pytest.fixture(params=[False, True], ids=["uncentred", "centred"])
def mean(request, X):
    return X.mean(axis=0) if request.param else None


@pytest.fixture(params=[False, True], ids=["raw", "unit"])
def normalize(request):
    return request.param


@pytest.fixture(params=[1, 5, N, None], ids=lambda b: f"blocks_of_{b}")
def block_rows(request):
    return request.param


def _rows(X, layout, **options):
    return as_rows(sparse.csr_array(X) if layout == "csr" else X, **options)


def _memory(X, how, folder):
    """The same numbers in another memory order."""
    n, m = X.shape
    if how == "fortran":
        return np.asfortranarray(X)
    if how == "strided":
        wide = np.full((2 * n, 3 * m), np.nan)
        wide[::2, ::3] = X
        return wide[::2, ::3]
    if how == "reversed":
        return X[::-1, ::-1].copy()[::-1, ::-1]
    if how == "column slice":
        return np.hstack([X, X])[:, :m]
    if how == "broadcast rows":
        return np.broadcast_to(X[0], X.shape)
    path = folder / "X.bin"
    X.tofile(path)
    return np.memmap(path, dtype=X.dtype, mode="r", shape=X.shape)


@pytest.fixture(
    params=["fortran", "strided", "reversed", "column slice", "broadcast rows", "memmap"],
    ids=lambda how: how.replace(" ", "_"),
)
def unusual(request, X, tmp_path):
    return _memory(X, request.param, tmp_path)


def test_blocks_cover_all_rows_in_order(X, layout, block_rows):
    spans = [block.span for block in _rows(X, layout, block_rows=block_rows).blocks()]
    covered = np.concatenate([np.arange(N)[span] for span in spans])
    np.testing.assert_array_equal(covered, np.arange(N))


def test_kind_follows_the_matrix(X):
    assert isinstance(_rows(X, "dense"), DenseRows)
    assert isinstance(_rows(X, "csr"), SparseRows)
    assert isinstance(as_rows(sparse.csr_matrix(X)), SparseRows)


@pytest.fixture
def reading(mean, normalize):
    """Options of `as_rows`: weights, scaling, centring."""
    return {"weight": np.linspace(0.1, 2.0, N), "normalize": normalize, "mean": mean}


@pytest.fixture
def rows(X, layout, reading, block_rows):
    return _rows(X, layout, block_rows=block_rows, **reading)


@pytest.fixture
def explicit(X, reading, plain):
    return plain(X, **reading)


def test_project_is_the_product_with_the_explicit_rows(rows, explicit, random_U):
    U = random_U(M, R)
    np.testing.assert_allclose(rows.project(U), explicit.X @ U, atol=1e-14)


def test_correlate_is_the_weighted_transposed_product(rows, explicit, rng):
    V = rng.standard_normal((N, R))
    (found,) = rows.sweep(lambda block: (block.correlate(V[block.span]),))
    np.testing.assert_allclose(found, explicit.X.T @ (explicit.w[:, None] * V), atol=1e-13)


def test_a_factor_replaces_the_weight_in_correlate(X, layout, mean, plain, rng):
    factor, V = rng.random(N), rng.standard_normal((N, R))
    rows = _rows(X, layout, weight=rng.random(N), mean=mean)
    (found,) = rows.sweep(lambda block: (block.correlate(V[block.span], factor[block.span]),))
    expected = plain(X, mean=mean).X.T @ (factor[:, None] * V)
    np.testing.assert_allclose(found, expected, atol=1e-13)


def test_norm_weight_and_totals_describe_the_scaled_rows(rows, explicit):
    length = np.linalg.norm(explicit.X, axis=1)
    np.testing.assert_allclose(rows.stats.norm, length, rtol=1e-13)
    np.testing.assert_array_equal(rows.stats.weight, explicit.w)
    assert rows.totals.weight == pytest.approx(explicit.w.sum(), rel=1e-14)
    assert rows.totals.energy == pytest.approx(explicit.w @ length**2, rel=1e-13)


def test_a_zero_row_has_no_weight_no_scale_and_no_norm(X, layout):
    rows = _rows(X, layout)
    assert rows.stats.weight[4] == rows.stats.scale[4] == rows.stats.norm[4] == 0.0


def test_a_row_equal_to_the_mean_has_no_direction(layout, rng):
    X = rng.standard_normal((6, 5))
    X[3] = 1 / 3
    rows = _rows(X, layout, mean=np.full(5, 1 / 3))
    np.testing.assert_array_equal(rows.stats.norm > 0, [True, True, True, False, True, True])


def test_unusual_memory_gives_the_same_rows_and_stays_as_it_was(unusual, plain, random_U):
    before = unusual.tobytes()
    rows = as_rows(unusual, block_rows=5)
    U = random_U(M, R)
    np.testing.assert_allclose(rows.project(U), plain(unusual).X @ U, atol=1e-14)
    assert unusual.tobytes() == before


def test_read_only_input_works(X, layout, plain, random_U):
    matrix = sparse.csr_array(X) if layout == "csr" else X
    for part in (matrix.data, matrix.indices, matrix.indptr) if layout == "csr" else (matrix,):
        part.setflags(write=False)
    U = random_U(M, R)
    np.testing.assert_allclose(as_rows(matrix).project(U), plain(X).X @ U, atol=1e-14)


def test_blocks_share_memory_with_the_input(X):
    for block in as_rows(X, block_rows=5).blocks():
        assert np.shares_memory(block.matrix, X)
    S = sparse.csr_array(X)
    for block in as_rows(S, block_rows=5).blocks():
        assert np.shares_memory(block.matrix.data, S.data)


def test_sparse_blocks_stay_sparse_when_centred(X):
    rows = as_rows(sparse.csr_array(X), mean=X.mean(axis=0))
    assert all(sparse.issparse(block.matrix) for block in rows.blocks())


@pytest.mark.parametrize("height", [0, 3])
def test_unsorted_indices_explicit_zeros_and_empty_rows_are_read_right(height, plain, random_U):
    data = np.array([2.0, 0.0, -1.0, 4.0])
    S = sparse.csr_array((data, [3, 0, 1, 2], [0, 3, 3, 3, 4, 4]), shape=(5, 4))
    U = random_U(4, 2)
    rows = as_rows(S, block_rows=height or None, mean=np.arange(4.0))
    np.testing.assert_allclose(
        rows.project(U), plain(S.toarray(), mean=np.arange(4.0)).X @ U, atol=1e-14
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("blocks", [1, 5])
def test_products_keep_the_type_and_sums_over_blocks_are_double(X, layout, dtype, blocks, random_U):
    rows = _rows(X.astype(dtype), layout, block_rows=-(-N // blocks))
    U = random_U(M, R).astype(dtype)
    Y = rows.project(U)
    (G,) = rows.sweep(lambda block: (block.correlate(Y[block.span]),))
    assert Y.dtype == rows.dtype == dtype
    assert G.dtype == (dtype if blocks == 1 else np.float64)
    assert rows.stats.weight.dtype == rows.stats.scale.dtype == rows.stats.norm.dtype == np.float64


def test_every_sweep_counts_as_the_passes_and_flops_it_says(X, layout):
    rows = _rows(X, layout, block_rows=5)
    assert rows.stored == (np.count_nonzero(X) if layout == "csr" else X.size)
    assert rows.passes == rows.flops == 0
    rows.sweep(lambda block: (1.0,))
    assert (rows.passes, rows.flops) == (1.0, 0.0)
    rows.project(np.eye(M)[:, :R])
    assert (rows.passes, rows.flops) == (1.5, 2.0 * rows.stored * R)
    rows.sweep(lambda block: (), columns=7, passes=0.25)
    assert (rows.passes, rows.flops) == (1.75, 2.0 * rows.stored * (R + 7))


def test_weighted_mean_is_the_average(X, layout, rng):
    matrix, w = sparse.csr_array(X) if layout == "csr" else X, rng.random(N)
    np.testing.assert_allclose(weighted_mean(matrix, w), np.average(X, axis=0, weights=w))
    np.testing.assert_allclose(weighted_mean(matrix), X.mean(axis=0))
    assert weighted_mean(matrix.astype(np.float32)).dtype == np.float64


MAGNITUDES = [
    *[(np.float64, c) for c in (1e-300, 1e-160, 1e-20, 1e20, 1e150)],
    *[(np.float32, c) for c in (1e-30, 1e-20, 1e20, 1e30)],
]


@pytest.mark.parametrize("magnitude", MAGNITUDES, ids=lambda p: f"{np.dtype(p[0])}-{p[1]:g}")
def test_unit_rows_do_not_depend_on_the_magnitude(X, layout, mean, magnitude, plain):
    dtype, size = magnitude
    X, U = X.astype(dtype), np.eye(M, dtype=dtype)
    rows = _rows(X * dtype(size), layout, mean=None if mean is None else mean * size)
    tolerance = 100 * np.finfo(dtype).eps
    np.testing.assert_allclose(rows.project(U), plain(X, mean=mean).X, atol=tolerance)


def test_rows_of_all_magnitudes_at_once_are_unit(X, layout, plain, random_U):
    X = np.delete(X, 4, axis=0)
    size = np.logspace(-300, 150, len(X))[:, None]
    U = random_U(M, R)
    np.testing.assert_allclose(_rows(X * size, layout).project(U), plain(X).X @ U, atol=1e-14)


def test_cosines_of_blocks_that_have_no_direction(rng):
    """Rows that are the mean itself, a block full of them, beside others."""
    X = np.where(rng.random((12, 9)) < 0.5, rng.standard_normal((12, 9)), 0.0)
    X = np.concatenate([np.tile(X.mean(axis=0), (4, 1)), X])
    mean = X.mean(axis=0)
    dense, thin = (
        Problem(as_rows(make(X), mean=mean, block_rows=4)).cosines()
        for make in (np.asarray, sparse.csr_array)
    )
    assert not dense[:4].any()
    np.testing.assert_allclose(thin, dense, atol=1e-12)
