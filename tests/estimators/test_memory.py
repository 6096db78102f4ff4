"""How much memory a fit takes beyond its data."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import SphericalPCA
from sphericalpca.solvers import Linearized

BLOCK = Linearized(lam="block", mu="block")
OPTIONS = [{}, {"center": True}, {"normalize": False}, {"solver": BLOCK}, {"init": "random"}]


def peak_of(call, X):
    tracemalloc.start()
    try:
        call(X)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def tall():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150_000, 100), dtype=np.float32)
    X[:, :4] *= 5
    return X  # 60 MB; blocks have at most 12


@pytest.mark.parametrize("options", OPTIONS)
def test_no_copy_of_dense_data(tall, options):
    model = SphericalPCA(4, tol=0.5, random_state=0, **options)
    for call in (model.fit, model.transform, model.score):
        assert peak_of(call, tall) < 0.6 * tall.nbytes


def test_no_copy_of_other_layouts(tall, tmp_path):
    np.save(tmp_path / "X.npy", tall)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    fortran, unaddressable = np.asfortranarray(tall), tall[::-1, ::-1]
    for X, center in [(fortran, False), (fortran, True), (unaddressable, False), (mapped, False)]:
        assert peak_of(SphericalPCA(4, tol=0.5, center=center).fit_transform, X) < 0.6 * X.nbytes


@pytest.fixture(scope="module")
def text():
    """20,000 x 5,000 with 20 words per row: 800 MB if it were dense, 5 MB as it is."""
    rng = np.random.default_rng(0)
    words = np.minimum(rng.zipf(1.3, size=400_000), 5000) - 1
    rows = np.repeat(np.arange(20_000), 20)
    return sparse.coo_array((np.ones(400_000), (rows, words)), shape=(20_000, 5000)).tocsr()


@pytest.mark.parametrize("options", [*OPTIONS[:-1], {"init": "random", "center": True}])
def test_sparse_data_are_never_filled(text, options):
    model = SphericalPCA(3, tol=0.5, random_state=0, **options)
    for call in (model.fit, model.transform, model.score):
        assert peak_of(call, text) < 0.05 * 8 * np.prod(text.shape)
    few = text[:500]  # 20 MB if filled; the 500 x 500 products have 2
    assert peak_of(model.certify, few) < 0.8 * 8 * np.prod(few.shape)
