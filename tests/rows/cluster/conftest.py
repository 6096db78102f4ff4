"""Clusters on this machine, and data with a clear gap to fit on them."""

import contextlib
import logging
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import SphericalPCA
from sphericalpca.linalg import principal_angles

R = 4


@contextlib.contextmanager
def _cluster(**options):
    distributed = pytest.importorskip("distributed")
    with _workers(**options) as cluster, distributed.Client(cluster) as client:
        yield SimpleNamespace(cluster=cluster, client=client)


def _workers(**options):
    distributed = pytest.importorskip("distributed")
    usual = {"threads_per_worker": 1, "protocol": "tcp://", "host": "127.0.0.1"}
    quiet = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    return distributed.LocalCluster(**{**usual, **quiet, **options})


@pytest.fixture(scope="session")
def start_cluster():
    return _cluster


@pytest.fixture(scope="session")
def _two_processes():
    """Started once: that takes longer than most tests.

    Dask looks 15 seconds after a worker died whether it is back, and if not, closes its nanny
    for good.  On a busy machine that is too early, or the worker was killed again by the next
    test; all tests after it would wait for it in vain.
    """
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 h"}),
        _workers(n_workers=2, processes=True, memory_limit=0) as cluster,
    ):
        yield cluster


@pytest.fixture
def two_processes(_two_processes):
    """A cluster of two workers in separate processes; the client is the active one."""
    distributed = pytest.importorskip("distributed")
    with distributed.Client(_two_processes) as client:
        client.wait_for_workers(2, timeout=60)
        yield SimpleNamespace(cluster=_two_processes, client=client)


@pytest.fixture(scope="session")
def _two_workers():
    with _workers(n_workers=2, processes=False, memory_limit=0) as cluster:
        yield cluster


@pytest.fixture
def two_workers(_two_workers):
    """Two workers in this process, for tests that leave them as they are."""
    with pytest.importorskip("distributed").Client(_two_workers) as client:
        yield SimpleNamespace(cluster=_two_workers, client=client)


@pytest.fixture
def five_workers():
    """Five workers in this process."""
    with _cluster(n_workers=5, processes=False, memory_limit=0) as running:
        yield running


def _with_gap(n, m, seed):
    rng = np.random.default_rng(seed)
    spread = np.r_[np.linspace(4, 3, R), np.full(m - R, 0.7)]
    X = (rng.standard_normal((n, m)) * spread) @ np.linalg.qr(rng.standard_normal((m, m)))[0]
    return X + 0.5


@pytest.fixture(scope="session")
def X():
    """1,203 rows of 30 numbers, of which four directions stand out."""
    return _with_gap(1203, 30, 0).astype(np.float32)


@pytest.fixture(scope="session")
def text():
    """As sparse as text, a zero row among them, with four topics that stand out."""
    rng = np.random.default_rng(1)
    topics = rng.gamma(0.1, size=(R, 60))
    X = rng.gamma(0.5, size=(900, R)) @ topics + 0.6 * rng.gamma(0.2, size=(900, 60))
    X *= np.median(X) <= X
    X[17] = 0.0
    return sparse.csr_array(X.astype(np.float32))


@pytest.fixture(scope="session")
def weight():
    return np.random.default_rng(2).uniform(0, 2, 1203)


@pytest.fixture(scope="session")
def same_fit():
    """Fit data twice, on a cluster and in memory: the loss and the subspace must agree.

    From the SVD: rows in memory would otherwise look for a better start.
    """

    def check(lazy, X, *, lazy_weight=None, weight=None, **options):
        options = {"n_components": R, "tol": 1e-5, "init": "svd", **options}
        found = SphericalPCA(**options).fit(lazy, sample_weight=lazy_weight)
        expected = SphericalPCA(**options).fit(X, sample_weight=weight)
        assert found.loss_ == pytest.approx(expected.loss_, rel=1e-6)
        angles = principal_angles(found.components_.T, expected.components_.T)
        assert angles.max() < 1e-3
        assert found.mean_cosine_ == pytest.approx(expected.mean_cosine_, rel=1e-6)
        np.testing.assert_allclose(found.component_weights_, expected.component_weights_, rtol=1e-3)
        assert type(found.components_) is np.ndarray
        assert found.components_.dtype == expected.components_.dtype
        return found

    return check
