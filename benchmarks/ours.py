"""The package itself: the whole fit as users call it, its solvers from a given start."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.task import Contender, Fit, Task, TracePoint
from sphericalpca import SphericalPCA
from sphericalpca.iterate import AnySolver, Monitor, Solution, State
from sphericalpca.linalg import Array, orthonormal
from sphericalpca.problem import Problem
from sphericalpca.products import inner_products
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.rows import Matrix, as_rows
from sphericalpca.solvers import Alternating, Linearized, solve

__all__ = [
    "ALGORITHM_1",
    "ALGORITHM_1_BLOCK",
    "ALTERNATION",
    "CHOICES",
    "OURS",
    "OURS_FROM_START",
    "OURS_IN_SINGLE",
    "StopAt",
    "fit_model",
    "run_solver",
]

NO_LIMIT = 10**9

# Largest difference of the entries of U'U from the identity.
SKEWNESS = {"float32": 1e-5, "float64": 1e-12}


def fit_model(X: Matrix, n_components: int, **options: Any) -> SphericalPCA:
    """Fit the estimator with its defaults; convergence is checked later."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SphericalPCA(n_components, random_state=0, **options)
        model.fit(X)
    return model


@dataclass
class StopAt(Monitor):
    """Ends a run when its time is over or its f is large enough."""

    deadline: float
    value: float = np.inf

    def end(self, state: State) -> bool:
        """Whether to stop in `state`."""
        return state.value >= self.value or time.perf_counter() >= self.deadline


def run_solver(X: Matrix, task: Task, solver: AnySolver, value: float = np.inf) -> Solution[State]:
    """One solver from the task's start until it converges, f is `value`, or time is over."""
    return solve(
        Problem(as_rows(X)),
        task.n_components,
        solver=solver,
        init=task.start,
        tol=task.tol,
        max_iter=NO_LIMIT,
        rng=np.random.default_rng(0),
        monitor=StopAt(time.perf_counter() + task.cap, value),
    ).solution


def _read_model(model: SphericalPCA) -> Fit:
    note = "" if model.stop_reason_ == "converged" else model.stop_reason_
    return _fit(model.components_.T, model.n_passes_, model.history_, note)


def _read_solution(found: Solution[State]) -> Fit:
    note = "" if found.stop_reason == "converged" else "capped"
    return _fit(found.U, found.history["passes"][-1], found.history, note)


def _fit(U: Array, passes: float, history: Mapping[str, Array], note: str) -> Fit:
    columns = (history[name].tolist() for name in ("seconds", "passes", "loss"))
    trace = tuple(TracePoint(*row) for row in zip(*columns, strict=True))
    # In float32 U is orthonormal only to 1e-7, and the checks are in float64.  Larger errors are
    # left as they are, for the checks to find.
    skewness = np.abs(inner_products(U, U).astype(np.float64) - np.eye(U.shape[1])).max()
    if skewness < SKEWNESS[U.dtype.name]:
        U = orthonormal(U)
    return Fit(U, float(passes), trace, note)


def _solver_method(name: str, solver: AnySolver) -> Contender:
    return Contender(name, lambda X, task: run_solver(X, task, solver), _read_solution)


OURS = Contender("ours", lambda X, task: fit_model(X, task.n_components, tol=task.tol), _read_model)
OURS_FROM_START = Contender(
    "ours, given start",
    lambda X, task: fit_model(X, task.n_components, tol=task.tol, init=task.start),
    _read_model,
)
OURS_IN_SINGLE = replace(
    OURS_FROM_START,
    name="ours, given start, float32",
    layout=lambda X: X.astype(np.float32),
)
# The solvers that "auto" chooses among, for the tables.
CHOICES = tuple(
    _solver_method(f"solver {entry.name}", entry.load()())
    for entry in SOLVERS.values()
    if entry.automatic
)
ALTERNATION = _solver_method("exact alternation", Alternating())
ALGORITHM_1 = _solver_method("Algorithm 1, theory", Linearized())
ALGORITHM_1_BLOCK = _solver_method("Algorithm 1, block", Linearized("block", "block"))
