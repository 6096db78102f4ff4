"""Goals about text and its corners: kernels, whole fits, the choice of a solver."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

import numpy as np

from benchmarks import generated, real
from benchmarks.alone import fit_alone
from benchmarks.checks import measure
from benchmarks.clock import Timing, race, ratio
from benchmarks.goals import GoalMeasurement, Setting, text_against_svd
from benchmarks.ours import OURS, StopAt, fit_model
from benchmarks.peers import TRUNCATED_SVD
from benchmarks.task import Fit, Task, random_subspace
from sphericalpca.iterate import AnySolver
from sphericalpca.kernels.library import VARIABLE
from sphericalpca.parallel import parallel
from sphericalpca.problem import Problem
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.rows import Matrix, as_rows
from sphericalpca.rowspace import RowSpace
from sphericalpca.solvers import solve, svd_start
from sphericalpca.solvers.solve import automatic

__all__ = ["choice", "corner", "pass_against_scipy", "text_without_kernels", "until_as_good"]

# Rows, features, words of a row (0: dense) and components of data that were not used to fit the
# choice of a solver.
SHAPES = (
    (700, 90, 0, 7),
    (3_000, 1_500, 0, 12),
    (30_000, 48, 0, 5),
    (25_000, 300, 0, 40),
    (1_200, 5_000, 0, 25),
    (9_000, 900, 30, 15),
    (60_000, 3_000, 15, 8),
    (2_500, 30_000, 100, 30),
    (15_000, 12_000, 45, 60),
    (120_000, 700, 8, 4),
)


def pass_against_scipy(setting: Setting, r: int) -> GoalMeasurement:
    """A pass over text: compiled kernels over scipy's on threads."""
    X, r = setting.rows_of(real.newsgroups_full()), setting.components(r)
    U = random_subspace(X.shape[1], r).astype(X.dtype)
    ours = Problem(as_rows(X))
    with _without_kernels():
        theirs = Problem(as_rows(X))

    def by_scipy() -> object:
        with _without_kernels():
            return theirs.evaluate(U)

    timed = race({"ours": lambda: ours.evaluate(U), "scipy": by_scipy}, 4 * setting.repeats)
    same = math.isclose(timed["ours"].answer.value, timed["scipy"].answer.value, rel_tol=1e-6)
    return _of_times(timed["ours"].timing, timed["scipy"].timing, right=same)


def text_without_kernels(setting: Setting, r: int, tol: float) -> GoalMeasurement:
    """The fit over TruncatedSVD's where there is no compiler."""
    with _without_kernels():
        return text_against_svd(setting, r, tol)


def until_as_good(setting: Setting, r: int) -> GoalMeasurement:
    """Time until the mean cosine of TruncatedSVD is reached, over the time of its fit.

    The start of the fit is tried first, and if it does not reach that, the whole fit.
    """
    X, r = setting.rows_of(real.newsgroups_full()), setting.components(r)
    task = Task(random_subspace(X.shape[1], r))
    target = measure(X, TRUNCATED_SVD.read(TRUNCATED_SVD.fit(X, task)).U).value

    def ours() -> float:
        with parallel():
            problem = Problem(as_rows(X))
            space = RowSpace(problem.rows) if RowSpace.suits(problem.rows) else problem
            start = space.evaluate(svd_start(space, r, np.random.default_rng(0)).U)
            if start.value >= target and start.basis.size:  # the basis is part of the result
                return start.value
            chosen: AnySolver = automatic(problem.rows, r, 1e-4)
            rng, until = np.random.default_rng(0), StopAt(math.inf, target)
            return solve(problem, r, solver=chosen, rng=rng, monitor=until).solution.value

    actions = {"ours": ours, "svd": lambda: TRUNCATED_SVD.fit(X, task)}
    timed = race(actions, setting.repeats)
    reached = timed["ours"].answer >= (1.0 - 1e-6) * target
    return _of_times(timed["ours"].timing, timed["svd"].timing, right=reached)


def corner(
    setting: Setting, data: str, what: str, r: int = 20, tol: float = 1e-4
) -> GoalMeasurement:
    """Seconds or memory of a fit over TruncatedSVD's, each in its own process."""
    share = 50 if setting.quick else 1
    if data == "small_text":
        real.text_4000x2000()  # report missing data here
    rounds, exact = 1 if setting.quick or data == "million" else 3, {"memory": what == "resident"}
    ours, theirs = (
        [
            fit_alone(data, name, setting.components(r), tol, share, **exact)[what]
            for _ in range(rounds)
        ]
        for name in ("ours", "TruncatedSVD")
    )
    middle = float(np.median(ours)), float(np.median(theirs))
    unit = "s" if what == "seconds" else "MB"
    size = 1.0 if what == "seconds" else 1e-6
    note = f"{middle[0] * size:.3g} {unit} against {middle[1] * size:.3g} {unit}"
    found = GoalMeasurement(middle[0] / max(middle[1], 1e-9), tol=tol, note=note)
    return replace(found, ours=middle[0], peer=middle[1]) if what == "seconds" else found


def choice(setting: Setting) -> GoalMeasurement:
    """The time of ``solver="auto"`` over that of the best solver, the largest over ten shapes."""
    worst = GoalMeasurement(0.0)
    for shape in SHAPES[:3] if setting.quick else SHAPES:
        X, r = _made(*shape[:3]), shape[3]
        names = [entry.name for entry in SOLVERS.values() if entry.automatic]
        actions = {name: _fit_with(X, r, name) for name in ("auto", *names)}
        timed = race(actions, setting.repeats)
        best = min(names, key=lambda name: timed[name].timing.median)
        found = _of_times(timed["auto"].timing, timed[best].timing)
        text = f"{shape[0]:,} x {shape[1]:,}, r = {r}: {best} is the best"
        worst = max(worst, replace(found, note=text), key=lambda one: one.measured)
    return worst


def _fit_with(X: Matrix, r: int, solver: str) -> Callable[[], Fit]:
    return lambda: OURS.read(fit_model(X, r, solver=solver))


def _made(n: int, m: int, words: int) -> Matrix:
    return generated.zipf_text(n, m, words) if words else generated.power_law(n, m, 0.5)


def _of_times(ours: Timing, theirs: Timing, right: bool = True) -> GoalMeasurement:
    middle, low, high = ratio(ours, theirs)
    return GoalMeasurement(middle, (low, high), ours.median, theirs.median, right=right)


@contextmanager
def _without_kernels() -> Iterator[None]:
    settings: Mapping[str, str] = {VARIABLE: "scipy"}
    with mock.patch.dict(os.environ, settings):
        yield
