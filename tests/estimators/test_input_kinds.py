"""One matrix in every form that users have it in: same answer, input untouched."""

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import SphericalPCA

N, M = 40, 7


def strided(A):
    big = np.zeros((2 * N, 3 * M), dtype=A.dtype)
    big[::2, ::3] = A
    return big[::2, ::3]


def negative_strides(A):
    return A[::-1, ::-1].copy()[::-1, ::-1]


def negative_rows(A):
    return A[::-1].copy()[::-1]


def read_only(A):
    A = A.copy()
    A.flags.writeable = False
    return A


def unaligned(A):
    raw = bytearray(A.nbytes + 1)
    view = np.frombuffer(raw, dtype=A.dtype.str, count=A.size, offset=1).reshape(A.shape)
    view[:] = A
    return view


DENSE = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "transposed": lambda A: np.ascontiguousarray(A.T).T,
    "strided": strided,
    "every-third-column": lambda A: np.repeat(A, 3, axis=1)[:, ::3],
    "negative-strides": negative_strides,
    "negative-row-stride": negative_rows,
    "read-only": read_only,
    "unaligned": unaligned,
    "byte-swapped": lambda A: A.astype(A.dtype.newbyteorder()),
    "matrix-as-list": lambda A: A.tolist(),
    "tuple-of-tuples": lambda A: tuple(map(tuple, A.tolist())),
    "object": lambda A: A.astype(object),
    "subclass": lambda A: A.view(type("Mine", (np.ndarray,), {})),
}


def wide_indices(A):
    S = sparse.csr_array(A)
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return S


def unsorted_indices(A):
    S = sparse.csr_array(A)
    for j in range(N):
        inside = slice(S.indptr[j], S.indptr[j + 1])
        S.indices[inside] = S.indices[inside][::-1].copy()
        S.data[inside] = S.data[inside][::-1].copy()
    S.has_sorted_indices = False
    return S


def duplicates(A):
    """Each entry is stored as two halves."""
    S = sparse.csr_array(A)
    return type(S)((np.repeat(S.data / 2, 2), np.repeat(S.indices, 2), 2 * S.indptr), shape=S.shape)


def explicit_zeros(A):
    row, col = np.indices(A.shape)
    S = sparse.coo_array((A.ravel(), (row.ravel(), col.ravel())), shape=A.shape).tocsr()
    assert S.nnz == A.size
    return S


def read_only_csr(A):
    S = sparse.csr_array(A)
    for part in (S.data, S.indices, S.indptr):
        part.flags.writeable = False
    return S


SPARSE = {
    "csr-array": sparse.csr_array,
    "csr-matrix": sparse.csr_matrix,
    "csc-array": sparse.csc_array,
    "csc-matrix": sparse.csc_matrix,
    "coo-array": sparse.coo_array,
    "lil-matrix": sparse.lil_matrix,
    "dok-array": sparse.dok_array,
    "bsr-array": sparse.bsr_array,
    "dia-array": sparse.dia_array,
    "int64-indices": wide_indices,
    "unsorted-indices": unsorted_indices,
    "duplicates": duplicates,
    "explicit-zeros": explicit_zeros,
    "read-only": read_only_csr,
}


def bytes_of(data):
    """Everything that a careless fit could change."""
    if sparse.issparse(data):
        S = data.tocoo(copy=True) if data.format in ("lil", "dok") else data
        parts = ("data", "indices", "indptr", "row", "col", "offsets")
        return [np.asarray(getattr(S, p)).tobytes() for p in parts if hasattr(S, p)]
    return np.asarray(data, dtype=float).tobytes()


@pytest.fixture(params=[{}, {"center": True}, {"normalize": False}], ids=["", "centre", "raw"])
def options(request):
    return {"n_components": 3, "tol": 1e-6, **request.param}


def check_same(data, X, options, dtype):
    """Fit and use `data`, and compare with the plain float64 array X."""
    expected = SphericalPCA(**options).fit(X)
    before = bytes_of(data)
    model = SphericalPCA(**options)
    V = model.fit_transform(data)
    atol = 1e-8 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(model.components_, expected.components_, atol=atol)
    np.testing.assert_allclose(V, expected.transform(X), atol=5 * atol)
    np.testing.assert_array_equal(V, model.transform(data))
    assert model.loss_ == pytest.approx(expected.loss_, rel=atol)
    assert model.score(data) == pytest.approx(model.mean_cosine_, rel=1e-6)
    assert model.certify(data).gap == pytest.approx(expected.certify(X).gap, abs=1e-4)
    assert V.dtype == model.components_.dtype == dtype
    assert bytes_of(data) == before


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", DENSE)
def test_dense_forms(X, options, form, dtype):
    X = X.astype(dtype)
    data = DENSE[form](X)
    # Python's floats and objects carry no float32.
    result = dtype if isinstance(data, np.ndarray) and data.dtype != object else np.float64
    check_same(data, X.astype(np.float64), options, result)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", SPARSE)
def test_sparse_forms(X, options, form, dtype):
    check_same(SPARSE[form](X.astype(dtype)), X, options, dtype)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_read_only_memory_map(X, options, order, dtype, tmp_path):
    path = tmp_path / "rows.bin"
    stored = np.memmap(path, dtype=dtype, mode="w+", shape=X.shape, order=order)
    stored[:] = X
    stored.flush()
    del stored
    path.chmod(0o444)
    content = path.read_bytes()
    check_same(np.memmap(path, dtype, mode="r", shape=X.shape, order=order), X, options, dtype)
    assert path.read_bytes() == content


def test_memory_mapped_npy_file(X, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    data = np.load(tmp_path / "rows.npy", mmap_mode="r")
    check_same(data, X, {"n_components": 3}, np.float64)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_integers_are_computed_in_float64(X, kind, dtype):
    counts = np.abs(np.rint(10 * X))
    check_same(kind(counts.astype(dtype)), counts, {"n_components": 3, "tol": 1e-6}, np.float64)


def test_negative_integers(X):
    counts = np.rint(10 * X)
    check_same(counts.astype(np.int16), counts, {"n_components": 3, "tol": 1e-6}, np.float64)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, lambda A: A.tolist()])
def test_booleans_are_computed_in_float64(X, kind):
    present = X > 0.5
    X = present[present.any(axis=1)].astype(float)
    check = {"n_components": 3, "tol": 1e-6}
    data = kind(present[present.any(axis=1)])
    expected = SphericalPCA(**check).fit(X)
    model = SphericalPCA(**check).fit(data)
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-8)
    assert model.transform(data).dtype == np.float64


@pytest.mark.parametrize("order", ["C", "F"])
def test_float16_is_computed_in_float32(X, options, order):
    half = np.asarray(X, dtype=np.float16, order=order)
    check_same(half, half.astype(np.float64), options, np.float32)


def test_float16_whose_squares_leave_its_range(X):
    """Squares of 300 overflow in float16, squares of 1e-4 vanish."""
    for factor in (300.0, 1e-4):
        half = (factor * X).astype(np.float16)
        model = SphericalPCA(3).fit(half)
        wide = SphericalPCA(3).fit(half.astype(np.float64))
        assert model.mean_cosine_ == pytest.approx(wide.mean_cosine_, rel=1e-5)


def test_long_double_is_computed_in_float64(X):
    check_same(X.astype(np.longdouble), X, {"n_components": 3}, np.float64)


def test_data_frames(X, options):
    pandas = pytest.importorskip("pandas")
    names = [f"word{k}" for k in range(M)]
    frame = pandas.DataFrame(X, columns=names)
    before = frame.copy(deep=True)
    check_same(frame, X, options, np.float64)
    pandas.testing.assert_frame_equal(frame, before)
    model = SphericalPCA(**options).fit(frame)
    assert list(model.feature_names_in_) == names
    assert model.n_features_in_ == M
    single = SphericalPCA(**options).fit_transform(frame.astype(np.float32))
    assert single.dtype == np.float32


def test_data_frames_of_mixed_numbers(X):
    pandas = pytest.importorskip("pandas")
    counts = np.rint(5 * X)
    frame = pandas.DataFrame(counts).astype({0: "int64", 1: "float32", 2: "Int64", 3: "float64"})
    model = SphericalPCA(3).fit(frame)
    expected = SphericalPCA(3).fit(counts)
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-8)


def test_repeated_and_overlapping_views(X):
    """A broadcast row has stride zero; a sliding window shares its memory."""
    repeated = np.broadcast_to(X[3], (5, M))
    assert SphericalPCA(1).fit(repeated).mean_cosine_ == pytest.approx(1)
    windows = np.lib.stride_tricks.sliding_window_view(X.ravel(), M)
    model = SphericalPCA(3).fit(windows)
    expected = SphericalPCA(3).fit(windows.copy())
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-8)
    columns = np.broadcast_to(X[:, :1], (N, M))[X[:, 0] != 0]
    assert SphericalPCA(1).fit(columns).mean_cosine_ == pytest.approx(1)
