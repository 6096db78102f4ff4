"""Products of CSR matrices: the same for all instruction sets, types, widths and threads."""

from __future__ import annotations

import gc
import math
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from sphericalpca.kernels import CompressedRows, rows
from sphericalpca.linalg import unit_rows
from sphericalpca.parallel import parallel

WIDTHS = range(1, 131)  # every remainder of every strip


@pytest.fixture
def many_calls(monkeypatch):
    """Small products are divided as large ones are."""
    monkeypatch.setattr(rows, "SMALL_PRODUCT", 0)
    monkeypatch.setattr(rows, "LONG_CALL", 100)


@pytest.mark.usefixtures("instructions")
def test_every_width(text, assert_product, float_type, index_type, rng):
    X = text(dtype=float_type, index_type=index_type)
    compressed = CompressedRows(X)
    for r in WIDTHS:
        B = rng.standard_normal((X.shape[1], r)).astype(float_type)
        assert_product(compressed.times(B), X, B)


@pytest.mark.usefixtures("instructions")
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 17])
def test_short_dense_matrices(columns, text, assert_product, float_type, rng):
    """A strip reaches beyond the last rows, which are read from a padded copy.

    `reliability.sanitize` sees that nothing behind them is read.
    """
    X = text(m=columns, dtype=float_type)
    for r in (1, 2, 3, 5, 17, 33):
        B = rng.standard_normal((columns, r)).astype(float_type)
        assert_product(CompressedRows(X).times(B), X, B)


@pytest.mark.usefixtures("instructions")
def test_the_result_alone_is_written(text, float_type, monkeypatch, rng):
    """Neither memory after the result nor memory after the lengths."""
    kept = []

    def empty(shape, dtype=float):
        kept.append(np.full(int(np.prod(shape)) + 64, 7, dtype=dtype))
        return kept[-1][:-64].reshape(shape)

    monkeypatch.setattr(rows, "np", SimpleNamespace(**{**vars(np), "empty": empty}))
    X = CompressedRows(text(dtype=float_type))
    B = rng.standard_normal((X.shape[1], 37)).astype(float_type)
    for r in (1, 3, 20, 37):
        X.unit_times(B[:, :r])
    assert len(kept) == 8
    assert all((memory[-64:] == 7).all() for memory in kept)


@pytest.mark.usefixtures("instructions")
def test_scale_and_shift(text, float_type, rng):
    X = text(dtype=float_type)
    scale, shift = (rng.standard_normal(k).astype(float_type) for k in (X.shape[0], 21))
    B = rng.standard_normal((X.shape[1], 21)).astype(float_type)
    compressed = CompressedRows(X)
    plain = compressed.times(B)
    eps = 40 * np.finfo(float_type).eps
    size = np.abs(plain) + np.abs(shift)
    for options in ({"scale": scale}, {"shift": shift}, {"scale": scale, "shift": shift}):
        factor = np.abs(options.get("scale", np.ones(len(scale))))[:, None]
        expected = (plain - options.get("shift", 0)) * options.get("scale", np.ones(1))[:, None]
        assert (np.abs(compressed.times(B, **options) - expected) <= eps * size * factor).all()
        units, lengths = compressed.unit_times(B, **options)
        _, found = unit_rows(compressed.times(B, **options))
        np.testing.assert_allclose(lengths, found, rtol=1e-6 if float_type == np.float32 else 1e-14)
        assert lengths.dtype == np.float64
        assert np.abs(units * lengths[:, None] - expected).max() <= 10 * eps * (size * factor).max()


@pytest.mark.usefixtures("instructions")
def test_unit_rows_of_all_magnitudes(float_type):
    """Zero rows stay zero; squares out of range do no harm."""
    largest, smallest = np.finfo(float_type).max, np.finfo(float_type).tiny
    vanishing = np.sqrt(smallest) / 1000  # its square has few digits
    sizes = [1, 0, smallest, 8 * smallest, vanishing, 1e-30, 1e30, 1e-7, largest / 4]
    sizes = np.array(sizes, dtype=float_type)
    pattern = np.array([[1, -2, 0, 2, 0]], dtype=float_type) / 2
    X = sizes[:, None] * pattern
    units, lengths = CompressedRows(sparse.csr_array(X)).unit_times(np.eye(5, dtype=float_type))
    expected = [math.hypot(*map(float, row)) for row in X]
    rounding = 4 * float(np.finfo(float_type).eps)
    np.testing.assert_allclose(lengths, expected, rtol=rounding)
    assert not units[1].any()
    np.testing.assert_allclose(units[sizes > 0], pattern[[0] * 8] / 1.5, rtol=rounding)


@pytest.mark.usefixtures("instructions")
def test_nan_is_not_hidden():
    X = CompressedRows(sparse.csr_array(np.array([[np.nan, 1.0], [1.0, 1.0]])))
    with np.errstate(invalid="ignore"):
        units, lengths = X.unit_times(np.ones((2, 3)))
    assert np.isnan(units[0]).all()
    assert np.isnan(lengths[0])
    np.testing.assert_allclose(lengths[1], 2 * math.sqrt(3))


@pytest.mark.usefixtures("instructions")
@pytest.mark.parametrize(
    ("n", "m", "r"), [(0, 4, 3), (0, 0, 2), (3, 0, 2), (3, 4, 0), (1, 4, 3), (1, 1, 1)]
)
def test_empty_and_single(n, m, r, float_type):
    X = sparse.csr_array(np.ones((n, m), dtype=float_type))
    B = np.ones((m, r), dtype=float_type)
    compressed = CompressedRows(X)
    np.testing.assert_array_equal(compressed.times(B), np.full((n, r), m))
    units, lengths = compressed.unit_times(B, scale=np.ones(n), shift=np.zeros(r))
    assert units.shape == (n, r)
    np.testing.assert_allclose(lengths, np.full(n, m * math.sqrt(r)))
    turned = compressed.transposed().times(np.ones((n, r), dtype=float_type))
    np.testing.assert_array_equal(turned, np.full((m, r), n))


@pytest.mark.usefixtures("instructions", "many_calls")
def test_rows_without_numbers(float_type):
    X = CompressedRows(sparse.csr_array((50, 9), dtype=float_type))
    units, lengths = X.unit_times(np.ones((9, 4), dtype=float_type))
    assert not units.any()
    assert not lengths.any()
    with parallel(2):
        np.testing.assert_array_equal(X.times(np.ones((9, 4)), shift=np.ones(4)), -np.ones((50, 4)))


@pytest.mark.usefixtures("instructions")
def test_a_million_equal_numbers_keep_their_digits(csr):
    """In float32 alone rounding errors of one sign add up to half the digits."""
    n = 1_000_000
    X = csr((1, n), [0, n], np.arange(n), np.full(n, 0.1, dtype=np.float32))
    B = np.repeat(np.float32([[1, -1, 3, 0.7, 2]]), n, axis=0)
    expected = n * np.float64(np.float32(0.1)) * B[:1].astype(np.float64)
    found = CompressedRows(X).times(B)
    # Sums of 1024 equal terms are off by a hundred roundings; of a million by some ten thousand.
    np.testing.assert_allclose(found, expected, rtol=2e-5)


@pytest.mark.usefixtures("instructions")
def test_sums_of_sums_are_exact(csr):
    """Of 1024 terms all bits fit into float32, of three million they fit into float64."""
    n, value = 3_000_000, np.float32(1 + 2**-13)
    X = csr((1, 1), [0, n], np.zeros(n), np.full(n, value))
    found = CompressedRows(X).times(np.ones((1, 1), dtype=np.float32))
    assert found[0, 0] == np.float32(n * np.float64(value))


@pytest.mark.usefixtures("instructions")
@pytest.mark.parametrize("terms", [1023, 1024, 1025, 2048, 5000])
def test_long_rows_amid_short_ones(terms, csr, assert_product, float_type, index_type):
    rng = np.random.default_rng(terms)
    counts = np.array([0, 3, terms, 0, 1, terms + 1, 0])
    pointer = np.append(0, np.cumsum(counts))
    indices = rng.integers(30, size=pointer[-1])  # with repetitions, in no order
    values = rng.standard_normal(pointer[-1]).astype(float_type)
    X = csr((len(counts), 30), pointer, indices, values, index_type)
    B = rng.standard_normal((30, 13)).astype(float_type)
    assert_product(CompressedRows(X).times(B), X, B)


@pytest.mark.usefixtures("instructions")
def test_unsorted_and_repeated_indices_are_added_up(csr, float_type, index_type):
    X = csr((2, 4), [0, 5, 5], [3, 0, 3, 1, 0], np.arange(1.0, 6).astype(float_type), index_type)
    B = np.eye(4, dtype=float_type)
    np.testing.assert_array_equal(CompressedRows(X).times(B), [[7, 4, 0, 4], [0, 0, 0, 0]])
    np.testing.assert_array_equal(
        CompressedRows(X).transposed().times(np.eye(2, dtype=float_type)),
        [[7, 0], [4, 0], [0, 0], [4, 0]],
    )


@pytest.mark.usefixtures("instructions", "many_calls")
@pytest.mark.parametrize("shape", [(300, 40), (3, 1000), (0, 5), (5, 0)])
def test_a_transposed_copy_is_scipys(shape, float_type, index_type, rng):
    X = sparse.random_array(shape, density=0.2, format="csr", rng=rng, dtype=float_type)
    X.indices = X.indices.astype(index_type)
    expected = X.T.tocsr()
    with parallel(2):
        turned = CompressedRows(X).transposed()
    assert turned.shape == expected.shape
    np.testing.assert_array_equal(turned.pointer, expected.indptr)
    np.testing.assert_array_equal(turned.indices, expected.indices)
    np.testing.assert_array_equal(turned.values, expected.data)


@pytest.mark.usefixtures("instructions", "many_calls")
def test_a_column_twice_in_a_row_is_seen(csr, float_type, index_type):
    pointer, numbers = np.arange(0, 303, 3), np.ones(300, dtype=float_type)
    indices = np.tile([7, 2, 5], 100)
    shape = (100, 9)
    assert not CompressedRows(csr(shape, pointer, indices, numbers, index_type)).repeats()
    for k in (0, 150, 297):
        again = indices.copy()
        again[k + 2] = 7
        assert CompressedRows(csr(shape, pointer, again, numbers, index_type)).repeats()


@pytest.mark.usefixtures("instructions")
def test_arrays_that_are_too_short_are_refused(text):
    """The kernels would read beyond them."""
    X = CompressedRows(text())
    n, m = X.shape
    for lengths in ((m - 1, n, 3), (m + 1, n, 3), (m, n - 1, 3), (m, n, 2)):
        B, scale, shift = np.ones((lengths[0], 3)), np.ones(lengths[1]), np.ones(lengths[2])
        with pytest.raises(ValueError, match=r"Expected an array of length \d+, got \d+"):
            X.times(B, scale, shift)


@pytest.mark.usefixtures("instructions")
def test_arrays_of_every_make(text, float_type, rng):
    """Read-only, big-endian, not contiguous, of another type: the same bits, nothing changed."""
    X = text(dtype=float_type)
    B = rng.standard_normal((X.shape[1], 14)).astype(float_type)
    scale = rng.random(X.shape[0]).astype(float_type)
    expected = CompressedRows(X).times(B, scale=scale)
    for array in (X.data, X.indices, X.indptr, B, scale):
        array.flags.writeable = False
    strided = np.empty((2 * len(B), 28), dtype=float_type)[::2, ::2]
    strided[:] = B
    foreign = X.copy()
    foreign.data = X.data.astype(X.data.dtype.newbyteorder(">"))
    foreign.indices = X.indices.astype(">i4")
    foreign.indptr = X.indptr.astype(">i8")
    for matrix in (X, foreign):
        for dense in (B, np.asfortranarray(B), strided, B[::-1][::-1], B.astype(">f8")):
            found = CompressedRows(matrix).times(dense, scale=scale.astype(">f8"))
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == float_type


@pytest.mark.usefixtures("instructions")
def test_a_view_amid_other_numbers(text, rng):
    """Blocks are views of a larger matrix: memory that begins anywhere."""
    X = text()
    for k in range(1, 9):
        memory = rng.standard_normal(X.shape[1] * 9 + k)
        B = memory[k:].reshape(-1, 9)
        np.testing.assert_allclose(CompressedRows(X).times(B), X @ B, atol=1e-12)


@pytest.mark.usefixtures("instructions", "many_calls")
def test_threads_change_no_bit(text, float_type, rng):
    X = CompressedRows(text(n=200, dtype=float_type))
    B = rng.standard_normal((X.shape[1], 19)).astype(float_type)
    shift = rng.standard_normal(19)
    expected = X.unit_times(B, shift=shift)
    for threads in (1, 2, 4, 7):
        with parallel(threads):
            for found, one in zip(X.unit_times(B, shift=shift), expected, strict=True):
                np.testing.assert_array_equal(found, one)


@pytest.mark.usefixtures("instructions", "many_calls")
def test_threads_that_call_at_once(text, rng):
    """Each with separate threads; the same matrix, different right-hand sides."""
    X = CompressedRows(text(n=300))
    sides = [rng.standard_normal((X.shape[1], r)) for r in range(1, 25)]
    expected = [X.times(B) for B in sides]
    ready = threading.Barrier(4)

    def all_products(first):
        ready.wait()
        with parallel(2):
            return [(k, X.times(sides[k])) for k in range(first, len(sides), 4) for _ in range(5)]

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(all_products, range(4)):
            for k, product in found:
                np.testing.assert_array_equal(product, expected[k])


CHILD = """
import os, sys
import numpy as np
from scipy import sparse
from sphericalpca.kernels import CompressedRows, instruction_set, rows
from sphericalpca.parallel import parallel

def product():
    rng = np.random.default_rng(0)
    X = CompressedRows(sparse.random_array((500, 300), density=0.1, rng=rng, format="csr"))
    with parallel(2):
        return X.times(rng.standard_normal((300, 23))).tobytes()

def told(queue):
    queue.put((instruction_set(), product()))
"""

SPAWNED = """
import multiprocessing
from child import product, told
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=told, args=(queue,))
    process.start()
    name, found = queue.get(timeout=60)
    process.join()
    print(name, found == product())
"""

FORKED = """
import threading
from child import product, instruction_set, os
expected = product()
stop = threading.Event()
def busy():
    while not stop.is_set(): product()
other = threading.Thread(target=busy)
other.start()
read, write = os.pipe()
child = os.fork()
if child == 0:
    os.write(write, f"{instruction_set()} {product() == expected}".encode())
    os._exit(0)
os.close(write)
print(os.read(read, 100).decode())
os.waitpid(child, 0)
stop.set()
other.join()
"""


@pytest.mark.parametrize("program", [SPAWNED, FORKED], ids=["spawned", "forked while others work"])
def test_processes(program, instructions, tmp_path):
    (tmp_path / "child.py").write_text(CHILD)
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.split() == [instructions, "True"], done.stderr


# One product of ten seconds or more.
LARGE = """
import numpy as np
from scipy import sparse
from sphericalpca.kernels import CompressedRows
from sphericalpca.parallel import parallel

n, terms, columns, r = 2000, 5000, 50, 8192
X = sparse.csr_array((n, columns), dtype=np.float32)
X.data = np.ones(n * terms, dtype=np.float32)
X.indices = np.random.default_rng(0).integers(columns, size=n * terms, dtype=np.int32)
X.indptr = np.arange(n + 1, dtype=np.int32) * terms
B = np.ones((columns, r), dtype=np.float32)
with parallel(2):
    print("begun", flush=True)
    CompressedRows(X).times(B)
print("finished")
"""


@pytest.mark.slow("a product of ten seconds that is interrupted")
@pytest.mark.usefixtures("instructions")
def test_ctrl_c_is_answered_within_a_product(ctrl_c):
    command = [sys.executable, "-c", LARGE]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    out, error = ctrl_c(process)
    assert "KeyboardInterrupt" in error
    assert "finished" not in out
    assert process.returncode


@pytest.mark.usefixtures("instructions")
def test_calls_keep_their_arrays_alive(monkeypatch):
    """After Ctrl-C the caller may be gone while another thread is still inside a kernel."""
    calls, spread = [], rows.spread_runs

    def noted(call, runs):
        calls.append(call)
        return spread(call, runs)

    monkeypatch.setattr(rows, "spread_runs", noted)
    X = sparse.random_array((40, 30), density=0.3, format="csr", rng=np.random.default_rng(0))
    B, compressed = np.ones((30, 8)), CompressedRows(X)
    out, turned = compressed.times(B), compressed.transposed()
    arrays = [B, out, compressed.pointer, compressed.indices, compressed.values]
    arrays += [turned.indices, turned.values]
    kept = [weakref.ref(array if array.base is None else array.base) for array in arrays]
    del X, B, compressed, out, turned, arrays
    gc.collect()
    assert len(calls) == 3
    assert all(reference() is not None for reference in kept)
