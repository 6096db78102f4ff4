"""One file per algorithm, all behind the loop in `sphericalpca.iterate`."""

from sphericalpca.solvers.alternating import Alternating
from sphericalpca.solvers.anderson import Anderson
from sphericalpca.solvers.automatic import automatic
from sphericalpca.solvers.checkpoint import Checkpoint, check_place
from sphericalpca.solvers.linearized import Linearized, lipschitz_constant
from sphericalpca.solvers.newton import Newton
from sphericalpca.solvers.solve import SOLVERS, Outcome, choose_solver, solve
from sphericalpca.solvers.start import Start, given_start, random_start, svd_start
from sphericalpca.solvers.subspace import Subspace

__all__ = [
    "SOLVERS",
    "Alternating",
    "Anderson",
    "Checkpoint",
    "Linearized",
    "Newton",
    "Outcome",
    "Start",
    "Subspace",
    "automatic",
    "check_place",
    "choose_solver",
    "given_start",
    "lipschitz_constant",
    "random_start",
    "solve",
    "svd_start",
]
