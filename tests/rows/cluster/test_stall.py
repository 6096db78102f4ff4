"""When a cluster is given up, and when it is not: by a clock of our own."""

from types import SimpleNamespace

import pytest

from sphericalpca.exceptions import ClusterError
from sphericalpca.rows.cluster import stall
from sphericalpca.rows.cluster.stall import Activity, StallDetector


@pytest.fixture
def watching(monkeypatch):
    """How many seconds a cluster is watched until it is given up; None if it never is."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(stall, "time", SimpleNamespace(monotonic=lambda: clock.now))

    def watch(workers, activity, seconds=2000):
        asked = []
        cluster = SimpleNamespace(
            workers=lambda: set(range(workers(clock.now))),
            activity=lambda: asked.append(clock.now) or activity(clock.now),
        )
        watcher = StallDetector(cluster)
        begin = clock.now
        for _ in range(2 * seconds):
            clock.now += 0.5
            try:
                watcher.look()
            except ClusterError:
                return clock.now - begin, len(asked)
        return None, len(asked)

    return watch


def _quiet(_):
    return Activity((7, 0), 0, 0)


def test_nobody_there(watching):
    pytest.importorskip("dask")
    given_up, asked = watching(lambda _: 0, _quiet)
    assert stall.NO_WORKERS < given_up < stall.NO_WORKERS + 2
    assert asked == 0


def test_somebody_who_comes_now_and_then(watching):
    pytest.importorskip("dask")
    assert (
        watching(lambda now: int(now % 25 < 1), lambda now: Activity((int(now), 0), 0, 0))[0]
        is None
    )


def test_nothing_moves(watching):
    given_up, asked = watching(lambda _: 3, _quiet)
    assert stall.STANDSTILL < given_up < stall.STANDSTILL + 3 * stall.ACTIVITY_INTERVAL
    assert asked <= given_up / stall.ACTIVITY_INTERVAL


@pytest.mark.parametrize(
    "activity",
    [
        lambda _: Activity((7, 0), 1, 3),  # one task, however long it takes
        lambda now: Activity((int(now // 250), 0), 0, 0),
        lambda now: Activity((7, int(now // 250)), 0, 3),
    ],
    ids=["busy", "tasks change", "data are spilled"],
)
def test_something_moves(watching, activity):
    assert watching(lambda _: 3, activity)[0] is None
