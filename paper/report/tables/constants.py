"""Algorithm 1 with other constants: mean cosines reached, and accuracies of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from paper.plan import DEFAULT_SOLVER, constants_of
from sphericalpca.pages.tables import NOTHING, Entry, Row, Table, share

__all__ = ["Sweep", "constants_table", "sweeps"]

DATA = {"toy": "the toy", "20newsgroups": "newsgroups"}

# A mean cosine this close to that of the default solver counts as reached.
REACHED = 1e-3


@dataclass(frozen=True)
class Sweep:
    """The runs on one data set: means over draws, by the multiples of L_c.

    Attributes
    ----------
    dataset, groups : str
    runs : dict from (lam, mu) to Series of accuracy, mean_cosine and iterations
    default : Series
        The same of the default solver.
    draws : int
    """

    dataset: str
    groups: str
    runs: dict[tuple[float, float], pd.Series[float]]
    default: pd.Series[float]
    draws: int

    @property
    def where(self) -> str:
        """The name of the data on the page."""
        name = DATA.get(self.dataset, self.dataset)
        return name if self.dataset == "toy" else f"{name}, {self.groups} groups"

    def reaches(self, pair: tuple[float, float]) -> bool:
        """Whether the mean cosine is that of the default solver, to a thousandth."""
        return bool(self.runs[pair]["mean_cosine"] >= (1 - REACHED) * self.default["mean_cosine"])


def sweeps(rows: pd.DataFrame) -> list[Sweep]:
    """Every data set on which the constants were varied."""
    found = []
    part = rows[rows["experiment"] == "constants"]
    for (dataset, groups), own in part.groupby(["dataset", "groups"], sort=False):
        means = own.groupby("variant", sort=False)[["accuracy", "mean_cosine", "iterations"]].mean()
        if DEFAULT_SOLVER not in means.index or len(means) < 2:
            continue
        pairs = {_pair(name): run for name, run in means.iterrows() if name != DEFAULT_SOLVER}
        draws = own["repetition"].nunique()
        found.append(Sweep(dataset, groups, pairs, means.loc[DEFAULT_SOLVER], draws))
    return found


def constants_table(sweep: Sweep, *, name: str) -> Table:
    """λ down, μ across."""
    lams, mus = (sorted({pair[i] for pair in sweep.runs}) for i in (0, 1))
    default = sweep.default
    return Table(
        name=name,
        title=f"Algorithm 1 with other constants, on {sweep.where}",
        caption=(
            "λ and μ as multiples of L_c; the theory asks for more than 1. Mean accuracy of the "
            "clusters, and below the mean cosine reached and the iterations made, at most 1,000, "
            f"from a random start, over {_counted(sweep.draws)}. The default solver: accuracy "
            f"{share(default['accuracy'])}, mean cosine {default['mean_cosine']:.4f}, "
            f"{default['iterations']:.0f} iterations. ★ within a thousandth of its mean cosine."
        ),
        corner="λ / L_c",
        columns=tuple(f"μ = {mu:g} L_c" for mu in mus),
        rows=tuple(Row(f"{lam:g}", "", _entries(sweep, lam, mus)) for lam in lams),
    )


def _entries(sweep: Sweep, lam: float, mus: Sequence[float]) -> tuple[Entry, ...]:
    return tuple(_entry(sweep, (lam, mu)) for mu in mus)


def _entry(sweep: Sweep, pair: tuple[float, float]) -> Entry:
    run = sweep.runs.get(pair)
    if run is None:
        return NOTHING
    below = (f"cosine {run['mean_cosine']:.4f}", f"{run['iterations']:,.0f} iterations")
    return Entry(share(run["accuracy"]), "", below, best=sweep.reaches(pair))


def _pair(variant: str) -> tuple[float, float]:
    constants = constants_of(variant)
    return constants["lam"], constants["mu"]


def _counted(draws: int) -> str:
    return f"{draws} draw" + ("s" if draws > 1 else "")
