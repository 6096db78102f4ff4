"""Fig. 3: four solvers from the same start, every step measured.

The paper shows how far U and V move and how the loss falls on its toy.  We add exact
alternation and the default solver to the same axes, a second data set, and check the
paper's theory at every step.
"""

from __future__ import annotations

import csv
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from paper.provenance import made_with
from paper.seeds import seed_of
from sphericalpca.convergence import Convergence, Rate, analyse, fit_rate
from sphericalpca.datasets import make_toy
from sphericalpca.estimators import SphericalPCA
from sphericalpca.files import refuse_pipes
from sphericalpca.iterate import AnySolver, KnowsFinalSums, Promising, Start, State
from sphericalpca.linalg import Array
from sphericalpca.problem import FinalSums, Problem
from sphericalpca.rows import Rows, as_rows
from sphericalpca.solvers import Alternating, Linearized, choose_solver

__all__ = ["longest_run", "solver_runs"]

AUTHORS_CONSTANT = 75.0
TIGHT = 1e-10
AUTHORS_PROGRAM = "leading unit vectors, V uniform"

Table = list[dict[str, Any]]


def solver_runs(steps: int) -> tuple[Table, Table]:
    """Run all solvers on all data, at most `steps` iterations each.

    Returns
    -------
    iterations : list of dict
        A row for each iteration of each run.
    runs : list of dict
        A row for each run: constants, what the theory says, the certificate.
    """
    iterations: Table = []
    runs: Table = []
    with threadpool_limits(limits=1), warnings.catch_warnings():
        # The picture shows that Algorithm 1 does not converge.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name, (X, r, U, V) in _data().items():
            for solver, (start, options) in _solvers(X, r, U, V).items():
                model = SphericalPCA(r, max_iter=steps, random_state=0, **options).fit(X)
                iterations += _iteration_rows(name, solver, model)
                facts = {**_facts(model, X), "made_with": made_with()}
                runs.append({"data": name, "solver": solver, "start": start, **facts})
    return iterations, runs


def longest_run(path: Path) -> int:
    """Iterations of the longest run in a file of runs."""
    refuse_pipes(path)
    with path.open(newline="", encoding="utf-8") as file:
        return max((int(run["iterations"]) for run in csv.DictReader(file)), default=0)


def _data() -> dict[str, tuple[Array, int, Array, Array]]:
    """X, r, and a start (U, V): for the toy that of the authors' program."""
    toy, _ = make_toy(random_state=seed_of("toy", 0))
    digits = load_digits().data
    rng = np.random.default_rng(seed_of("solvers"))
    random = np.linalg.qr(rng.standard_normal((digits.shape[1], 10)))[0]
    return {
        "toy": (toy, 2, np.eye(3, 2), rng.random((len(toy), 2))),
        "digits": (digits, 10, random, rng.random((len(digits), 10))),
    }


def _solvers(X: Array, r: int, U: Array, V: Array) -> dict[str, tuple[str, dict[str, Any]]]:
    given = AUTHORS_PROGRAM if len(U) == 3 else "random U, V uniform"
    authors = Linearized(lam=AUTHORS_CONSTANT, mu=AUTHORS_CONSTANT, order="vu")
    rows = as_rows(X, normalize=True)
    exact = Traced(Alternating(), rows)
    default = Traced(choose_solver("auto", rows, r, TIGHT), rows)
    return {
        "Algorithm 1, theory": (given, {"solver": Linearized(), "init": (U, V), "tol": 0}),
        "Algorithm 1, 75": (given, {"solver": authors, "init": (U, V), "tol": 0}),
        "exact alternation": (given, {"solver": exact, "init": U, "tol": TIGHT}),
        "default": ("SVD", {"solver": default, "tol": TIGHT}),
    }


@dataclass(frozen=True)
class Traced:
    """A solver that also records how far U and V move, as Algorithm 1 always does.

    `rows` are another copy of the data, so that reading them does not count as a pass.
    """

    solver: AnySolver
    rows: Rows

    def init(self, problem: Problem, start: Start) -> _TracedState:
        """The wrapped solver's first state."""
        state = self.solver.init(problem, start)
        return _TracedState(state, self.rows.components(state.U), {})

    def step(self, problem: Problem, state: _TracedState) -> _TracedState:
        """The wrapped solver's next state, and the distance to the last."""
        after = self.solver.step(problem, state.state)
        V = self.rows.components(after.U)
        moved = {
            "delta_U": float(np.linalg.norm(after.U - state.state.U)),
            "delta_V": float(np.linalg.norm(V - state.V)),
        }
        return _TracedState(after, V, {**after.measures, **moved})


@dataclass(frozen=True)
class _TracedState:
    state: State
    V: Array
    measures: Mapping[str, float]

    @property
    def final_sums(self) -> FinalSums | None:
        return self.state.final_sums if isinstance(self.state, KnowsFinalSums) else None

    @property
    def promise(self) -> float:
        return self.state.promise if isinstance(self.state, Promising) else 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.state, name)


def _iteration_rows(data: str, solver: str, model: SphericalPCA) -> Table:
    history = model.history_
    nothing = np.full(model.n_iter_, math.nan)
    theory = _theory(model)
    columns = {
        "iteration": np.arange(1, model.n_iter_ + 1),
        "passes": history["passes"],
        "objective": history["loss"],
        "residual": history["residual"],
        **{name: history[name] for name in ("delta_U", "delta_V")},
        "decrease_ratio": history.get("decrease_ratio", nothing),
        "p1": nothing,
        "subgradient_ratio": nothing,
    }
    if theory is not None:
        columns["subgradient_ratio"] = theory.subgradient_ratio
    if theory is not None and theory.applies:
        columns["p1"] = theory.sufficient_decrease.astype(float)
    table = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [
        {"data": data, "solver": solver, **dict(zip(columns, row, strict=True))} for row in table
    ]


def _theory(model: SphericalPCA) -> Convergence | None:
    """The paper's theory for the run, if it is one of Algorithm 1."""
    return analyse(model.history_, model.constants_) if model.constants_ else None


def _facts(model: SphericalPCA, X: Array) -> dict[str, Any]:
    history = model.history_
    theory = _theory(model)
    steps = np.hypot(history["delta_U"], history["delta_V"])
    certificate = model.certify(X)
    return {
        **_theory_facts(theory),
        "path_length": float(steps.sum()),
        **_rate_facts(theory.rate if theory is not None else fit_rate(steps)),
        "iterations": model.n_iter_,
        "passes": int(history["passes"][-1]),
        "objective": float(history["loss"][-1]),
        "mean_cosine": model.mean_cosine_,
        "residual": model.residual_,
        "stop_reason": model.stop_reason_,
        "gap": certificate.gap,
        "rigorous": int(certificate.rigorous),
    }


def _theory_facts(theory: Convergence | None) -> dict[str, Any]:
    if theory is None:
        names = ("lipschitz", "lam", "mu", "p1_held", "p1_steps", "largest_subgradient_ratio")
        return {**dict.fromkeys(names), "applies": 0}
    # V(0) did not have unit rows, so the theory applies from the second step on.
    held, ratio = theory.sufficient_decrease[1:], theory.subgradient_ratio[1:]
    return {
        "lipschitz": theory.lipschitz,
        "lam": theory.lam,
        "mu": theory.mu,
        "p1_held": int(held.sum()) if theory.applies else None,
        "p1_steps": len(held) if theory.applies else None,
        "largest_subgradient_ratio": float(np.nanmax(ratio)),
        "applies": int(theory.applies),
    }


def _rate_facts(rate: Rate) -> dict[str, Any]:
    return {"rate": rate.kind, "rho": rate.rho, "exponent": rate.exponent, "theta": rate.theta}
