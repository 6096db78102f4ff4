"""Threads: how many, that they leave nothing behind, and that results do not depend on them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from sphericalpca import DataError, SphericalKMeans, SphericalPCA, products
from sphericalpca import parallel as parallel_module
from sphericalpca.parallel import (
    allowed_threads,
    parallel,
    spread,
    spread_runs,
    workers,
)
from sphericalpca.problem import Problem
from sphericalpca.products import combination, inner_products, product, scalar_products
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.rows import as_rows
from sphericalpca.solvers import Alternating, solve

EXACT = [entry.load()() for entry in SOLVERS.values() if not entry.moves_pairs]


class _Libraries(NamedTuple):
    lib_controllers: list


def _blas_threads():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


@pytest.fixture(params=[1, 2, 5])
def threads(request):
    with threadpool_limits(request.param, user_api="blas"):
        yield request.param


@pytest.fixture
def three_threads():
    with threadpool_limits(3, user_api="blas"):
        yield


@pytest.fixture
def _no_product_is_small(monkeypatch):
    monkeypatch.setattr(products, "SMALL_PRODUCT", 0)
    monkeypatch.setattr(products, "PIECE", 7)


# How many threads there are.


def test_there_are_as_many_threads_as_blas_may_use_and_blas_then_has_one(threads):
    assert allowed_threads() == threads
    assert workers() == 1
    with parallel():
        assert allowed_threads() == workers() == threads
        assert _blas_threads() == {1}
        for count in (0, 1, 2, 17):
            assert spread(lambda k: k * k, range(count)) == [k * k for k in range(count)]
        runs = [[3, 1], [], [4], [1, 5, 9]]
        assert spread_runs(lambda k: k * k, runs) == [[9, 1], [], [16], [1, 25, 81]]
    assert workers() == 1
    assert _blas_threads() == {threads}
    # As many as are asked for, whatever BLAS may use; a context within another changes nothing.
    for wanted in (1, 2, 4):
        with parallel(wanted):
            with parallel(7):
                assert workers() == allowed_threads() == wanted
            assert (workers(), _blas_threads()) == (wanted, {1})
            names = spread(lambda _: threading.current_thread().name, range(3))
            # The caller does its share, and others do the rest.
            assert names[0] == threading.current_thread().name
            assert len(set(names)) <= wanted
        assert (workers(), allowed_threads()) == (1, threads)
        assert _blas_threads() == {threads}


FAILS, WORKS = range(10), range(10, 5000)


@pytest.mark.parametrize(
    ("threads", "runs"), [(1, [FAILS, WORKS]), (2, [FAILS, WORKS]), (2, [WORKS, FAILS])]
)
def test_an_error_in_one_run_ends_the_others(threads, runs):
    """Also while the caller still waits for another."""
    made = []

    def fail_at_five(k):
        made.append(k)
        time.sleep(0.001)
        if k == 5:
            raise ZeroDivisionError

    with parallel(threads), pytest.raises(ZeroDivisionError):
        spread_runs(fail_at_five, runs)
    assert WORKS[-1] not in made


def test_items_run_at_the_same_time_within_a_context_only(three_threads):
    meeting = threading.Barrier(3, timeout=20)  # passes only if three wait together
    with parallel():
        names = spread(lambda _: (meeting.wait(), threading.get_ident())[1], range(3))
    assert len(set(names)) == 3
    assert set(spread(lambda _: threading.get_ident(), range(4))) == {threading.get_ident()}


# Nothing is left behind.


class _Failing(Alternating):
    """A solver that gives up in its first step."""

    def __init__(self, error):
        self.error = error

    def step(self, problem, state):
        raise self.error


def _raise(progress):
    raise ZeroDivisionError


FAILURES = [
    (DataError, lambda X: SphericalPCA().fit(np.where(X > 20, np.nan, X))),
    (OSError, lambda X: SphericalPCA(solver=_Failing(OSError())).fit(X)),
    (KeyboardInterrupt, lambda X: SphericalPCA(solver=_Failing(KeyboardInterrupt())).fit(X)),
    (ZeroDivisionError, lambda X: SphericalPCA().fit(X, progress=_raise)),
    (DataError, lambda X: SphericalPCA().fit(X).transform(X[:, :3])),
    (DataError, lambda X: SphericalPCA().partial_fit(np.inf * X)),
    (DataError, lambda X: SphericalKMeans(2).fit(0 * X)),
]


@pytest.mark.usefixtures("three_threads")
@pytest.mark.parametrize(("error", "call"), FAILURES)
def test_after_an_error_blas_and_threads_are_as_they_were(watched, error, call, rng):
    with pytest.raises(error):
        call(rng.standard_normal((2000, 80)) * np.linspace(9, 1, 80))
    assert not watched()
    assert _blas_threads() == {3}


@pytest.mark.usefixtures("three_threads")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_after_every_method_blas_and_threads_are_as_they_were(watched, rng):
    X, seen = rng.standard_normal((2000, 80)) * np.linspace(9, 1, 80), []
    model = SphericalPCA(3, max_iter=5).fit(X, progress=lambda progress: seen.extend(watched()))
    assert seen  # else nothing would be said by what follows
    for call in (
        lambda: model.transform(X),
        lambda: model.score(X),
        lambda: model.certify(X),
        lambda: model.inverse_transform(X[:, :3]),
        lambda: SphericalPCA(2).partial_fit(X),
        lambda: SphericalKMeans(2, n_init=1, max_iter=2).fit(X),
    ):
        call()
        assert not watched()
        assert _blas_threads() == {3}


def test_the_last_of_two_who_overlap_puts_the_setting_back(three_threads):
    """A comes, B comes, A goes, B goes: neither restores the one thread of the other."""
    seen, b_came, a_went = [], threading.Event(), threading.Event()

    def second():
        with parallel():
            seen.append(workers())
            b_came.set()
            assert a_went.wait(20)
            seen.append((allowed_threads(), _blas_threads()))

    other = threading.Thread(target=second)
    with parallel():
        other.start()
        assert b_came.wait(20)
    a_went.set()
    other.join(20)
    assert seen == [3, (3, {1})]
    assert _blas_threads() == {3}


class _OpenMPLibrary(threading.local):
    """A BLAS with OpenMP inside, such as faiss brings along: a setting for each thread."""

    threading_layer = "openmp"
    number = 2

    def get_num_threads(self):
        return self.number

    def set_num_threads(self, number):
        self.number = number


def test_with_openmp_everyone_puts_their_own_setting_back(monkeypatch):
    library = _OpenMPLibrary()
    monkeypatch.setattr(ThreadpoolController, "select", lambda *_, **__: _Libraries([library]))
    blas = parallel_module._Blas()
    monkeypatch.setattr(parallel_module, "_blas", lambda _: blas)
    library.number = 3
    with parallel():
        assert [workers(), library.number, *spread(lambda _: library.number, "ab")] == [3, 1, 1, 1]
    assert library.number == 3


FORKED = """
import os, threading
import numpy as np
from threadpoolctl import threadpool_limits
from sphericalpca import SphericalPCA
from sphericalpca.parallel import parallel

X = np.random.default_rng(0).standard_normal((2000, 80)) * np.linspace(9, 1, 80)

def fit():
    return SphericalPCA(3).fit(X).mean_cosine_

def busy():
    while not stop.is_set():
        fit()

def same_in_a_child():
    child = os.fork()
    if child == 0:
        os._exit(0 if abs(fit() - expected) < 1e-9 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

threadpool_limits(2, user_api="blas")
expected = fit()
same_in_a_child()
with parallel():
    fit()  # starts threads of the context, which the child inherits without the threads
    same_in_a_child()
# Forks are made while another thread fits, too.
stop, other = threading.Event(), threading.Thread(target=busy)
other.start()
try:
    for _ in range(4):
        same_in_a_child()
finally:
    stop.set()
    other.join()
assert abs(fit() - expected) < 1e-12
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_can_fit():
    command = [sys.executable, "-W", "ignore", "-c", FORKED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_many_fits_and_transforms_at_once_give_what_each_gives_alone(rng, watched):
    data = [rng.standard_normal((1500, 80)) * np.linspace(9, 1, 80) for _ in range(6)]

    def fit(X):
        model = SphericalPCA(2).fit(X)
        return model.components_, *(model.transform(X) for _ in range(3))

    with threadpool_limits(2, user_api="blas"):
        alone = list(map(fit, data))
        with ThreadPoolExecutor(6) as pool:
            together = list(pool.map(fit, data))
        assert not watched()
        assert _blas_threads() == {2}
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_allclose(one[1:], other[1:], atol=1e-12)


# Results.


@pytest.mark.usefixtures("_no_product_is_small")
@pytest.mark.parametrize("height", [1, 2, 40])
def test_tall_products_are_those_of_numpy(threads, float_type, height, rng):
    A, B = (rng.standard_normal((height, c)).astype(float_type) for c in (4, 3))
    C, factors = rng.standard_normal((4, 2)).astype(float_type), rng.standard_normal(3)
    many = [rng.standard_normal((height, 4)).astype(float_type) for _ in factors]
    close = {"rtol": 0, "atol": 100 * np.finfo(float_type).eps}
    with parallel():
        found = [product(A, C), inner_products(A, B), combination(factors, many)]
        products = scalar_products(A, many)
    expected = [A @ C, A.T @ B, sum(f * M for f, M in zip(factors, many, strict=True))]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, **close)
        assert one.dtype == float_type
    np.testing.assert_allclose(products, [(A * M).sum() for M in many], **close)
    assert products.dtype == np.float64


def _solve(X, solver, threads):
    options = {"tol": 0.0, "max_iter": 8, "rng": np.random.default_rng(0)}
    with threadpool_limits(threads, user_api="blas"):
        problem = Problem(as_rows(X, block_rows=13))
        assert len(problem.rows.parts(threads)) == threads
        return solve(problem, 3, solver=solver, **options).solution


@pytest.mark.usefixtures("_no_product_is_small")
@pytest.mark.parametrize("solver", EXACT, ids=lambda solver: type(solver).__name__)
def test_runs_differ_by_rounding_on_any_number_of_threads_and_not_at_all_on_as_many(
    solver, layout, float_type, rng
):
    X = rng.standard_normal((150, 12)) * np.linspace(3.0, 1.0, 12) * (rng.random((150, 12)) < 0.7)
    X = (sparse.csr_array(X) if layout == "csr" else X).astype(float_type)
    alone, rel = _solve(X, solver, 1), 1e-12 if float_type == np.float64 else 1e-5
    for threads in (2, 5):
        one, other = (_solve(X, solver, threads) for _ in range(2))
        assert one.value == pytest.approx(alone.value, rel=rel)
        assert one.U.tobytes() == other.U.tobytes()
        assert one.history["loss"].tobytes() == other.history["loss"].tobytes()
