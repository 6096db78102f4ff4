"""Every instruction set of this machine, and matrices to multiply."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sphericalpca.kernels import instruction_sets
from sphericalpca.kernels.library import VARIABLE

COMPILED = instruction_sets()[:-1]  # the last is scipy


@pytest.fixture(params=COMPILED or [pytest.param("", marks=pytest.mark.skip("no kernels here"))])
def instructions(request, monkeypatch):
    """Each compiled instruction set in turn."""
    monkeypatch.setenv(VARIABLE, request.param)
    return request.param


@pytest.fixture(params=[np.int32, np.int64], ids=lambda kind: kind.__name__)
def index_type(request):
    return request.param


def _csr(shape, pointer, indices, values, index_type=np.int32):
    """A CSR matrix of these very arrays: scipy would choose the index type and sum duplicates."""
    X = sparse.csr_array(shape, dtype=values.dtype)
    X.indptr, X.indices = (np.asarray(a).astype(index_type) for a in (pointer, indices))
    X.data = values
    return X


def _text(n=40, m=60, dtype=np.float64, index_type=np.int32, seed=0):
    """Rows of very different lengths, some empty, some that fill every column."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m)) * (rng.random((n, m)) < rng.random((n, 1)) ** 2)
    X[::7] = 0.0
    X[3::17] = rng.standard_normal(m)
    X = sparse.csr_array(X.astype(dtype))
    return _csr(X.shape, X.indptr, X.indices, X.data, index_type)


@pytest.fixture(scope="session")
def csr():
    return _csr


@pytest.fixture(scope="session")
def text():
    return _text


@pytest.fixture(scope="session")
def assert_product():
    """Compare with X B in float64, up to the rounding errors that its sums may have."""

    def check(found, X, B, *, roundings=4):
        wide = sparse.csr_array(X, dtype=np.float64)
        expected, size = wide @ np.float64(B), abs(wide) @ np.abs(np.float64(B))
        terms = roundings + np.minimum(np.diff(X.indptr), 1024)[:, None]
        assert found.shape == expected.shape
        assert found.dtype == X.dtype
        assert (np.abs(found - expected) <= terms * np.finfo(X.dtype).eps * size).all()

    return check
