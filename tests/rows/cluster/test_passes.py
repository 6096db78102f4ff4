"""What a pass costs: tasks, copies, the order of sums."""

import time

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import SphericalPCA
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.rows.cluster import from_dask, placement
from sphericalpca.rows.cluster import rows as cluster_rows

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


def _plugin():
    from distributed import SchedulerPlugin  # noqa: PLC0415

    class Counter(SchedulerPlugin):
        name = "counter"

        def __init__(self):
            self.done = []

        def transition(self, key, start, finish, *args, **kwargs):
            if finish == "memory":
                self.done.append(str(key).rpartition("-")[0].split("-")[0])

    return Counter()


@pytest.fixture
def count(five_workers):
    """The names of the tasks that were done while something ran."""
    client = five_workers.client
    client.register_plugin(_plugin())

    def names(dask_scheduler):
        return dask_scheduler.plugins["counter"].done

    def during(action):
        before = len(client.run_on_scheduler(names))
        action()
        return client.run_on_scheduler(names)[before:]

    return during


@pytest.fixture
def problem(X, five_workers):
    def wrap(height):
        array = da.from_array(X, chunks=(height, X.shape[1]))
        return Problem(as_rows(from_dask(array, X.dtype)))

    return wrap


U = np.linalg.qr(np.random.default_rng(0).standard_normal((30, 3)))[0]


def test_one_task_for_each_worker_and_workers_add_up_their_sums(problem, count, monkeypatch):
    ready = problem(240)
    expected = sorted(count(lambda: ready.evaluate(U)))
    assert expected == ["broadcast", *5 * ["sweep_group"]]
    ready = problem(10)
    assert sorted(count(lambda: ready.evaluate(U))) == expected, "however many chunks"
    gradient = ready.evaluate(U).gradient
    monkeypatch.setattr(cluster_rows, "FAN_IN", 2)
    tasks = count(lambda: ready.evaluate(U))
    assert sorted(tasks) == [*5 * ["add_sums"], *expected]  # 5 -> 3 -> 2
    np.testing.assert_allclose(ready.evaluate(U).gradient, gradient, rtol=1e-6)


@pytest.fixture
def rows_in_many_shares(X, five_workers, monkeypatch):
    """More shares than workers, as where the data are much larger than memory."""
    monkeypatch.setattr(placement, "PART_OF_MEMORY", 1e-12)

    def limit_memory(dask_scheduler):
        for worker in dask_scheduler.workers.values():
            worker.memory_limit = 10**12

    five_workers.client.run_on_scheduler(limit_memory)
    rows = as_rows(from_dask(da.from_array(X, chunks=(100, 30)), X.dtype))
    assert len(rows._matrix.groups) == 13
    return rows


def test_a_worker_with_several_shares_reads_one_after_the_other(X, rows_in_many_shares):
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
    while any("sweep_group" in key for key in list(futures)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any("sweep_group" in key for key in list(futures))
    assert kept.value


def test_workers_whose_chunks_are_all_empty_have_nothing_to_do(X, two_workers):
    rows = as_rows(from_dask(da.from_array(X, chunks=((0, 0, 0, 1203, 0, 0), 30)), X.dtype))
    assert rows.sweep(lambda block: (float(len(block.weight)),)) == (1203.0,)


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


def test_every_row_is_told_of_in_every_pass(X, two_workers):
    told = []
    matrix = from_dask(da.from_array(X, chunks=(100, 30)), X.dtype)
    mean = matrix.weighted_mean(None, told.append)
    assert sum(told) == len(X)
    ready = Problem(as_rows(matrix, mean=mean, watch=told.append))
    assert sum(told) == 2 * len(X)
    ready.rows.watch = told.append
    for k in range(3, 5):
        ready.evaluate(U)
        assert sum(told) == k * len(X)


@pytest.mark.parametrize("known", [True, False])
def test_rows_are_told_of_as_they_are_loaded(X, five_workers, known):
    """One chunk after the other; the heights of those that Dask does not know are asked for."""
    told, gate = [], distributed.Event("the second half may come")

    def load(block, block_info=None):
        if block_info[0]["chunk-location"][0] >= 2:
            distributed.Event("the second half may come").wait()
        return block

    array = da.from_array(X, chunks=(300, 30)).map_blocks(load, meta=X[:0])
    if not known:
        array = array[da.ones(len(X), chunks=300, dtype=bool)]

    def watch(rows):
        told.append(rows)
        if sum(told) == 600:
            gate.set()
        assert sum(told) <= 600 or gate.is_set()

    matrix = from_dask(array, X.dtype, watch)
    assert sum(told) == len(X)
    assert matrix.shape == X.shape


def test_nothing_more_is_asked_of_the_cluster_where_nobody_watches(X, five_workers):
    array = da.from_array(X, chunks=(300, 30))[da.ones(len(X), chunks=300, dtype=bool)]
    from_dask(array, X.dtype)
    asked = five_workers.client.run_on_scheduler(
        lambda dask_scheduler: list(dask_scheduler.task_prefixes)
    )
    assert "checked_chunk" in asked
    assert "height_of" not in asked


def test_large_kernels_do_not_warn(two_workers):
    X = np.random.default_rng(0).standard_normal((40, 30_000)).astype(np.float32)
    rows = as_rows(from_dask(da.from_array(X, chunks=(20, 30_000)), X.dtype))
    wide = np.zeros((30_000, 100), dtype=np.float32)  # 12 MB: Dask would call it large
    wide[np.arange(100), np.arange(100)] = 1.0
    assert Problem(rows).evaluate(wide).value == pytest.approx(
        Problem(as_rows(X)).evaluate(wide).value, rel=1e-5
    )


@pytest.mark.slow("cluster")
def test_all_threads_of_a_worker_read(X, start_cluster):
    with start_cluster(n_workers=1, threads_per_worker=3, processes=True, memory_limit=0):
        tall = np.tile(X, (10, 1))
        rows = as_rows(from_dask(da.from_array(tall, chunks=(4000, 30)), X.dtype))

        def who(block):
            import threading  # noqa: PLC0415
            import time  # noqa: PLC0415

            time.sleep(0.3)  # longer than a busy machine takes to start three threads
            name = threading.current_thread().name
            return (np.array([float(name.endswith(f"_{k}")) for k in range(3)]),)

        assert (rows.sweep(who)[0] > 0).sum() == 3
