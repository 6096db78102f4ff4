"""Who keeps what: near, fair, and in pieces that fit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sphericalpca.rows.cluster import matrix
from sphericalpca.rows.cluster.client import Worker
from sphericalpca.rows.cluster.matrix import assign_workers, runs_that_fit

ADDRESSES = ["a", "b", "c"]


@st.composite
def situations(draw):
    threads = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    workers = {a: Worker(t, 0) for a, t in zip(ADDRESSES, threads, strict=False)}
    sizes = draw(st.lists(st.integers(0, 50), max_size=30))
    # Some holders have died since.
    held = st.lists(st.sampled_from([*ADDRESSES, "dead"]), unique=True, max_size=3)
    return sizes, [draw(held) for _ in sizes], workers


@settings(max_examples=50, deadline=None)
@given(situations())
def test_everything_has_a_home_and_nobody_has_much_more_than_is_due(situation):
    sizes, holders, workers = situation
    places = assign_workers(sizes, holders, workers)
    assert assign_workers(sizes, holders, workers) == places, "the same each time"
    assert len(places) == len(sizes)
    assert set(places) <= set(workers)
    threads = sum(worker.threads for worker in workers.values())
    for address, worker in workers.items():
        load = sum(s for s, home in zip(sizes, places, strict=True) if home == address)
        share = worker.threads / threads
        due = share * sum(sizes)
        # What comes last goes where it adds least: no more than all others would have with it.
        beyond = share * (len(workers) - 1) * max(sizes, default=0)
        assert load <= max(matrix.TOLERANCE * due, due + beyond) + 1e-9


@pytest.mark.parametrize("count", [2, 3])
def test_nothing_moves_where_all_have_as_much(count):
    workers = {a: Worker(1, 0) for a in ADDRESSES[:count]}
    holders = [[ADDRESSES[k % count]] for k in range(4 * count)]
    assert assign_workers([10] * len(holders), holders, workers) == [h[0] for h in holders]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 100), min_size=1, max_size=40), st.integers(0, 400))
def test_runs_are_all_pieces_in_order_and_fit(sizes, memory):
    pieces = list(range(len(sizes)))
    runs = runs_that_fit(pieces, sizes, memory)
    assert [k for run in runs for k in run] == pieces
    assert all(runs)
    limit = matrix.PART_OF_MEMORY * memory if memory else float("inf")
    for run in runs:
        assert sum(sizes[k] for k in run) <= limit + max(sizes)
    if sum(sizes) <= limit:
        assert len(runs) == 1
