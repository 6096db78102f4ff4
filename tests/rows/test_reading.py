"""How sources are read: parts that begin at cuts, blocks within the budget, one ahead."""

from __future__ import annotations

import gc
import signal
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sphericalpca import DataError, open_rows
from sphericalpca.parallel import parallel
from sphericalpca.rows import RowSource, as_rows, weighted_mean
from sphericalpca.rows.reading import ahead, best_block_rows, part_ends, read_blocks


class Numbers(RowSource):
    """Two columns that are made up: both numbers of row k are k."""

    name, dtype = "numbers", np.dtype(np.float32)
    row_bytes = 8.0

    def __init__(self, n=100, cuts=(0, 40, 100), memory_budget=10**6):
        self.shape, self.stored, self.memory_budget = (n, 2), 2 * n, memory_budget
        self.inner_cuts = list(cuts)
        # Where reading fails, where the rows end, how many readers have begun and closed.
        self.fault, self.end, self.begun, self.closed = n, n, 0, 0

    @property
    def cuts(self):
        return self.inner_cuts

    def read(self, span, rows):
        self.begun += 1
        try:
            for first in range(span.start, min(span.stop, self.end), rows):
                if first >= self.fault:
                    raise DataError(f"row {first} is broken")
                block = np.arange(first, min(first + rows, span.stop, self.end), dtype=np.float32)
                yield np.repeat(block[:, None], 2, axis=1)
        finally:
            self.closed += 1

    def check_unchanged(self):
        pass

    def place(self, row):
        return f"number {row}"


@settings(max_examples=50, deadline=None)
@given(
    cuts=st.lists(st.integers(1, 99), unique=True).map(lambda inner: [0, *sorted(inner), 100]),
    count=st.integers(1, 8),
)
def test_parts_begin_at_the_cuts_nearest_to_an_even_division(cuts, count):
    ends = part_ends(Numbers(cuts=cuts), count)
    assert (ends[0], ends[-1]) == (0, 100)
    assert all(a < b for a, b in pairwise(ends))
    even = [100 * k // count for k in range(count + 1)]
    distance = {min(abs(cut - end) for cut in cuts) for end in even}
    assert {min(abs(cut - end) for cut in ends) for end in even} == distance
    assert set(ends) <= set(cuts)


def test_rows_that_can_all_be_reached_are_divided_evenly(tmp_path):
    np.save(tmp_path / "X.npy", np.ones((100, 2)))
    assert part_ends(open_rows(tmp_path / "X.npy"), 3) == [0, 33, 66, 100]
    np.save(tmp_path / "X.npy", np.ones((2, 2)))
    assert part_ends(open_rows(tmp_path / "X.npy"), 3) == [0, 1, 2]


def test_blocks_fill_the_budget_and_no_more():
    for budget in (10**3, 10**4, 10**5):
        for readers in (1, 2, 7):
            rows = best_block_rows(Numbers(n=10**6, memory_budget=budget), readers)
            # Two blocks of a reader, one less its mean, one of projections to two components.
            assert readers * rows * 4 * 8 <= budget < readers * (rows + 1) * 4 * 8
    # A large budget does not make blocks large.
    assert best_block_rows(Numbers(n=10**9, memory_budget=10**12), 1) * 2 <= 3_000_000


def test_a_budget_that_is_too_small_says_what_is_needed(tmp_path):
    path = tmp_path / "X.npy"
    np.save(path, np.ones((60, 5)))
    with pytest.raises(DataError, match=r"memory_budget is 100 bytes.*: raise it\.") as caught:
        as_rows(open_rows(path, memory_budget=100))
    needed = int(str(caught.value).split("at least ")[1].split(":")[0])
    assert as_rows(open_rows(path, memory_budget=needed)).shape == (60, 5)
    with pytest.raises(DataError, match="at least"):
        as_rows(open_rows(path, memory_budget=needed - 2))


def test_large_record_batches_are_told_from_long_rows(tmp_path):
    feather, pyarrow = pytest.importorskip("pyarrow.feather"), pytest.importorskip("pyarrow")
    table = pyarrow.table({"a": np.ones(1000)})
    feather.write_feather(table, tmp_path / "X.feather", chunksize=1000)
    with pytest.raises(DataError, match=r"raise it, or write .* smaller row groups, record batch"):
        as_rows(open_rows(tmp_path / "X.feather", memory_budget=1000))


def test_blocks_come_with_the_rows_that_they_hold_and_missing_ones_are_missed():
    source = Numbers()
    blocks = [(rows, matrix[:, 0]) for rows, matrix in read_blocks(source, slice(5, 75), 20)]
    assert [rows for rows, _ in blocks] == [slice(a, min(a + 20, 75)) for a in (5, 25, 45, 65)]
    for rows, numbers in blocks:
        np.testing.assert_array_equal(numbers, np.arange(rows.start, rows.stop))
    source.end = 90
    with pytest.raises(DataError, match="ended before number 90, but had 100 rows"):
        list(read_blocks(source, slice(40, 100), 20))


@pytest.mark.parametrize("how", ["exhausted", "closed", "failing", "dropped", "not begun"])
def test_no_thread_is_left_and_the_items_are_closed(how, watched):
    source = Numbers()
    source.fault = 50 if how == "failing" else 100
    items = source.read(slice(0, 100), 10)
    reader = ahead(items)
    if how == "exhausted":
        assert len(list(reader)) == 10
    elif how == "failing":
        with pytest.raises(DataError, match="row 50 is broken"):
            list(reader)
    elif how != "not begun":
        next(reader)
    if how == "closed":
        reader.close()
    del reader
    gc.collect()
    assert not watched()
    assert source.closed == source.begun == (how != "not begun")
    del items  # which were alive until now: it was not their end that closed them


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_kernel_or_reader_ends_the_sweep_while_it_is_still_looked_at(
    threads, watched
):
    source = Numbers()

    def kernel(block):
        raise ZeroDivisionError

    with parallel(threads):
        rows = as_rows(source, block_rows=10)
        assert source.closed == source.begun == threads
        source.fault = 70
        with pytest.raises(DataError, match="row 70 is broken"):
            rows.sweep(lambda block: (1.0,))
        source.fault = 100
        with pytest.raises(ZeroDivisionError) as caught:
            rows.sweep(kernel)
    assert source.closed == source.begun > 2 * threads
    assert not watched()
    del caught


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("what", ["sweep", "mean"])
def test_ctrl_c_stops_a_read_within_a_few_blocks(threads, what, watched):
    """Blocks of one row; for the mean by a budget that allows no more."""
    source, heights = Numbers(n=1000, cuts=(0, 500, 1000)), []

    def seen(rows):
        heights.append(rows)
        if len(heights) == 3:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.02)  # the main thread comes to know
        return (1.0,)

    with parallel(threads):
        rows = as_rows(source, block_rows=1)
        source.memory_budget = 33 * threads
        read = {
            "sweep": lambda: rows.sweep(lambda block: seen(len(block.weight))),
            "mean": lambda: weighted_mean(source, watch=seen),
        }
        with pytest.raises(KeyboardInterrupt):
            read[what]()
    assert 3 <= len(heights) < 100
    assert set(heights) == {1}
    assert not watched()
