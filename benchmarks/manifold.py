"""pymanopt on the same problem, with a hand-written gradient and Hessian.

On the Grassmannian the length of pymanopt's gradient is ``||G - U U'G||``, and U'G is
symmetric, so it is our residual times ``||G||``.  pymanopt can only stop at a given
length; the gradient below ends the run at a given residual instead.

It works in float64 by default, because its line search compares values that float32 cannot
distinguish near the optimum.  What cost, gradient and Hessian need at one U is
computed once, although pymanopt requests it several times.
"""

from __future__ import annotations

import importlib
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec

import numpy as np

from benchmarks.task import Contender, Fit, Task, TracePoint
from sphericalpca.linalg import Array
from sphericalpca.rows import Matrix

__all__ = ["CONJUGATE_GRADIENT", "TRUST_REGIONS", "Descent", "in_single"]


class _RunOverError(Exception):
    """Raised within pymanopt's loop to leave it."""


class Descent:
    """Minus f on the Grassmannian, every product with the data counted and timed."""

    def __init__(self, X: Matrix, task: Task) -> None:
        self.X, self.Xt = X, X.T
        self.task = task
        self.passes = 0.0
        self.trace: list[TracePoint] = []
        self.arrived = False
        self.U = task.start
        self._at: Array | None = None
        self._gradient_at: Array | None = None
        self._began = time.perf_counter()

    def run(self, optimizer: str) -> Descent:
        """Run one of pymanopt's optimizers until residual or time is reached."""
        pymanopt = importlib.import_module("pymanopt")
        manifold = pymanopt.manifolds.Grassmann(*self.task.start.shape)
        numpy_function = pymanopt.function.numpy(manifold)
        problem = pymanopt.Problem(
            manifold,
            numpy_function(self.cost),
            euclidean_gradient=numpy_function(self.gradient),
            euclidean_hessian=numpy_function(self.hessian),
        )
        # pymanopt's own limits are disabled: steps may be short, iterations many.
        limits = {"max_iterations": 10**9, "min_gradient_norm": 0.0, "min_step_size": 0.0}
        solver = getattr(pymanopt.optimizers, optimizer)(
            verbosity=0, max_time=self.task.cap, **limits
        )
        with suppress(_RunOverError):
            solver.run(problem, initial_point=self.task.start)
        return self

    def cost(self, U: Array) -> float:
        """Minus f."""
        self._project(U)
        return -float(self._lengths.sum())

    def gradient(self, U: Array) -> Array:
        """Minus X'V; ends the run where the residual is small enough."""
        self._project(U)
        if self._gradient_at is not U:
            self._G = self.Xt @ self._V
            self._gradient_at, self.passes = U, self.passes + 0.5
            self._record(U)
        return np.asarray(-self._G)

    def hessian(self, U: Array, D: Array) -> Array:
        """Minus X'((XD - V <V, XD>) / ||XU||)."""
        self._project(U)
        self._stop_if_late()
        E = self.X @ D
        E -= self._V * np.einsum("ij,ij->i", self._V, E)[:, None]
        E *= self._inverse
        self.passes += 1.0
        return -np.asarray(self.Xt @ E)

    def _project(self, U: Array) -> None:
        if self._at is U:
            return
        Y = self.X @ U
        self._lengths = np.sqrt(np.einsum("ij,ij->i", Y, Y))
        self._inverse = (1.0 / np.maximum(self._lengths, np.finfo(Y.dtype).tiny))[:, None]
        self._V = Y * self._inverse
        self._at, self.passes = U, self.passes + 0.5

    def _record(self, U: Array) -> None:
        seconds = time.perf_counter() - self._began
        value = float(self._lengths.sum())
        self.trace.append(TracePoint(seconds, self.passes, 2.0 * (len(self._lengths) - value)))
        self.U = U
        tangent = np.linalg.norm(self._G - U @ (U.T @ self._G))
        if tangent <= self.task.tol * np.linalg.norm(self._G):
            self.arrived = True
            raise _RunOverError
        self._stop_if_late()

    def _stop_if_late(self) -> None:
        if time.perf_counter() - self._began > self.task.cap:
            raise _RunOverError


def _read(run: Descent) -> Fit:
    return Fit(run.U, run.passes, tuple(run.trace), "" if run.arrived else "capped")


def _method(name: str, optimizer: str) -> Contender:
    return Contender(
        name,
        partial(_fit, optimizer=optimizer),
        _read,
        lambda _X, _r: "" if find_spec("pymanopt") else "pymanopt is not installed",
        lambda X: X.astype(np.float64, copy=False),
    )


def _fit(X: Matrix, task: Task, optimizer: str) -> Descent:
    return Descent(X, task).run(optimizer)


def in_single(method: Contender) -> Contender:
    """The same on float32 data."""
    return replace(
        method, name=f"{method.name}, float32", layout=lambda X: X.astype(np.float32, copy=False)
    )


CONJUGATE_GRADIENT = _method("pymanopt, conjugate gradient", "ConjugateGradient")
TRUST_REGIONS = _method("pymanopt, trust regions", "TrustRegions")
