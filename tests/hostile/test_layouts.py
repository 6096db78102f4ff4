"""One matrix in every form that users have it in: same answer, input untouched."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from strategies import DENSE, SPARSE, Layout

from sphericalpca import SphericalPCA

N, M = 40, 7


def halves(A):
    """Each entry is stored as two halves."""
    S = sparse.csr_array(A)
    return type(S)((np.repeat(S.data / 2, 2), np.repeat(S.indices, 2), 2 * S.indptr), shape=S.shape)


CENTRED, RAW = {"center": True}, {"normalize": False}
FORMS = [
    *DENSE,
    Layout("negative row stride", lambda A: A[::-1].copy()[::-1]),
    Layout("every third column", lambda A: np.repeat(A, 3, axis=1)[:, ::3]),
    Layout("byte-swapped", lambda A: A.astype(A.dtype.newbyteorder())),
    Layout("tuple of tuples", lambda A: tuple(map(tuple, A.tolist()))),
    Layout("object", lambda A: A.astype(object)),
    Layout("subclass", lambda A: A.view(type("Mine", (np.ndarray,), {}))),
    *SPARSE,
    Layout("halves", halves),
]


@pytest.fixture
def X():
    """40 x 7, a third of the entries zero, three directions stronger than the rest."""
    rng = np.random.default_rng(20240)
    X = rng.standard_normal((N, 3)) @ rng.standard_normal((3, M))
    X += 0.7 * rng.standard_normal((N, M))
    X[rng.random(X.shape) < 0.3] = 0.0
    return X


def bytes_of(data):
    """Everything that a careless fit could change."""
    if sparse.issparse(data):
        S = data.tocoo(copy=True) if data.format in ("lil", "dok") else data
        parts = ("data", "indices", "indptr", "row", "col", "offsets")
        return [np.asarray(getattr(S, p)).tobytes() for p in parts if hasattr(S, p)]
    return np.asarray(data, dtype=float).tobytes()


def check_same(data, X, dtype, **options):
    """Fit and use `data`, and compare with the plain float64 array X."""
    options = {"n_components": 3, "tol": 1e-6, **options}
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


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_form(X, form, float_type):
    single = X.astype(float_type)
    data = form(single)
    # Python's floats and objects carry no float32.
    typed = sparse.issparse(data) or (isinstance(data, np.ndarray) and data.dtype != object)
    plain = X if sparse.issparse(data) else single.astype(np.float64)
    for options in ({}, CENTRED if float_type is np.float32 else RAW):
        check_same(data, plain, float_type if typed else np.float64, **options)


@pytest.mark.parametrize(("order", "options"), [("C", CENTRED), ("F", {}), ("F", RAW)])
def test_memory_maps_are_only_read(X, order, options, float_type, tmp_path):
    path = tmp_path / "rows.bin"
    stored = np.memmap(path, dtype=float_type, mode="w+", shape=X.shape, order=order)
    stored[:] = X
    stored.flush()
    del stored
    path.chmod(0o444)
    content = path.read_bytes()
    data = np.memmap(path, float_type, mode="r", shape=X.shape, order=order)
    check_same(data, X, float_type, **options)
    assert path.read_bytes() == content
    np.save(tmp_path / "rows.npy", X)
    check_same(np.load(tmp_path / "rows.npy", mmap_mode="r"), X, np.float64)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        *[(np.asarray, dtype) for dtype in (np.int8, np.int16, np.uint64, np.longdouble)],
        *[(sparse.csr_array, dtype) for dtype in (np.uint8, np.int32)],
        (sparse.csc_matrix, np.int64),
    ],
)
def test_other_numbers_are_computed_in_float64(X, kind, dtype):
    counts = np.rint(10 * X)
    if np.issubdtype(dtype, np.unsignedinteger):
        counts = np.abs(counts)
    check_same(kind(counts.astype(dtype)), counts, np.float64)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, np.ndarray.tolist])
def test_booleans_are_computed_in_float64(X, kind):
    present = X > 0.5
    present = present[present.any(axis=1)]
    check_same(kind(present), present.astype(float), np.float64, tol=1e-8)


@pytest.mark.parametrize(("order", "options"), [("C", CENTRED), ("F", {}), ("C", RAW)])
def test_float16_is_computed_in_float32(X, order, options):
    half = np.asarray(X, dtype=np.float16, order=order)
    check_same(half, half.astype(np.float64), np.float32, **options)


def test_data_frames(X):
    pandas = pytest.importorskip("pandas")
    names = [f"word{k}" for k in range(M)]
    frame = pandas.DataFrame(X, columns=names)
    before = frame.copy(deep=True)
    for options in ({}, CENTRED, RAW):
        check_same(frame, X, np.float64, **options)
    pandas.testing.assert_frame_equal(frame, before)
    model = SphericalPCA(3).fit(frame)
    assert list(model.feature_names_in_) == names
    assert model.n_features_in_ == M
    assert SphericalPCA(3).fit_transform(frame.astype(np.float32)).dtype == np.float32
    counts = np.rint(5 * X)
    mixed = pandas.DataFrame(counts).astype({0: "int64", 1: "float32", 2: "Int64", 3: "float64"})
    found, expected = SphericalPCA(3).fit(mixed), SphericalPCA(3).fit(counts)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-8)
