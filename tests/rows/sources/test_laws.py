"""Laws of every reader: blocks are slices of the matrix, whatever span and height are asked for."""

from __future__ import annotations

import gc
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from reliability.samples import SAMPLES
from sphericalpca import open_rows
from sphericalpca.registry.formats import FORMATS
from sphericalpca.rows import RowSource
from sphericalpca.rows.streamed import StreamedRows

N = 100


def open_files():
    """Paths of this process's open files."""
    gc.collect()
    found = []
    for number in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # of the folder that is being listed
            found.append(str(number.readlink()))
    return found


@pytest.fixture
def source(path):
    return open_rows(path)


def test_shape_type_and_name(source, path, X, sample):
    assert isinstance(source, RowSource)
    assert source.shape == X.shape
    assert source.dtype == np.float32
    assert source.stored == (np.count_nonzero(X) if sample.sparse else X.size)
    assert str(path) in source.name
    assert str(path) in repr(source)
    assert source.place(17) == f"row 17 of {str(path)!r}"


def test_cuts_begin_at_0_increase_and_end_at_n(source):
    cuts = list(source.cuts)
    assert cuts[0] == 0
    assert cuts[-1] == N
    assert cuts == sorted(set(cuts))


def test_who_can_begin_anywhere(source, sample):
    """What is compressed as a whole, and what comes in groups, cannot."""
    assert source.any_row == sample.any_row
    inner = list(source.cuts)[1:-1]
    assert inner == ([30, 60, 90] if sample.grouped else [])


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(ends=st.tuples(st.integers(0, N), st.integers(0, N)), height=st.integers(1, N + 5))
def test_blocks_of_any_span_and_height_are_the_rows_in_order(source, X, dense, ends, height):
    span = slice(min(ends), max(ends))
    blocks = [dense(block) for block in source.read(span, height)]
    assert all(1 <= len(block) <= height for block in blocks)
    assert all(block.dtype == np.float32 for block in blocks)
    found = np.concatenate([np.empty((0, X.shape[1]), np.float32), *blocks])
    np.testing.assert_array_equal(found, X[span])


@pytest.mark.parametrize("stored", ["f4", "i2"])
def test_a_block_stays_as_it_is_while_the_next_is_read(X, write, format_name, tmp_path, stored):
    """Also where numbers are converted, and other buffers are used."""
    matrix = (10 * X).astype(FORMATS[SAMPLES[format_name].format].dtype or stored)
    source = open_rows(write(matrix, format_name, tmp_path))
    first, previous = 0, None
    for block in source.read(slice(0, N), 7):
        if previous is not None:
            shown = previous.toarray() if sparse.issparse(previous) else previous
            np.testing.assert_array_equal(shown, matrix[first - len(shown) : first])
        first, previous = first + block.shape[0], block


def test_readers_side_by_side_do_not_disturb_each_other(source, X, dense):
    found = {}

    def read(k):
        found[k] = np.concatenate([dense(b) for b in source.read(slice(k, N - k), 3 + k)])

    threads = [threading.Thread(target=read, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(6):
        np.testing.assert_array_equal(found[k], X[k : N - k])


@pytest.mark.parametrize("how", ["opened", "read", "half read", "swept", "failed"])
def test_no_file_stays_open(path, how):
    source = open_rows(path)
    if how == "read":
        assert sum(block.shape[0] for block in source.read(slice(0, N), 9)) == N
    elif how == "half read":
        reader = source.read(slice(0, N), 9)
        next(reader)
        next(reader)
        reader.close()
    elif how == "swept":
        StreamedRows(source).sweep(lambda block: (1.0,))
    elif how == "failed":
        with pytest.raises(ZeroDivisionError):
            StreamedRows(source).sweep(lambda block: (1 / 0,))
    assert str(path) not in open_files()


def test_sparse_files_are_read_as_sparse_blocks_and_others_as_arrays(source, sample):
    block = next(source.read(slice(0, N), 10))
    assert sparse.issparse(block) == sample.sparse


@pytest.mark.parametrize("dtype", ["f2", "f8", "u1", "i2", "i4", "i8"])
def test_other_storage_types(write, format_name, dtype, dense, tmp_path):
    """Numbers that all types hold exactly come back exactly, in the type of the arithmetic."""
    sample = SAMPLES[format_name]
    if FORMATS[sample.format].dtype or (sample.sparse and dtype == "f2"):
        pytest.skip("the format has no such type")
    whole = np.random.default_rng(0).integers(1, 100, (N, 4)).astype(dtype)
    source = open_rows(write(whole, format_name, tmp_path))
    assert source.dtype == (np.float64 if dtype in ("f8", "i4", "i8") else np.float32)
    blocks = [dense(block) for block in source.read(slice(0, N), 13)]
    assert all(block.dtype == source.dtype for block in blocks)
    np.testing.assert_array_equal(np.concatenate(blocks), whole)
