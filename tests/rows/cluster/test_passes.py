"""A pass: groups one by one, the order of sums, reports of rows."""

import time

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import SphericalPCA
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.rows.cluster import from_dask, matrix
from sphericalpca.rows.cluster import rows as cluster_rows

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


U = np.linalg.qr(np.random.default_rng(0).standard_normal((30, 3)))[0]


@pytest.fixture
def rows_in_many_shares(X, five_workers, monkeypatch):
    """More shares than workers, as where the data are much larger than memory."""
    monkeypatch.setattr(matrix, "PART_OF_MEMORY", 1e-12)

    def limit_memory(dask_scheduler):
        for worker in dask_scheduler.workers.values():
            worker.memory_limit = 10**12

    five_workers.client.run_on_scheduler(limit_memory)
    rows = as_rows(from_dask(da.from_array(X, chunks=(100, 30)), X.dtype))
    assert len(rows._matrix.groups) == 13
    return rows


def test_a_worker_with_several_shares_reads_one_after_the_other(
    X, rows_in_many_shares, monkeypatch
):
    """And workers add up their sums, two at a time."""
    monkeypatch.setattr(cluster_rows, "FAN_IN", 2)
    told = []
    rows_in_many_shares.watch = told.append
    found = Problem(rows_in_many_shares).evaluate(U)
    expected = Problem(as_rows(X)).evaluate(U)
    assert sum(told) == len(X)
    assert found.value == pytest.approx(expected.value, rel=1e-6)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-4, atol=1e-4)


def test_shares_whose_turn_has_not_come_are_left_when_something_fails(
    rows_in_many_shares, five_workers
):
    def slow(block):
        import time  # noqa: PLC0415

        time.sleep(1)
        return (1.0,)

    def fail(count):
        raise ZeroDivisionError

    rows_in_many_shares.watch = fail
    with pytest.raises(ZeroDivisionError) as kept:  # and with it all of its frames
        rows_in_many_shares.sweep(slow)
    deadline = time.monotonic() + 20
    futures = five_workers.client.futures
    while any("sweep" in key for key in list(futures)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any("sweep" in key for key in list(futures))
    assert kept.value


def test_the_same_bits_whoever_is_first(X, five_workers):
    array = five_workers.client.persist(da.from_array(X, chunks=(100, 30)))
    one, other = (SphericalPCA(3, tol=1e-6).fit(array) for _ in range(2))
    assert one.components_.tobytes() == other.components_.tobytes()


def test_shares_of_several_kinds_of_chunks(X, two_workers, same_fit):
    """Pieces side by side, dense and sparse and empty chunks in one share, a mean subtracted."""
    heights = (0, 100, 1, 0, 202, *[100] * 9)
    mixed = da.from_array(X, chunks=(heights, (20, 10))).map_blocks(
        lambda block: sparse.csr_array(block) if len(block) < 150 else block, meta=X[:0]
    )
    assert sum(heights) == len(X)
    weight = np.linspace(0, 1, len(X)) * (np.arange(len(X)) > 150)
    found = same_fit(mixed, X, center=True, weight=weight, lazy_weight=weight)
    certificate, expected = found.certify(mixed), found.certify(X)
    assert certificate.value == pytest.approx(expected.value, rel=1e-6)
    assert certificate.bound == pytest.approx(expected.bound, rel=1e-5)


@pytest.mark.parametrize("known", [True, False])
def test_every_row_is_told_of_when_it_is_loaded_and_in_every_pass(X, two_workers, known):
    """The heights of chunks that Dask does not know are asked for."""
    told, array = [], da.from_array(X, chunks=(100, 30))
    if not known:
        array = array[da.ones(len(X), chunks=100, dtype=bool)]
    loaded = from_dask(array, X.dtype, told.append)
    assert (sum(told), loaded.shape) == (len(X), X.shape)
    mean = loaded.weighted_mean(None, told.append)
    ready = Problem(as_rows(loaded, mean=mean, watch=told.append))
    assert sum(told) == 3 * len(X)
    ready.evaluate(U)
    assert sum(told) == 4 * len(X)
