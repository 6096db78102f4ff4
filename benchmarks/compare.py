"""Every method on one case: timed in turns, checked in float64, written as flat rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.cases import Case
from benchmarks.checks import SubspaceQuality, certificate, is_right, measure
from benchmarks.contest import Effort, Result, contest
from benchmarks.methods import METHODS
from benchmarks.ours import OURS, fit_model
from benchmarks.table import ResultTable, Row
from benchmarks.task import Fit, Task, random_subspace
from sphericalpca.certificate import Certificate
from sphericalpca.linalg import orthonormal
from sphericalpca.rows import Matrix

__all__ = ["compare", "rows_table", "skipped", "trace_table"]

ROWS = (
    "case",
    "about",
    "n",
    "m",
    "nnz",
    "dtype",
    "r",
    "tol",
    "method",
    "seconds",
    "quartile_1",
    "quartile_3",
    "rounds",
    "ratio",
    "passes",
    "residual",
    "value",
    "loss",
    "loss_gap",
    "certificate_gap",
    "rigorous",
    "note",
    "made_with",
)
TRACES = ("case", "r", "method", "seconds", "passes", "loss_gap")

# Number of points of a curve; with more it looks the same.
TRACE_POINTS = 150

# The best value known is that of the best method, after this many more iterations.
POLISH = {"tol": 1e-6, "max_iter": 50}


@dataclass(frozen=True)
class _Best:
    """The reference that results are compared with."""

    value: float
    bound: Certificate | None

    def loss_gap(self, value: float) -> float:
        return (self.value - value) / self.value

    def certificate_gap(self, value: float) -> float:
        return math.nan if self.bound is None else max(self.bound.bound / value - 1.0, 0.0)


def rows_table(folder: Path) -> ResultTable:
    """A row for each case, r and method."""
    return ResultTable(folder / "rows.csv", ROWS, ("case", "r"))


def trace_table(folder: Path) -> ResultTable:
    """A row for each point of each curve."""
    return ResultTable(folder / "traces.csv", TRACES, ("case", "r"))


def compare(
    case: Case, X: Matrix, r: int, effort: Effort, tol: float = 1e-4
) -> tuple[list[Row], list[Row]]:
    """Rows of all methods, and of the curves of the iterative ones."""
    refusals = {method: method.refusal(X, r) for method in METHODS}
    entrants = [method for method in METHODS if not refusals[method]]
    task = Task(random_subspace(X.shape[1], r), tol, effort.cap)
    results = contest(X, task, entrants, effort)
    best = _best(X, list(results.values()))
    name = {"case": case.name, "r": r}
    facts = {**name, **_facts(case, X), "tol": tol}
    unit = results[OURS].timing.median
    rows: list[Row] = [
        {**facts, "method": method.name, "note": refusal}
        if refusal
        else {**facts, "method": method.name, **_row(results[method], best, tol, unit)}
        for method, refusal in refusals.items()
    ]
    return rows, [
        {**name, "method": method.name, **point}
        for method, result in results.items()
        for point in _points(result, best)
    ]


def skipped(case: Case, reason: str) -> list[Row]:
    """Rows that say why a case was not run."""
    note = f"skipped: {reason}"
    return [{"case": case.name, "about": case.about, "r": r, "note": note} for r in case.components]


def _facts(case: Case, X: Matrix) -> Row:
    nnz = X.nnz if sparse.issparse(X) else X.size
    n, m = X.shape
    return {"about": case.about, "n": n, "m": m, "nnz": nnz, "dtype": X.dtype.name}


def _best(X: Matrix, results: list[Result]) -> _Best:
    """The best subspace known: the best method's answer, improved a little further."""
    leader = max(results, key=lambda result: result.found.value)
    U = leader.fit.U
    polished = orthonormal(fit_model(X, U.shape[1], init=U, **POLISH).components_.T)
    value = max(leader.found.value, measure(X, polished).value)
    return _Best(value, certificate(X, polished))


def _row(result: Result, best: _Best, tol: float, unit: float) -> Row:
    low, high = result.timing.quartiles
    found = result.found
    return {
        "seconds": result.timing.median,
        "quartile_1": low,
        "quartile_3": high,
        "rounds": len(result.timing.rounds),
        "ratio": unit / result.timing.median,
        "passes": result.fit.passes,
        "residual": found.residual,
        "value": found.value,
        "loss": found.loss,
        "loss_gap": best.loss_gap(found.value),
        "certificate_gap": best.certificate_gap(found.value),
        "rigorous": "" if best.bound is None else int(best.bound.rigorous),
        "note": _note(result.fit, found, tol),
    }


def _note(fit: Fit, found: SubspaceQuality, tol: float) -> str:
    """Whether iterative methods converged, by our own check."""
    if fit.note or not fit.trace or is_right(found, tol):
        return fit.note
    return f"wrong: residual {found.residual:.1e} above {tol:g}"


def _points(result: Result, best: _Best) -> list[Row]:
    trace = result.fit.trace
    return [
        {
            "seconds": trace[i].seconds,
            "passes": trace[i].passes,
            "loss_gap": best.loss_gap(result.found.rows - trace[i].loss / 2.0),
        }
        for i in _thinned(len(trace))
    ]


def _thinned(length: int) -> list[int]:
    """Positions spread evenly on a log scale, first and last included."""
    if length <= TRACE_POINTS:
        return list(range(length))
    spread = np.unique(np.geomspace(1, length, TRACE_POINTS).round().astype(int))
    return [int(i) - 1 for i in spread]
