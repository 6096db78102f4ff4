"""The same answer every time: in other processes, in many threads, on many threads."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from sphericalpca import DataError, SphericalKMeans, SphericalPCA, open_rows
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.solvers import Alternating


def run(code, *arguments, **environment):
    """What a new process prints; its BLAS has one thread unless told otherwise."""
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, **one, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ------------------------------------------------------------------ one thread: to the last bit

FITS = """
import hashlib, warnings
import numpy as np
from scipy import sparse
from sphericalpca import SphericalPCA
from sphericalpca.registry.solvers import SOLVERS

warnings.simplefilter("ignore")

def digests():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 30)) * np.linspace(2, 1, 30)
    cases = {
        "double": X,
        "single": X.astype(np.float32),
        "sparse": sparse.csr_array(np.where(X > 0.8, X, 0.0)),
        "wide": np.tile(X[:60], (1, 40)),  # its SVD start is a randomized one
    }
    for name, data in cases.items():
        for solver in SOLVERS:
            for init in ("auto", "random"):
                options = {"solver": solver, "init": init, "n_init": 2, "max_iter": 5, "tol": 0.0}
                model = SphericalPCA(3, random_state=4, **options).fit(data)
                content = model.components_.tobytes() + model.transform(data).tobytes()
                content += model.history_["loss"].tobytes()
                yield f"{name} {solver} {init} {hashlib.sha256(content).hexdigest()}"
"""
PRINT = FITS + "\nprint(*digests(), sep='\\n')"


def test_same_seed_same_bits_here_and_in_other_processes():
    space = {}
    exec(FITS, space)
    with threadpool_limits(1):
        here = list(space["digests"]())
        assert list(space["digests"]()) == here
    for seed in ("1", "2"):  # the order of sets and dicts must not matter either
        assert run(PRINT, PYTHONHASHSEED=seed).splitlines() == here


def test_another_seed_is_another_start():
    """Else the test above could not fail."""
    X = np.random.default_rng(0).standard_normal((60, 8))
    options = {"init": "random", "max_iter": 1, "tol": 0.0}
    with pytest.warns(match="did not converge in 1 iteration "):
        one, other = (SphericalPCA(random_state=s, **options).fit(X).loss_ for s in (0, 1))
    assert one != other


# --------------------------------------------------------------------------- any number of threads


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(8)
    return rng.standard_normal((4000, 40)) * np.linspace(2, 1, 40)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["double", "single", "sparse", "file"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_loss_is_the_same_to_1e_6_on_any_number_of_threads(X, solver, kind, tmp_path):
    np.save(tmp_path / "X.npy", X)
    data = {
        "double": X,
        "single": X.astype(np.float32),
        "sparse": sparse.csr_array(np.where(X > 0.8, X, 0.0)),
        "file": open_rows(tmp_path / "X.npy"),
    }[kind]
    losses = []
    for threads in (1, 2, 7, 16):
        with threadpool_limits(threads, user_api="blas"):
            model = SphericalPCA(3, solver=solver, tol=1e-4, max_iter=60, random_state=0).fit(data)
        losses.append(model.loss_)
    np.testing.assert_allclose(losses, losses[0], rtol=1e-6)


# ------------------------------------------------------------- transform by many at the same time


@pytest.fixture(scope="module")
def model(X):
    return SphericalPCA(5, random_state=0).fit(X)


@pytest.mark.parametrize("kind", ["dense", "sparse", "file"])
def test_16_threads_transform_at_once(X, model, kind, tmp_path):
    """Each gets what it would get alone, to the last bit, and nothing is left behind."""
    kinds = {"dense": np.ascontiguousarray, "sparse": sparse.csr_array}
    data = []
    for k in range(16):
        part = X[200 * k : 200 * k + 700 + k]
        if kind == "file":
            np.save(tmp_path / f"{k}.npy", part)
        data.append(open_rows(tmp_path / f"{k}.npy") if kind == "file" else kinds[kind](part))
    alone = [model.transform(part) for part in data]
    before, barrier = set(threading.enumerate()), threading.Barrier(16, timeout=60)

    def work(part):
        barrier.wait()
        return [model.transform(part) for _ in range(4)]

    with ThreadPoolExecutor(16) as pool:
        for expected, found in zip(alone, pool.map(work, data), strict=True):
            for V in found:
                assert V.tobytes() == expected.tobytes()
    assert set(threading.enumerate()) == before


def test_threads_fit_and_transform_at_once(X, model):
    """A fit changes how many threads BLAS has; who transforms meanwhile need not know."""
    expected = model.transform(X[:900])

    def work(k):
        if k % 4 == 0:
            SphericalPCA(2, random_state=0).fit(X[k : k + 1500])
        return model.transform(X[:900])

    with threadpool_limits(2, user_api="blas"):
        with ThreadPoolExecutor(16) as pool:
            for found in pool.map(work, range(32)):
                np.testing.assert_allclose(found, expected, atol=1e-12)
        assert _blas_threads() == {2}


PROCESSES = """
import hashlib, multiprocessing, sys, threading
import numpy as np
from sphericalpca import SphericalPCA

X = np.random.default_rng(0).standard_normal((900, 20))
model = SphericalPCA(3, random_state=0).fit(X)

def digest(k):
    return hashlib.sha256(model.transform(X[k:]).tobytes()).hexdigest()

def busy(stop):
    while not stop.is_set():
        SphericalPCA(2).fit(X)

if __name__ == "__main__":
    expected = list(map(digest, range(12)))
    # Forks are made while other threads of this process fit.
    stop = threading.Event()
    count = 2 * (sys.argv[1] == "fork")
    others = [threading.Thread(target=busy, args=(stop,)) for _ in range(count)]
    for thread in others:
        thread.start()
    try:
        with multiprocessing.get_context(sys.argv[1]).Pool(3) as pool:
            found = pool.map_async(digest, range(12), chunksize=1).get(timeout=200)
    finally:
        stop.set()
        for thread in others:
            thread.join()
    assert found == expected
    print("same")
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_transform_at_once(method, tmp_path):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {method}")
    script = tmp_path / "processes.py"
    script.write_text(PROCESSES)
    # Spawned children import the script by its path, so it is run as one.
    done = subprocess.run(
        [sys.executable, str(script), method],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2", "PYTHONWARNINGS": "ignore"},
    )
    assert done.stdout == "same\n", done.stderr


# ----------------------------------------------------------- the caller's setting is left as found


def _blas_threads():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


class _Failing(Alternating):
    """A solver that gives up in its first step."""

    def step(self, problem, state):
        raise ArithmeticError("of the solver")


class _Interrupted(Alternating):
    def step(self, problem, state):
        raise KeyboardInterrupt


def _raise(progress):
    raise ZeroDivisionError("of the caller")


FAILURES = {
    "bad data": (DataError, lambda X: SphericalPCA().fit(np.where(X > 3, np.nan, X))),
    "no rows": (DataError, lambda X: SphericalPCA().fit(X[:0])),
    "bad weights": (DataError, lambda X: SphericalPCA().fit(X, sample_weight=-X[:, 0])),
    "too many components": (DataError, lambda X: SphericalPCA(41).fit(X)),
    "all rows zero": (DataError, lambda X: SphericalPCA().fit(0 * X)),
    "a solver's error": (ArithmeticError, lambda X: SphericalPCA(solver=_Failing()).fit(X)),
    "a caller's error": (ZeroDivisionError, lambda X: SphericalPCA().fit(X, progress=_raise)),
    "control-C": (KeyboardInterrupt, lambda X: SphericalPCA(solver=_Interrupted()).fit(X)),
    "other features": (DataError, lambda X: SphericalPCA().fit(X).transform(X[:, :3])),
    "a bad batch": (DataError, lambda X: SphericalPCA().partial_fit(X / 0.0)),
    "a rival's error": (DataError, lambda X: SphericalKMeans(2).fit(0 * X)),
}


@pytest.mark.parametrize("failure", FAILURES, ids=lambda name: name.replace(" ", "_"))
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_after_an_error_blas_and_threads_are_as_they_were(X, failure):
    error, call = FAILURES[failure]
    before = set(threading.enumerate())
    with threadpool_limits(3, user_api="blas"):
        with pytest.raises(error):
            call(X)
        assert _blas_threads() == {3}
    assert set(threading.enumerate()) == before


@pytest.mark.parametrize(
    "call",
    [
        lambda model, X: model.transform(X),
        lambda model, X: model.score(X),
        lambda model, X: model.certify(X),
        lambda model, X: model.inverse_transform(X[:, :5]),
        lambda model, X: SphericalPCA(2).partial_fit(X),
        lambda model, X: SphericalKMeans(2, n_init=1).fit(X),
    ],
    ids=["transform", "score", "certify", "inverse_transform", "partial_fit", "SphericalKMeans"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_after_every_method_blas_is_as_it_was(X, model, call):
    with threadpool_limits(3, user_api="blas"):
        call(model, X)
        assert _blas_threads() == {3}


# ------------------------------------------------------------------------------------------- import

IMPORT = """
import atexit, gc, locale, logging, os, pkgutil, random, signal, sys, threading, warnings
import numpy as np
import scipy.linalg, scipy.optimize, scipy.sparse.linalg, scipy.stats
import sklearn.base, sklearn.exceptions, sklearn.utils.validation
from threadpoolctl import threadpool_info
try:
    import sklearn.callback
except ImportError:
    pass
np.ones((2, 2)) @ np.ones((2, 2))

def folder(name):
    return sorted(os.listdir(name)) if os.path.isdir(name) else []

def state():
    return {
        "threads": [thread.name for thread in threading.enumerate()],
        "threads of the system": len(folder("/proc/self/task")),
        "open files": len(folder("/proc/self/fd")),
        "warnings": list(warnings.filters),
        "environment": dict(os.environ),
        "working folder": os.getcwd(),
        "random numbers": (random.getstate(), repr(np.random.get_state())),
        "numpy errors": (np.geterr(), np.geterrcall(), np.get_printoptions()),
        "blas": [(info["filepath"], info["num_threads"]) for info in threadpool_info()],
        "signals": [signal.getsignal(number) for number in signal.valid_signals()],
        "logging": (logging.root.level, logging.root.handlers[:]),
        "exit": atexit._ncallbacks(),
        "collector": (gc.isenabled(), gc.get_threshold()),
        "hooks": (sys.excepthook, sys.displayhook, threading.excepthook, sys.path_hooks[:]),
        "path": sys.path[:],
        "locale": locale.setlocale(locale.LC_ALL),
        "recursion": sys.getrecursionlimit(),
    }

seen, watched = [], ("socket.", "subprocess.", "os.mkdir", "os.remove", "os.rename", "os.fork")
def watch(event, arguments):
    if event.startswith(watched) or event in ("os.system", "os.exec", "os.putenv"):
        seen.append(event)
    if event == "open":
        path, mode = str(arguments[0]), str(arguments[1])
        writes = any(letter in mode for letter in "wax+") and not path.endswith(".pyc")
        if writes and "__pycache__" not in path:
            seen.append(f"{event} {path} {mode}")

before = state()
sys.addaudithook(watch)
exec(sys.argv[1])
watched = ("nothing more",)
after = state()
for name in before:
    assert before[name] == after[name], (name, before[name], after[name])
assert not seen, seen
"""

EVERYTHING = """
import importlib, pkgutil
import sphericalpca
for found in pkgutil.walk_packages(sphericalpca.__path__, "sphericalpca."):
    if not found.name.endswith("__main__") and ".cli" not in found.name:
        importlib.import_module(found.name)
"""


def test_import_has_no_side_effects():
    run(IMPORT, "import sphericalpca", PYTHONDONTWRITEBYTECODE="1")


def test_import_of_all_rooms_but_the_command_has_no_side_effects():
    """The command's libraries have their own ways."""
    run(IMPORT, EVERYTHING, PYTHONDONTWRITEBYTECODE="1")


@pytest.mark.parametrize(
    "effect",
    [
        "import os; os.environ['A_NAME'] = '1'",
        "import warnings; warnings.simplefilter('ignore')",
        "import threading, time; threading.Thread(target=time.sleep, args=(2,)).start()",
        "import tempfile; tempfile.mkdtemp()",
    ],
)
def test_side_effects_would_be_seen(effect):
    with pytest.raises(AssertionError, match="AssertionError"):
        run(IMPORT, effect)
