"""A small zoo of problems, the solvers to try on them, and plain numpy to compare with.

Tests are imported one by one and cannot import each other, so what they share is here,
as fixtures.
"""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from sphericalpca import parallel
from sphericalpca.iterate import Monitor
from sphericalpca.problem import Problem
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.rows import as_rows, reading
from sphericalpca.solvers import Linearized, Subspace, solve


@dataclass(frozen=True)
class Case:
    """One problem: data, number of components, and how to read the rows.

    `smooth` says that every step is determined: no projection vanishes on the way, and no
    U step has several solutions.
    """

    X: np.ndarray
    r: int
    weight: np.ndarray | None = None
    normalize: bool = True
    smooth: bool = True

    @property
    def w(self) -> np.ndarray:
        return np.ones(len(self.X)) if self.weight is None else self.weight


def _spiked(n, m, r, noise, seed):
    rng = np.random.default_rng(seed)
    spread = np.linspace(2.0, 1.0, r)
    low = (rng.standard_normal((n, r)) * spread) @ rng.standard_normal((r, m))
    return low + noise * rng.standard_normal((n, m))


def _text(n, m, seed):
    """Mostly zeros, no negative numbers, no empty row."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, size=(n, m)) * (rng.random((n, m)) < 0.2)
    X[np.arange(n), rng.integers(m, size=n)] += 1.0
    return X


def _with_empty_rows(X):
    X = X.copy()
    X[[0, 7, len(X) - 1]] = 0.0
    return X


def _zoo() -> dict[str, Case]:
    rng = np.random.default_rng(7)
    lengths = np.exp(rng.uniform(-2, 2, size=(30, 1)))
    return {
        "spiked": Case(_spiked(40, 8, 2, 0.3, 1), 2),
        "noise": Case(rng.standard_normal((40, 7)), 3),
        "text": Case(_text(45, 15, 2), 3),
        "weighted": Case(_spiked(30, 6, 2, 0.4, 3), 2, weight=rng.uniform(0, 2, 30)),
        "long and short": Case(_spiked(30, 6, 2, 0.4, 4) * lengths, 2, normalize=False),
        "line": Case(_spiked(25, 5, 1, 0.5, 5), 1),
        "all components": Case(rng.standard_normal((20, 4)), 4),
        "few rows": Case(rng.standard_normal((6, 25)), 3),
        "plane": Case(_spiked(30, 7, 2, 0.0, 6), 2),
        "empty rows": Case(_with_empty_rows(_spiked(40, 8, 2, 0.3, 8)), 2),
        "one row": Case(rng.standard_normal((1, 5)), 1),
        "identical rows": Case(np.tile(rng.standard_normal((1, 4)), (9, 1)), 2, smooth=False),
        "one-hot": Case(np.repeat(np.eye(4), [9, 7, 5, 3], axis=0), 2, smooth=False),
    }


ZOO = _zoo()

# Solvers that are tried with more than their default options.
VARIANTS = {
    # A basis of 2 r columns only: cut back in every step.
    "narrow subspace": Subspace(columns=1),
    **{f"theory {order}": Linearized(order=order) for order in ("uv", "vu")},
    **{f"block {order}": Linearized("block", "block", order) for order in ("uv", "vu")},
    # lam >= 2 and mu >= 2 sum w, hence monotone on the whole zoo.
    **{f"numbers {order}": Linearized(5.0, 100.0, order) for order in ("uv", "vu")},
}
ZOO_SOLVERS = {
    **{name: entry.load()() for name, entry in SOLVERS.items() if not entry.moves_pairs},
    **VARIANTS,
}


# What a test may ask for: by name each of these in turn, or, of several, all pairs of values.
AXES = {
    "solver_name": list(ZOO_SOLVERS),
    "name": list(ZOO),
    "layout": ["dense", "csr"],
    "float_type": [np.float32, np.float64],
}


def pytest_generate_tests(metafunc):
    """Every value of each axis that a test asks for, with every value of each other one."""
    marks = metafunc.definition.iter_markers("parametrize")
    chosen = [mark.args[0] if mark.args else mark.kwargs["argnames"] for mark in marks]
    taken = {
        name.strip()
        for names in chosen
        for name in (names.split(",") if isinstance(names, str) else names)
    }
    axes = [axis for axis in AXES if axis in metafunc.fixturenames and axis not in taken]
    if axes:
        rows = covering_pairs([AXES[axis] for axis in axes])
        metafunc.parametrize(axes, rows, ids=["-".join(map(_word, row)) for row in rows])


CLUSTERS = {"start_cluster", "two_processes", "two_workers", "five_workers"}


def pytest_itemcollected(item):
    """What asks for a cluster is slow; its threads would disturb the other tests, too."""
    asked = {*getattr(item, "fixturenames", ())}
    chosen = item.callspec.params.values() if hasattr(item, "callspec") else ()
    if CLUSTERS & asked or "workers" in [value for value in chosen if isinstance(value, str)]:
        item.add_marker(pytest.mark.slow("cluster"))


def covering_pairs(axes):
    """Few rows, one value of each axis, in which every two values of two axes meet."""
    places = [[(k, value) for value in range(len(axis))] for k, axis in enumerate(axes)]
    if len(axes) == 1:
        return [(value,) for value in axes[0]]
    missing = dict.fromkeys(pair for two in combinations(places, 2) for pair in product(*two))
    rows = []
    while missing:
        row = dict(next(iter(missing)))
        for k, place in enumerate(places):
            if k not in row:
                met = {
                    v: sum(tuple(sorted([(k, v), other])) in missing for other in row.items())
                    for _, v in place
                }
                row[k] = max(met, key=met.get)
        for pair in combinations(sorted(row.items()), 2):
            missing.pop(pair, None)
        rows.append(tuple(axis[row[k]] for k, axis in enumerate(axes)))
    return rows


def _word(value):
    return getattr(value, "__name__", str(value)).replace(" ", "_")


def _as_layout(X, layout, dtype=np.float64):
    X = np.asarray(X, dtype=dtype)
    return sparse.csr_array(X) if layout == "csr" else X


def _make_problem(case, layout="dense", dtype=np.float64, **options) -> Problem:
    options = {"weight": case.weight, "normalize": case.normalize, **options}
    return Problem(as_rows(_as_layout(case.X, layout, dtype), **options))


@cache
def _run(solver, name, layout="dense", *, init="svd", max_iter=100):
    """A solved problem of the zoo, once per session: the solution and the problem."""
    problem = _make_problem(ZOO[name], layout)
    options = {"init": init, "tol": 1e-9, "max_iter": max_iter, "rng": np.random.default_rng(0)}
    return solve(problem, ZOO[name].r, solver=ZOO_SOLVERS[solver], **options).solution, problem


class Plain:
    """The same problem in plain numpy: explicit rows, nothing saved, nothing streamed."""

    def __init__(self, X, weight=None, normalize=True, mean=None):
        X = np.array(X, dtype=np.float64) - (0.0 if mean is None else mean)
        norm = np.linalg.norm(X, axis=1)
        self.w = np.where(norm > 0, 1.0 if weight is None else weight, 0.0)
        if normalize:
            X = X / np.where(norm > 0, norm, 1.0)[:, None]
        self.X = X

    @classmethod
    def of(cls, case):
        return cls(case.X, case.weight, case.normalize)

    def best_V(self, U):
        Y = self.X @ U
        s = np.linalg.norm(Y, axis=1, keepdims=True)
        return Y / np.where(s > 0, s, 1.0)

    def value(self, U):
        return float(self.w @ np.linalg.norm(self.X @ U, axis=1))

    def loss(self, U, V):
        return float(self.w @ ((self.X - V @ U.T) ** 2).sum(axis=1))

    def gradient(self, U):
        return self.X.T @ (self.w[:, None] * self.best_V(U))

    def residual(self, U):
        G = self.gradient(U)
        A = U.T @ G
        return np.linalg.norm(G - U @ (A + A.T) / 2) / np.linalg.norm(G)


@dataclass
class Recorder(Monitor):
    """Keeps every state, counts the calls, and asks to stop after `patience` steps."""

    patience: float = np.inf
    begun: int = 0
    states: list = field(default_factory=list)

    def begin(self):
        self.begun += 1

    def end(self, state):
        # A solver may change its working memory in place, so the state is read now.
        assert state.U.ndim == 2
        self.states.append(state)
        return len(self.states) >= self.patience


# What a shell or a CI service may say of colours, widths and ways to the network.
MOODS = ("FORCE_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE")
MOODS += ("TTY_INTERACTIVE", "COLUMNS", "LINES")
PROXIES = tuple(f"{kind}_proxy" for kind in ("http", "https", "ftp", "all"))


@pytest.fixture(scope="session", autouse=True)
def _the_same_surroundings_everywhere():
    """Whoever starts the suite: a terminal, a CI service, a script in the background.

    A shell lets what it starts in the background ignore Ctrl-C, and children inherit that.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in (*MOODS, *PROXIES, *map(str.upper, PROXIES)):
            patch.delenv(name, raising=False)
        patch.setenv("TERM", "xterm-256color")
        before = signal.getsignal(signal.SIGINT)
        if before is signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
        signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def _one_thread_per_worker():
    """Workers of a parallel run share the cores; small products gain nothing from threads."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def case(name):
    return ZOO[name]


@pytest.fixture
def solver(solver_name):
    return ZOO_SOLVERS[solver_name]


@pytest.fixture(scope="session")
def zoo():
    return ZOO


@pytest.fixture(scope="session")
def make_problem():
    return _make_problem


@pytest.fixture
def problem(case, layout, make_problem):
    """The current case, cut into blocks that do not divide it evenly."""
    return make_problem(case, layout, block_rows=7)


@pytest.fixture(scope="session")
def run():
    return _run


@pytest.fixture(scope="session")
def plain():
    return Plain


@pytest.fixture(scope="session")
def recorder():
    return Recorder


class _Watched(ThreadPoolExecutor):
    """A pool whose threads are known by name."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, thread_name_prefix="watched", **options)


@pytest.fixture
def watched(monkeypatch):
    """The living threads of the package; those of others come and go as they please."""
    for module in (parallel, reading):
        monkeypatch.setattr(module, "ThreadPoolExecutor", _Watched)
    return lambda: [t.name for t in threading.enumerate() if t.name.startswith("watched")]


@pytest.fixture(scope="session")
def data_home():
    """The folder of real data; tests that want it skip where there is none."""
    named = os.environ.get("SPHERICALPCA_DATA_HOME")
    if not named:
        pytest.skip("SPHERICALPCA_DATA_HOME is not set: no real data")
    return Path(named)


@pytest.fixture
def rng():
    return np.random.default_rng(12345)


@pytest.fixture(scope="session")
def random_U():
    """A random m x r matrix with orthonormal columns."""

    def draw(m, r, seed=0):
        return np.linalg.qr(np.random.default_rng(seed).standard_normal((m, r)))[0]

    return draw


@pytest.fixture
def on_a_terminal():
    """Run a program whose errors go to a terminal: it, when it has ended, and what was shown.

    Somebody reads all the time: a terminal takes a few thousand letters, then the program waits.
    """

    def call(command, **options):
        main, side = pty.openpty()
        shown = []

        def read():
            with contextlib.suppress(OSError):  # the other side was closed
                while text := os.read(main, 4096):
                    shown.append(text)

        reader = threading.Thread(target=read)
        reader.start()
        try:
            done = subprocess.run(
                command, stderr=side, stdout=subprocess.PIPE, check=False, timeout=120, **options
            )
        finally:
            os.close(side)
            reader.join()
            os.close(main)
        return done, b"".join(shown).decode()

    return call


@pytest.fixture
def ctrl_c():
    """Press Ctrl-C, and again after a while: one that falls into a destructor is lost."""

    def press(process, send=None):
        for _ in range(4):
            (send or process.send_signal)(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.communicate(timeout=30)
        process.kill()
        return process.communicate()

    return press
