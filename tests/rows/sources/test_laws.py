"""Laws of every reader: blocks are slices of the matrix, for any span and height."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from reliability.samples import SAMPLES
from sphericalpca import open_rows
from sphericalpca.parallel import parallel
from sphericalpca.problem import Problem
from sphericalpca.registry.formats import FORMATS
from sphericalpca.rows import RowSource, as_rows
from sphericalpca.rows.streamed import StreamedRows

N = 100


def open_files():
    """Paths of this process's open files."""
    found = []
    for number in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # of the folder that is being listed
            found.append(str(number.readlink()))
    return found


@pytest.fixture
def source(path):
    return open_rows(path)


def test_shape_type_name_and_cuts(source, path, X, sample):
    assert isinstance(source, RowSource)
    assert source.shape == X.shape
    assert source.dtype == np.float32
    assert source.stored == (np.count_nonzero(X) if sample.sparse else X.size)
    assert str(path) in source.name
    assert str(path) in repr(source)
    assert source.place(17) == f"row 17 of {str(path)!r}"
    cuts = list(source.cuts)
    assert (cuts[0], cuts[-1]) == (0, N)
    assert cuts == sorted(set(cuts))
    assert sparse.issparse(next(source.read(slice(0, N), 10))) == sample.sparse


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


def test_a_block_stays_as_it_is_while_the_next_is_read(X, write, format_name, tmp_path):
    """Also where numbers are converted, and other buffers are used."""
    for stored in ("f4", "i2"):
        matrix = (10 * X).astype(FORMATS[SAMPLES[format_name].format].dtype or stored)
        source = open_rows(write(matrix, format_name, tmp_path, stored))
        first, previous = 0, None
        for block in source.read(slice(0, N), 7):
            if previous is not None:
                shown = previous.toarray() if sparse.issparse(previous) else previous
                np.testing.assert_array_equal(shown, matrix[first - len(shown) : first])
            first, previous = first + block.shape[0], block


@pytest.mark.parametrize("threads", [1, 2])
def test_sums_over_several_files_are_those_in_memory(X, write, format_name, tmp_path, threads):
    parts = enumerate([X[:50], X[50:51], X[51:]])
    files = [write(part, format_name, tmp_path, f"part-{k}") for k, part in parts]
    source, U = open_rows(files, memory_budget=20_000), np.eye(7, 2, dtype=np.float32)
    expected = Problem(as_rows(X)).evaluate(U)
    with parallel(threads):
        rows = as_rows(source)
        assert len(list(rows.blocks())) > 1
        found = Problem(rows).evaluate(U)
    assert found.value == pytest.approx(expected.value, rel=1e-6)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-4, atol=1e-4)


def test_no_file_stays_open(path):
    source = open_rows(path)
    assert str(path) not in open_files(), "opened"
    assert sum(block.shape[0] for block in source.read(slice(0, N), 9)) == N
    assert str(path) not in open_files(), "read"
    reader = source.read(slice(0, N), 9)
    next(reader)
    next(reader)
    reader.close()
    assert str(path) not in open_files(), "half read"
    StreamedRows(source).sweep(lambda block: (1.0,))
    assert str(path) not in open_files(), "swept"
    with pytest.raises(ZeroDivisionError):
        StreamedRows(source).sweep(lambda block: (1 / 0,))
    assert str(path) not in open_files(), "failed"


def test_other_storage_types(write, format_name, dense, tmp_path):
    """Numbers that all types hold exactly come back exactly, in the type of the arithmetic."""
    sample = SAMPLES[format_name]
    if FORMATS[sample.format].dtype:
        pytest.skip("the format has one type only")
    for dtype in ("f8", "u1", "i2", "i4", "i8", *([] if sample.sparse else ["f2"])):
        whole = np.random.default_rng(0).integers(1, 100, (N, 4)).astype(dtype)
        source = open_rows(write(whole, format_name, tmp_path, dtype))
        assert source.dtype == (np.float64 if dtype in ("f8", "i4", "i8") else np.float32)
        blocks = [dense(block) for block in source.read(slice(0, N), 13)]
        assert all(block.dtype == source.dtype for block in blocks)
        np.testing.assert_array_equal(np.concatenate(blocks), whole, err_msg=dtype)
