"""Workers that die, clusters that vanish, data that are wrong: an answer or a clear error."""

import _thread
import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from sphericalpca import DataError, SphericalPCA
from sphericalpca.estimators import monitoring
from sphericalpca.exceptions import ClusterError
from sphericalpca.linalg import principal_angles
from sphericalpca.rows import as_rows
from sphericalpca.rows.cluster import ClusterRows, client, from_dask, stall
from sphericalpca.solvers import checkpoint

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


@pytest.fixture
def in_pass(monkeypatch):
    """Have an action done, or a kernel changed, when the given pass begins."""

    def arrange(number, action=None, kernel=None):
        passes = []
        run = ClusterRows._run_on_workers

        def counted(self, given):
            passes.append(given)
            if len(passes) == number:
                if action is not None:
                    action()
                if kernel is not None:
                    given = kernel(given)
            return run(self, given)

        monkeypatch.setattr(ClusterRows, "_run_on_workers", counted)
        return passes

    return arrange


def _dying(marker):
    """Kernels of which the first to run kills its process, after it has read half a block."""

    def wrap(kernel):
        def deadly(block):
            found = kernel(block)
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return found
            os.kill(os.getpid(), signal.SIGKILL)
            return None

        return deadly

    return wrap


def _slow(seconds):
    """Kernels that take their time."""

    def wrap(kernel):
        def wait(block):
            import time  # noqa: PLC0415

            time.sleep(seconds)
            return kernel(block)

        return wait

    return wrap


def _eventually(condition):
    """Dask does some things in the background."""
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def _same(found, expected):
    assert found.loss_ == pytest.approx(expected.loss_, rel=1e-6)
    assert principal_angles(found.components_.T, expected.components_.T).max() < 1e-3


def _kill_all(cluster):
    """kill -9 of all workers; their nannies will start new ones."""
    for nanny in cluster.workers.values():
        os.kill(nanny.pid, signal.SIGKILL)


@pytest.fixture
def mortal_workers(start_cluster):
    """Two workers that are not restarted; `kill` kills them and their nannies."""
    with start_cluster(n_workers=0) as running:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-dashboard"]
        command += ["--nthreads", "1", "--host", "127.0.0.1", running.cluster.scheduler_address]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        nannies = []

        def start():
            nannies.extend(
                subprocess.Popen(command, start_new_session=True, **quiet) for _ in range(2)
            )
            running.client.wait_for_workers(2, timeout=60)

        def kill():
            while nannies:
                nanny = nannies.pop()
                os.killpg(nanny.pid, signal.SIGKILL)
                nanny.wait()

        try:
            start()
            yield SimpleNamespace(client=running.client, start=start, kill=kill)
        finally:
            kill()


@pytest.mark.slow("cluster")
@pytest.mark.parametrize("persisted", [False, True])
def test_a_worker_killed_in_the_middle_of_a_pass(X, two_processes, in_pass, tmp_path, persisted):
    array = da.from_array(X, chunks=(100, 30))
    if persisted:
        array = two_processes.client.persist(array)
    model = SphericalPCA(4, tol=1e-5)
    expected = model.fit(X)
    pids = set(two_processes.client.run(os.getpid).values())
    marker = tmp_path / "killed"
    passes = in_pass(3, kernel=_dying(marker))
    found = SphericalPCA(4, tol=1e-5).fit(array)
    assert marker.exists()
    assert len(passes) > 3
    _same(found, expected)
    two_processes.client.wait_for_workers(2, timeout=60)
    assert set(two_processes.client.run(os.getpid).values()) != pids


@pytest.mark.slow("cluster")
def test_all_workers_killed_and_started_again(X, two_processes, in_pass, monkeypatch):
    monkeypatch.setattr(stall, "NO_WORKERS", 120.0)  # on a busy machine it may take long
    in_pass(3, action=lambda: _kill_all(two_processes.cluster))
    found = SphericalPCA(4, tol=1e-5).fit(da.from_array(X, chunks=(100, 30)))
    _same(found, SphericalPCA(4, tol=1e-5).fit(X))


@pytest.mark.slow("cluster")
def test_all_workers_gone_for_good_and_the_next_run_goes_on(
    X, mortal_workers, in_pass, monkeypatch, tmp_path
):
    monkeypatch.setattr(stall, "NO_WORKERS", 2.0)
    monkeypatch.setattr(checkpoint, "INTERVAL", 0.0)
    monkeypatch.setattr(checkpoint, "PATIENCE", 0.0)
    array, kept = da.from_array(X, chunks=(100, 30)), tmp_path / "fit.npz"
    expected, model = (SphericalPCA(4, init="svd", tol=1e-6).fit(X) for _ in "ab")
    before = model.components_
    passes = in_pass(6, action=mortal_workers.kill)
    with pytest.raises(ClusterError, match=r"no workers for 2 seconds.*checkpoint="):
        model.fit(array, checkpoint=kept)
    assert model.components_ is before
    with pytest.raises(ClusterError, match="no workers"):
        model.score(array)
    assert kept.exists()
    mortal_workers.start()
    done = len(passes)
    model.fit(array, checkpoint=kept)
    assert model.n_iter_ == pytest.approx(expected.n_iter_, abs=1)
    assert len(passes) - done < expected.n_passes_ - 2
    _same(model, expected)


def test_nobody_to_ask(X, start_cluster, monkeypatch):
    """The timeout is that of Dask where it is set."""
    with start_cluster(n_workers=0) as running:
        with (
            dask.config.set({"distributed.scheduler.no-workers-timeout": "1 s"}),
            pytest.raises(ClusterError, match="no workers for 1 seconds"),
        ):
            SphericalPCA(4).fit(da.from_array(X, chunks=(100, 30)))
        workers = client.ClusterClient(running.client)
        monkeypatch.setattr(stall, "NO_WORKERS", 0.2)
        with pytest.raises(ClusterError, match=r"no workers for 0\.2 seconds"):
            workers.state([])
        monkeypatch.setattr(client, "ANSWER_TIMEOUT", 0.0)
        with pytest.raises(ClusterError, match=r"does not answer \(TimeoutError"):
            workers.state([])


def test_the_scheduler_gone(X, start_cluster, in_pass):
    with start_cluster(n_workers=1, processes=False) as running:
        in_pass(3, action=running.cluster.close)
        with pytest.raises(ClusterError, match="checkpoint="):
            SphericalPCA(4).fit(da.from_array(X, chunks=(100, 30)))
        with pytest.raises(ClusterError, match="client is"):
            client.ClusterClient(running.client).state([])


@pytest.fixture
def hasty(monkeypatch):
    """A standstill of a second is enough."""
    monkeypatch.setattr(stall, "STANDSTILL", 1.0)
    monkeypatch.setattr(stall, "ACTIVITY_INTERVAL", 0.1)


def test_workers_that_stay_paused(X, five_workers, request):
    def pause(dask_worker):
        dask_worker.status = distributed.core.Status.paused

    rows = as_rows(from_dask(da.from_array(X, chunks=(100, 30)), X.dtype))
    five_workers.client.run(pause)
    request.getfixturevalue("hasty")  # only now: a busy machine may well stand still for a second
    with pytest.raises(ClusterError, match=r"for 1 seconds; 5 of its 5 workers are paused"):
        rows.sweep(lambda block: (float(len(block.weight)),))
    with pytest.raises(ClusterError, match="add workers or memory"):
        SphericalPCA(4).fit(da.from_array(X, chunks=(100, 30)))


def test_tasks_that_no_worker_may_do(five_workers, hasty):
    lazy = five_workers.client.submit(abs, -1, resources={"GPU": 1})
    with pytest.raises(ClusterError, match=r"0 of its 5 workers are paused.*may run all tasks"):
        client.ClusterClient(five_workers.client).gather([lazy])


def test_a_busy_cluster_is_not_given_up(monkeypatch):
    """However long one task takes."""
    monkeypatch.setattr(stall, "STANDSTILL", 0.0)
    monkeypatch.setattr(stall, "ACTIVITY_INTERVAL", 0.0)
    busy = stall.Activity((7, 0), 1, 3)
    watcher = stall.StallDetector(SimpleNamespace(workers=lambda: {"a"}, activity=lambda: busy))
    for _ in range(5):
        watcher.look()


@pytest.mark.parametrize("close", ["client", "cluster", "restart"])
def test_a_client_that_somebody_closes(X, start_cluster, in_pass, close):
    with start_cluster(n_workers=2, processes=False, memory_limit=0) as running:
        actions = {
            "client": running.client.close,
            "cluster": running.cluster.close,
            "restart": lambda: running.client.restart(timeout=20, wait_for_workers=False),
        }
        somebody = threading.Timer(0.2, actions[close])
        in_pass(3, action=somebody.start, kernel=_slow(0.5))
        with pytest.raises(ClusterError, match="checkpoint="):
            SphericalPCA(4).fit(da.from_array(X, chunks=(100, 30)))
        somebody.join()


@pytest.mark.slow("cluster")
def test_scattered_data_that_died_with_their_worker(X, two_processes, in_pass, monkeypatch):
    monkeypatch.setattr(stall, "NO_WORKERS", 120.0)
    chunks = two_processes.client.scatter([X[:600], X[600:]], hash=False)
    lazy = [da.from_delayed(c, (len(c.result()), 30), X.dtype) for c in chunks]
    in_pass(3, action=lambda: _kill_all(two_processes.cluster))
    with pytest.raises(ClusterError, match=r"lost.*scattered"):
        SphericalPCA(4).fit(da.concatenate(lazy))


@pytest.mark.slow("cluster")
def test_an_interrupt_ends_the_tasks_and_leaves_the_cluster_usable(X, two_processes, in_pass):
    in_pass(3, kernel=_slow(2), action=threading.Timer(0.7, _thread.interrupt_main).start)
    array = da.from_array(X, chunks=(300, 30))
    model = SphericalPCA(4, init="svd")
    with pytest.raises(KeyboardInterrupt):
        model.fit(array)
    assert not hasattr(model, "components_")
    futures = two_processes.client.futures
    assert _eventually(lambda: not any("sweep" in key for key in list(futures)))
    _same(model.fit(array), SphericalPCA(4, init="svd").fit(X))


@pytest.mark.slow("cluster")
@pytest.mark.parametrize(("known", "watched"), [(True, True), (False, True), (True, False)])
def test_an_interrupt_while_data_are_loaded(X, two_processes, monkeypatch, known, watched):
    """The last chunk arrives only after it: waiting for it first would never end."""
    monkeypatch.setattr(monitoring, "INTERVAL", 0.0)  # on a fast machine all comes within a moment
    gate = distributed.Event(f"loading {known} {watched}")

    def wait(block, event, block_info=None):
        if block_info[0]["chunk-location"][0] == 12:
            distributed.Event(event).wait()
        return block

    array = da.from_array(X, chunks=(100, 30))
    late = array.map_blocks(wait, event=gate.name, meta=X[:0])
    if not known:
        late = late[da.ones(len(X), chunks=100, dtype=bool)]
    model, told = SphericalPCA(4, init="svd"), []

    def interrupt():
        """When progress was reported; without reports, when all but the last may have arrived."""
        time.sleep(2)
        if watched:
            _eventually(lambda: told and told[-1].rows_read > 0)
        _thread.interrupt_main()

    somebody = threading.Thread(target=interrupt)
    somebody.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(late, progress=told.append if watched else None)
    finally:
        gate.set()
        somebody.join()
    assert not watched or 0 < told[-1].rows_read < len(X)
    assert not hasattr(model, "components_")
    assert _eventually(lambda: not two_processes.client.futures)
    _same(model.fit(array), SphericalPCA(4, init="svd").fit(X))


@pytest.mark.parametrize("workers", [0, 1])
def test_a_failed_fit_leaves_dask_as_it_was(X, start_cluster, monkeypatch, workers):
    """Also the scheduler of computations after the client was closed."""
    monkeypatch.setattr(stall, "NO_WORKERS", 0.5)
    before = dask.config.get("scheduler", None)
    bad = da.from_array(np.full_like(X, np.nan), chunks=(300, 30))
    error = ClusterError if workers == 0 else DataError
    with start_cluster(n_workers=workers, processes=False), pytest.raises(error):
        SphericalPCA(2).fit(bad)
    assert dask.config.get("scheduler", None) == before
    assert da.ones(3, chunks=2).sum().compute() == 3


def _killed():
    worker = SimpleNamespace(address="tcp://127.0.0.1:1")
    return distributed.KilledWorker("swept-1", worker, 3)


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (ModuleNotFoundError("No module named 'sphericalpca'", name="sphericalpca"), "install the"),
        (_killed(), "smaller chunks"),
        (distributed.comm.CommClosedError("closed"), "checkpoint="),
    ],
    ids=lambda value: type(value).__name__,
)
def test_errors_of_the_cluster_are_explained(error, remedy, two_workers):
    def fail():
        raise error

    workers = client.ClusterClient(two_workers.client)
    with pytest.raises(ClusterError, match=remedy):
        workers.gather([workers.submit(fail)])


@pytest.mark.slow("cluster")
def test_a_client_that_does_not_wait_is_refused(X):
    import asyncio  # noqa: PLC0415

    async def fit():
        async with (
            distributed.LocalCluster(
                n_workers=1, processes=False, dashboard_address=":0", asynchronous=True
            ) as cluster,
            distributed.Client(cluster, asynchronous=True),
        ):
            SphericalPCA(2).fit(da.from_array(X, chunks=(300, 30)))

    with pytest.raises(ClusterError, match="asynchronous"):
        asyncio.run(fit())


# Dask 2024.8 warns of what is intended here.
@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")
def test_within_a_task_rows_are_computed_where_the_task_is(X, five_workers):
    """A task that waited for tasks of the same worker would wait forever."""

    def fit(X):
        import dask.array  # noqa: PLC0415

        return SphericalPCA(2).fit(dask.array.from_array(X, chunks=(300, 30))).loss_

    found = five_workers.client.submit(fit, X).result(timeout=60)
    assert found == pytest.approx(SphericalPCA(2).fit(X).loss_, rel=1e-6)
