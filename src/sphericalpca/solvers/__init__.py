"""One file per algorithm, all behind the loop in `sphericalpca.iterate`.

The classes are those of `sphericalpca.registry.solvers`, imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sphericalpca.iterate import Start
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.solvers.checkpoint import Checkpoint, check_checkpoint_path
from sphericalpca.solvers.linearized import lipschitz_constant
from sphericalpca.solvers.solve import Outcome, automatic, choose_solver, solve
from sphericalpca.solvers.start import given_start, random_start, svd_start

if TYPE_CHECKING:  # without these lines type checkers do not find the classes here
    from sphericalpca.solvers.alternating import Alternating as Alternating
    from sphericalpca.solvers.anderson import Anderson as Anderson
    from sphericalpca.solvers.linearized import Linearized as Linearized
    from sphericalpca.solvers.newton import Newton as Newton
    from sphericalpca.solvers.subspace import Subspace as Subspace

_CLASSES = {entry.class_name: entry for entry in SOLVERS.values()}

__all__ = [  # noqa: PLE0604 - names of classes are text too
    *_CLASSES,
    "Checkpoint",
    "Outcome",
    "Start",
    "automatic",
    "check_checkpoint_path",
    "choose_solver",
    "given_start",
    "lipschitz_constant",
    "random_start",
    "solve",
    "svd_start",
]


def __getattr__(name: str) -> Any:
    """The class of a solver, on its first use."""
    if name in _CLASSES:
        return _CLASSES[name].load()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
