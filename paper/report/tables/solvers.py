"""Fig. 3 in numbers: what the paper's theory says of each run, and how it ended."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from paper.report.naming import file_name
from paper.report.tables.entries import plain_number
from sphericalpca.pages.tables import MINUS, NONE, Entry, Row, Table

__all__ = ["DATA_NAMES", "rate_in_words", "shrinks", "solver_name", "solvers_table"]

DATA_NAMES = {"toy": "the toy, 200 by 3, r = 2", "digits": "the digits, 1,797 by 64, r = 10"}


# A power this close to 0 is none.
STANDSTILL = 0.005

SOLVER_NAMES = {
    "Algorithm 1, theory": "Algorithm 1 with the theory's constants",
    "Algorithm 1, 75": "Algorithm 1 with the authors' 75",
    "default": "the default solver",
}


def solver_name(solver: Any) -> str:
    """The name of a solver on the page."""
    return SOLVER_NAMES.get(str(solver), str(solver))


def solvers_table(solvers: pd.DataFrame, data: str) -> Table:
    """One line per solver on one data set."""
    part = solvers[solvers["data"] == data]
    return Table(
        name=file_name("convergence", data),
        title=f"The runs on {DATA_NAMES.get(data, data)}",
        caption=(
            "The theory of Algorithm 1 asks for λ, μ > L_c. P1 is sufficient decrease; the "
            "subgradient ratio must be at most 1. The rate is that of the step lengths in the "
            "second half of the run: a factor per step, or a power of the number of steps. The "
            "gap is an upper bound on what any other subspace could gain, as a share of the value "
            "reached."
        ),
        corner="Solver",
        columns=(
            *("L_c", "λ = μ", "Theory applies", "P1 held", "Largest subgradient ratio"),
            *("Fitted rate", "Iterations", "Passes", "Loss", "Residual", "Certificate gap"),
        ),
        rows=tuple(_row(run) for _, run in part.iterrows()),
    )


def rate_in_words(run: Any) -> str:
    """The better of the two fits to the tail of a run."""
    if not math.isfinite(run["rho"]) or not math.isfinite(run["exponent"]):
        return NONE
    if not shrinks(run):
        return "none, steps do not shrink"
    if run["rate"] == "linear":
        return f"linear, factor {_factor(run['rho'])}"
    return f"sublinear, power {_power(run):.2f}".replace("-", MINUS)


def shrinks(run: Any) -> bool:
    """Whether steps become shorter in the second half of a run, by the better fit."""
    return bool(run["rho"] < 1) if run["rate"] == "linear" else _power(run) < -STANDSTILL


def _power(run: Any) -> float:
    """The distance falls like k^-p, so the steps fall like k^-(p + 1)."""
    return -float(run["exponent"]) - 1


def _factor(rho: float) -> str:
    """A factor with enough digits to distinguish a slow rate from none."""
    digits = 3 if rho < 0.99 else 5
    return f"{rho:.{digits}f}"


def _row(run: Any) -> Row:
    entries = (
        Entry(plain_number(run["lipschitz"], 4)),
        Entry(_constants(run)),
        Entry(_applies(run)),
        Entry(_held(run)),
        Entry(plain_number(run["largest_subgradient_ratio"])),
        _rate(run),
        Entry(_count(run["iterations"])),
        Entry(_count(run["passes"])),
        Entry(plain_number(run["objective"], 7)),
        Entry(plain_number(run["residual"], 2)),
        Entry(plain_number(run["gap"], 2), below=_rigour(run)),
    )
    return Row(solver_name(run["solver"]), "", entries)


def _rate(run: Any) -> Entry:
    kind, _, rest = rate_in_words(run).partition(", ")
    return Entry(kind, below=(rest,) if rest else ())


def _applies(run: Any) -> str:
    """Only Algorithm 1 has constants for the theory to speak of."""
    if not math.isfinite(run["lipschitz"]):
        return NONE
    return "yes" if run["applies"] == 1 else "no"


def _constants(run: Any) -> str:
    lam, mu = plain_number(run["lam"], 4), plain_number(run["mu"], 4)
    return lam if lam == mu else f"{lam}, {mu}"


def _held(run: Any) -> str:
    if not math.isfinite(run["p1_steps"]) or run["p1_steps"] == 0:
        return NONE
    return f"{run['p1_held']:,.0f} of {run['p1_steps']:,.0f}"


def _count(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) else NONE


def _rigour(run: Any) -> tuple[str, ...]:
    if not math.isfinite(run["gap"]):
        return ()
    return ("rigorous",) if run["rigorous"] == 1 else ("an estimate",)
