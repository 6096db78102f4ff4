"""One file per algorithm, all behind the loop in `sphericalpca.iterate`."""

from sphericalpca.solvers.alternating import Alternating
from sphericalpca.solvers.linearized import Linearized, lipschitz_constant
from sphericalpca.solvers.solve import SOLVERS, Outcome, choose_solver, solve
from sphericalpca.solvers.start import Start, given_start, random_start, svd_start

__all__ = [
    "SOLVERS",
    "Alternating",
    "Linearized",
    "Outcome",
    "Start",
    "choose_solver",
    "given_start",
    "lipschitz_constant",
    "random_start",
    "solve",
    "svd_start",
]
