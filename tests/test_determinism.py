"""The same answer every time: in other processes, in many threads, on many threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from sphericalpca import SphericalPCA, open_rows
from sphericalpca.registry.solvers import SOLVERS


def run(code, *arguments, **environment):
    """The output of a new process; its BLAS has one thread by default."""
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
    X = rng.standard_normal((300, 30)) * np.linspace(2, 1, 30)
    cases = {
        "double": X,
        "single": X.astype(np.float32),
        "sparse": sparse.csr_array(np.where(X > 0.8, X, 0.0)),
        "wide": np.tile(X[:60], (1, 40)),  # its SVD start is a randomized one
    }
    for name, data in cases.items():
        for solver in SOLVERS:
            for init in ("auto", "random"):
                options = {"solver": solver, "init": init, "n_init": 2, "max_iter": 4, "tol": 0.0}
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
    # The order of sets and dicts must not matter either.
    assert run(PRINT, PYTHONHASHSEED="1").splitlines() == here


# --------------------------------------------------------------------------- any number of threads


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(8)
    return rng.standard_normal((4000, 40)) * np.linspace(2, 1, 40)


@pytest.mark.parametrize("kind", ["double", "single", "sparse", "file"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_loss_is_the_same_to_1e_6_on_any_number_of_threads(X, kind, tmp_path):
    np.save(tmp_path / "X.npy", X)
    data = {
        "double": X,
        "single": X.astype(np.float32),
        "sparse": sparse.csr_array(np.where(X > 0.8, X, 0.0)),
        "file": open_rows(tmp_path / "X.npy"),
    }[kind]
    for solver in SOLVERS:
        losses = []
        for threads in (1, 2, 7):
            with threadpool_limits(threads, user_api="blas"):
                options = {"tol": 1e-4, "max_iter": 15, "random_state": 0}
                losses.append(SphericalPCA(3, solver=solver, **options).fit(data).loss_)
        np.testing.assert_allclose(losses, losses[0], rtol=1e-6, err_msg=solver)


# ------------------------------------------------------------- transform by many at the same time


@pytest.mark.parametrize("kind", ["dense", "sparse", "file"])
def test_16_threads_transform_at_once(X, kind, tmp_path):
    """Each gets the same result as alone, bit for bit."""
    kinds = {"dense": np.ascontiguousarray, "sparse": sparse.csr_array}
    model, data = SphericalPCA(5, random_state=0).fit(X), []
    for k in range(16):
        part = X[200 * k : 200 * k + 700 + k]
        if kind == "file":
            np.save(tmp_path / f"{k}.npy", part)
        data.append(open_rows(tmp_path / f"{k}.npy") if kind == "file" else kinds[kind](part))
    alone = [model.transform(part) for part in data]
    barrier = threading.Barrier(16, timeout=60)

    def work(part):
        barrier.wait()
        return [model.transform(part) for _ in range(4)]

    with ThreadPoolExecutor(16) as pool:
        for expected, found in zip(alone, pool.map(work, data), strict=True):
            for V in found:
                assert V.tobytes() == expected.tobytes()


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


@pytest.mark.parametrize("what", ["import sphericalpca", EVERYTHING], ids=["package", "all_rooms"])
def test_import_has_no_side_effects(what):
    """Of all rooms but the command, whose libraries have their own ways."""
    run(IMPORT, what, PYTHONDONTWRITEBYTECODE="1")


def test_side_effects_would_be_seen():
    for effect in ("import os; os.environ['A_NAME'] = '1'", "import tempfile; tempfile.mkdtemp()"):
        with pytest.raises(AssertionError, match="AssertionError"):
            run(IMPORT, effect)
