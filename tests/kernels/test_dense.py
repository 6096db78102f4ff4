"""Dense products with few columns: the same as in float64, for all shapes, types and layouts."""

from __future__ import annotations

import numpy as np
import pytest

from sphericalpca.kernels import dense, dense_product, instruction_sets
from sphericalpca.kernels.library import VARIABLE
from sphericalpca.products import times

WIDTHS = [*range(1, 131), 512, 513]  # every remainder of every strip


@pytest.fixture(params=dense.VECTORS)
def long_vectors(request, monkeypatch):
    """Each instruction set that has dense kernels."""
    if request.param not in instruction_sets():
        pytest.skip(f"no {request.param} here")
    monkeypatch.setenv(VARIABLE, request.param)


@pytest.fixture
def no_product_is_small(monkeypatch):
    """Small matrices are multiplied as large ones are."""
    monkeypatch.setattr(dense, "LEAST_WORK", 0)
    monkeypatch.setattr(dense, "LEAST_SIDE", 1)


def _assert_product(found, A, B):
    wide = A.astype(np.float64), B.astype(np.float64)
    size = np.abs(wide[0]) @ np.abs(wide[1])
    rounding = np.finfo(A.dtype).eps * A.shape[1] ** 0.5
    assert found.dtype == A.dtype
    assert found.shape == size.shape
    assert (np.abs(found - wide[0] @ wide[1]) <= 4 * rounding * size).all()


@pytest.mark.usefixtures("long_vectors", "no_product_is_small")
@pytest.mark.parametrize("transposed", [False, True])
def test_every_width(transposed, float_type, rng):
    A = rng.standard_normal((70, 67)).astype(float_type)
    A = A.T if transposed else A
    made = 0
    for r in WIDTHS:
        B = rng.standard_normal((A.shape[1], r)).astype(float_type)
        found = dense_product(A, B)
        made += found is not None
        _assert_product(times(A, B), A, B)
        assert found is None or (found == times(A, B)).all()
    assert made > 100


@pytest.mark.usefixtures("long_vectors", "no_product_is_small")
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", [(1, 700), (700, 2), (47, 513), (49, 1300), (1300, 3)])
def test_every_length(shape, transposed, float_type, rng):
    """Fewer rows than a tile has, and more than are added up at a time."""
    A = rng.standard_normal(shape).astype(float_type)
    A = A.T if transposed else A
    B = rng.standard_normal((A.shape[1], 37)).astype(float_type)
    _assert_product(dense_product(A, B), A, B)


@pytest.mark.usefixtures("long_vectors", "no_product_is_small")
def test_only_the_result_is_written(float_type, rng):
    A = rng.standard_normal((50, 40)).astype(float_type)
    B = rng.standard_normal((40, 37)).astype(float_type)
    guarded = np.full((54, 37), 7, dtype=float_type)
    assert dense_product(A, B, guarded[2:52]) is not None
    assert (guarded[:2] == 7).all()
    assert (guarded[52:] == 7).all()
    _assert_product(guarded[2:52], A, B)


@pytest.mark.usefixtures("long_vectors", "no_product_is_small")
def test_layouts(float_type, rng):
    """Gaps between rows are read over; what a kernel cannot read is left to NumPy."""
    whole = rng.standard_normal((90, 80)).astype(float_type)
    B = rng.standard_normal((80, 60)).astype(float_type)
    swapped = whole.astype(whole.dtype.newbyteorder())
    shifted = np.frombuffer(b"x" + whole.tobytes(), np.uint8)[1:].view(float_type).reshape(90, 80)
    read_only = whole.view()
    read_only.flags.writeable = False
    for X, kernel in (
        (whole[:, 3:70], True),
        (whole[::2], True),
        (read_only, True),
        (whole[:, ::2], False),
        (whole[::-1], False),
        (np.broadcast_to(whole[0], (90, 80)), False),
        (swapped, False),
        (shifted, False),
        (whole.astype(np.float16), False),
    ):
        for A in (X, X.T):
            right = rng.standard_normal((A.shape[1], 70)).astype(X.dtype)[:, 5:65]
            assert (dense_product(A, right) is not None) == kernel
        assert times(X, B[: X.shape[1]]).shape == (len(X), 60)


@pytest.mark.usefixtures("long_vectors")
def test_what_is_left_to_blas(float_type, rng):
    X = rng.standard_normal((3000, 80)).astype(float_type)
    assert dense_product(X, X[:80, :50]) is None  # part of X'X, of which BLAS makes half
    assert dense_product(X.T, X) is None
    assert dense_product(X[:9], rng.standard_normal((80, 50)).astype(float_type)) is None
    assert dense_product(X, rng.standard_normal((80, 513)).astype(float_type)) is None
    assert dense_product(X, rng.standard_normal((80, 50)).astype(np.float16)) is None


@pytest.mark.parametrize("wanted", ["generic", "scipy"])
def test_without_long_vectors(wanted, monkeypatch, rng):
    monkeypatch.setenv(VARIABLE, "scipy")
    if wanted in instruction_sets():
        monkeypatch.setenv(VARIABLE, wanted)
    X, B = rng.standard_normal((3000, 80)), rng.standard_normal((80, 50))
    assert dense_product(X, B) is None
    assert (times(X, B) == X @ B).all()


@pytest.mark.usefixtures("long_vectors")
def test_long_sums_keep_their_digits(rng):
    """Numbers of one sign: one after the other, float32 would lose three digits more."""
    X = rng.random((64, 100_000), dtype=np.float32)
    B = rng.random((100_000, 20), dtype=np.float32)
    exact = X.astype(np.float64) @ B.astype(np.float64)
    assert (np.abs(dense_product(X, B) / exact - 1) < 2e-5).all()
    turned = np.ascontiguousarray(X.T)
    assert (np.abs(dense_product(turned.T, B) / exact - 1) < 2e-4).all()
