"""How much memory a fit takes beyond its data."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import SphericalPCA
from sphericalpca.solvers import Linearized

BLOCK = Linearized(lam="block", mu="block")


def peak_of(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def tall():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000, 100), dtype=np.float32)
    X[:, :4] *= 5
    return X  # 80 MB; blocks have at most 12


@pytest.mark.parametrize(
    "options", [{}, {"center": True}, {"normalize": False}, {"solver": BLOCK}, {"init": "random"}]
)
def test_no_copy_of_dense_data(tall, options):
    X = tall
    model = SphericalPCA(4, tol=0.5, random_state=0, **options)
    assert peak_of(lambda: model.fit(X)) < 0.6 * X.nbytes
    assert peak_of(lambda: model.transform(X)) < 0.6 * X.nbytes
    assert peak_of(lambda: model.score(X)) < 0.6 * X.nbytes


def test_no_copy_of_data_in_fortran_order(tall):
    X = np.asfortranarray(tall)
    for center in (False, True):
        model = SphericalPCA(4, tol=0.5, center=center)
        assert peak_of(lambda m=model: m.fit_transform(X)) < 0.6 * X.nbytes


def test_no_copy_of_a_view_that_blas_cannot_address(tall):
    X = tall[::-1, ::-1]
    model = SphericalPCA(4, tol=0.5)
    assert peak_of(lambda: model.fit(X)) < 0.6 * X.nbytes


def test_no_copy_of_a_memory_map(tall, tmp_path):
    np.save(tmp_path / "X.npy", tall)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert peak_of(lambda: SphericalPCA(4, tol=0.5).fit_transform(mapped)) < 0.6 * tall.nbytes


@pytest.fixture(scope="module")
def text():
    """20,000 x 5,000 with 20 words per row: 800 MB if it were dense, 5 MB as it is."""
    rng = np.random.default_rng(0)
    words = np.minimum(rng.zipf(1.3, size=400_000), 5000) - 1
    rows = np.repeat(np.arange(20_000), 20)
    return sparse.coo_array((np.ones(400_000), (rows, words)), shape=(20_000, 5000)).tocsr()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"center": True},
        {"normalize": False},
        {"solver": BLOCK},
        {"init": "random", "center": True},
    ],
)
def test_sparse_data_are_never_filled(text, options):
    filled = 8 * np.prod(text.shape)
    model = SphericalPCA(3, tol=0.5, random_state=0, **options)
    assert peak_of(lambda: model.fit(text)) < 0.05 * filled
    assert peak_of(lambda: model.transform(text)) < 0.05 * filled
    assert peak_of(lambda: model.score(text)) < 0.05 * filled


@pytest.mark.parametrize("center", [False, True])
def test_sparse_data_with_few_columns_are_never_filled(center):
    """Up to a thousand columns the start forms the m x m Gram matrix, nothing larger."""
    n = 100_000
    first = sparse.coo_array((np.ones(n), (np.arange(n), np.zeros(n, int))), shape=(n, 200))
    X = first + sparse.random_array((n, 200), density=0.01, random_state=0, format="csr")
    model = SphericalPCA(3, tol=0.5, center=center)
    filled = 8 * np.prod(X.shape)  # 160 MB
    assert peak_of(lambda: model.fit_transform(X.tocsr())) < 0.2 * filled


def test_certify_never_fills_sparse_data(text):
    model = SphericalPCA(2, tol=0.5).fit(text)
    few = text[:500]  # 20 MB if filled; the 500 x 500 products have 2
    assert peak_of(lambda: model.certify(few)) < 0.8 * 8 * np.prod(few.shape)
