"""The solvers: names, classes and traits; nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from sphericalpca.registry import resolve

__all__ = ["SOLVERS", "SolverEntry", "with_current_names"]

T = TypeVar("T")


@dataclass(frozen=True)
class SolverEntry:
    """The name, class and traits of a solver, known without importing it."""

    name: str  # as in ``solver="newton"``
    place: str  # "module:Class"
    summary: str  # what it does, in one line
    automatic: bool = False  # `solvers.automatic` may choose it: what benchmarks and tests expect
    accelerated: bool = False  # fewer passes than exact alternation, and no smaller value
    resumable: bool = True  # a checkpoint can hold its state, by the methods of `Resumable`
    keeps_rows: bool = False  # it needs arrays of n rows, so the data must be in this process
    moves_pairs: bool = False  # it moves pairs (U, V), and starts from one; others move U

    @property
    def class_name(self) -> str:
        """Name of its class."""
        return self.place.partition(":")[2]

    def load(self) -> type[Any]:
        """Import the class, a `sphericalpca.iterate.Solver`."""
        found: type[Any] = resolve(self.place)
        return found


# In the order of help texts and messages.
SOLVERS: dict[str, SolverEntry] = {
    entry.name: entry
    for entry in (
        SolverEntry(
            "subspace",
            "sphericalpca.solvers.subspace:Subspace",
            "solves the problem within a growing subspace, Davidson style, with thick restarts",
            automatic=True,
            accelerated=True,
            keeps_rows=True,
        ),
        SolverEntry(
            "anderson",
            "sphericalpca.solvers.anderson:Anderson",
            "Anderson acceleration of exact alternation, or of a Newton step guessed from the SVD",
            automatic=True,
            accelerated=True,
        ),
        SolverEntry(
            "newton",
            "sphericalpca.solvers.newton:Newton",
            "trust-region Newton on the Grassmannian, one Hessian product per pass",
            automatic=True,
            accelerated=True,
        ),
        SolverEntry(
            "alternating",
            "sphericalpca.solvers.alternating:Alternating",
            "exact alternation between U and V, the paper's Eq. (7)",
        ),
        SolverEntry(
            "linearized",
            "sphericalpca.solvers.linearized:Linearized",
            "the paper's Algorithm 1, with its constants",
            keeps_rows=True,
            moves_pairs=True,
        ),
    )
}

# Names in files of earlier versions, and current ones.  "inner" depended on the solver.
RENAMED = {"objective": "loss", "objective_": "loss_"}
INNER = {"Subspace": "small_iterations", "Newton": "hessian_products"}


def with_current_names(content: Mapping[str, T], solver: str) -> dict[str, T]:
    """Content of a model file or checkpoint with current names; `solver` is a class or repr."""
    renamed = RENAMED | {"inner": INNER.get(solver.partition("(")[0], "inner")}
    found = {}
    for name, value in content.items():
        before, dot, last = name.rpartition(".")
        found[f"{before}{dot}{renamed.get(last, last)}"] = value
    return found
