"""The solvers: names, classes and traits.

Nothing heavy is imported here, so that the command line can offer the names at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

__all__ = ["SOLVERS", "SolverEntry"]


@dataclass(frozen=True)
class SolverEntry:
    """What others need to know of a solver without importing it.

    Attributes
    ----------
    name : str
        As in ``solver="newton"``.
    place : str
        Its module and class, "module:Class".
    summary : str
        What it does, in one line.
    automatic : bool
        Whether ``solver="auto"`` chooses among it and others.
    accelerated : bool
        Whether it needs fewer passes than exact alternation and ends at no smaller value.
    resumable : bool
        Whether a checkpoint can hold its state: it has the methods of `iterate.Resumable`.
    keeps_rows : bool
        Whether it keeps arrays of n rows beside the data, which must then be in this process.
    moves_pairs : bool
        Whether it moves pairs (U, V) and takes one as a start; others move U, with the best V.
    """

    name: str
    place: str
    summary: str
    automatic: bool = False
    accelerated: bool = False
    resumable: bool = True
    keeps_rows: bool = False
    moves_pairs: bool = False

    @property
    def class_name(self) -> str:
        """Name of its class."""
        return self.place.partition(":")[2]

    def load(self) -> type[Any]:
        """Its class."""
        module, _, name = self.place.partition(":")
        found: type[Any] = getattr(import_module(module), name)
        return found


# In the order in which users are offered them.
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
