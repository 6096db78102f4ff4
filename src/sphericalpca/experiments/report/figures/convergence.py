"""Fig. 3: how U, V and the loss settle, four solvers on one set of axes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sphericalpca.experiments.report.figures.axes import flat_axes, log_scale
from sphericalpca.experiments.report.figures.picture import Panel, Picture, Sample
from sphericalpca.experiments.report.tables.grid import MINUS
from sphericalpca.experiments.report.tables.solvers import DATA_NAMES, solver_name
from sphericalpca.plotting.style import LINE_STYLES, PALETTE

__all__ = ["convergence"]

SIZE = (4.1, 3.2)

# A curve of more points looks the same and weighs more.
POINTS = 250

# The files hold twelve digits: a loss closer to the best one than this share is rounding.
ROUNDING = 1e-11

PANELS = {
    "delta_U": f"‖U(k+1) {MINUS} U(k)‖",
    "delta_V": f"‖V(k+1) {MINUS} V(k)‖",
    "objective": "objective",
    "gap": "objective above the best reached",
}


def convergence(frame: pd.DataFrame, data: str) -> Picture:
    """Four panels against passes over the data, for one data set."""
    part = frame[frame["data"] == data]
    if "gap" not in part:
        part = part.assign(gap=_gap(part["objective"].to_numpy(float)))
    solvers = list(part["solver"].unique())
    names = ", ".join(map(solver_name, solvers))
    where = DATA_NAMES.get(data, data)
    return Picture(
        name=f"convergence-{data}",
        caption=(
            f"Fig. 3 on {where}: steps of U and of V, the objective, and the objective above the "
            "best that any solver reached, against passes over the data. Distances below rounding "
            "are left out."
        ),
        panels=tuple(
            Panel(
                SIZE,
                partial(_curves, part=part, column=column, solvers=solvers),
                f"{text} against passes over the data, on {where}, for {names}.",
            )
            for column, text in PANELS.items()
        ),
        legend=tuple(Sample(solver_name(name), *_style(i)) for i, name in enumerate(solvers)),
        across=2,
    )


def _style(number: int) -> tuple[str, Any]:
    return PALETTE[number % len(PALETTE)], LINE_STYLES[number % len(LINE_STYLES)]


def _gap(loss: npt.NDArray[Any]) -> npt.NDArray[Any]:
    gap = loss - np.nanmin(loss)
    return np.where(gap > ROUNDING * np.abs(loss), gap, np.nan)


def _curves(figure: Any, *, part: pd.DataFrame, column: str, solvers: list[str]) -> None:
    ax = flat_axes(figure, text=PANELS[column])
    for number, solver in enumerate(solvers):
        run = part[(part["solver"] == solver) & (part[column] > 0)]
        run = run.iloc[_thinned(len(run))]
        color, line = _style(number)
        ends = {"marker": "o", "markevery": [len(run) - 1], "markersize": 4} if len(run) else {}
        ax.plot(run["passes"], run[column], color=color, linestyle=line, linewidth=1.7, **ends)
    log_scale(ax.xaxis)
    if column != "objective":
        log_scale(ax.yaxis)
    ax.set(xlabel="passes over the data")


def _thinned(length: int) -> npt.NDArray[np.integer[Any]]:
    """Positions spread evenly on a log scale, first and last included."""
    if length <= POINTS:
        return np.arange(length)
    return np.unique(np.geomspace(1, length, POINTS).round().astype(int)) - 1
