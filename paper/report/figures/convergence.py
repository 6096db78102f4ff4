"""Fig. 3: how U, V and the loss settle, four solvers on one set of axes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from paper.report.figures.axes import log_scale
from paper.report.findings.words import listed
from paper.report.naming import file_name
from paper.report.tables.solvers import DATA_NAMES, solver_name
from sphericalpca.pages.pictures import Panel, Picture, Sample, flat_axes
from sphericalpca.pages.tables import MINUS
from sphericalpca.plotting.style import LINE_STYLES, PALETTE

__all__ = ["convergence"]

SIZE = (4.1, 3.2)

# A curve of more points looks the same and makes the page larger.
POINTS = 250

# The files hold twelve digits: a loss closer to the best one than this share is rounding.
ROUNDING = 1e-11

PANELS = {
    "delta_U": f"‖U(k+1) {MINUS} U(k)‖",
    "delta_V": f"‖V(k+1) {MINUS} V(k)‖",
    "objective": "loss",
    "gap": "loss above the best reached",
}


def convergence(frame: pd.DataFrame, data: str, starts: dict[str, str] | None = None) -> Picture:
    """Four panels against passes over the data, for one data set; `starts` by solver."""
    part = frame[frame["data"] == data]
    if "gap" not in part:
        part = part.assign(gap=_gap(part["objective"].to_numpy(float)))
    solvers = list(part["solver"].unique())
    names = ", ".join(map(solver_name, solvers))
    where = DATA_NAMES.get(data, data)
    return Picture(
        name=file_name("convergence", data),
        caption=(
            f"Fig. 3 on {where}: steps of U and of V, the loss, and the loss above the best that "
            "any solver reached, against passes over the data. Distances below rounding are left "
            f"out.{_where_they_start(part, starts or {})}"
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


START_NAMES = {
    "leading unit vectors, V uniform": "the leading unit vectors as U and random numbers as V",
    "random U, V uniform": "a random U and random numbers as V",
    "SVD": "the SVD",
}


def _where_they_start(part: pd.DataFrame, starts: dict[str, str]) -> str:
    """A sentence on the starts; a curve that begins lower than the others is explained by it."""
    by_start: dict[str, list[str]] = {}
    for solver in part["solver"].unique():
        if solver in starts:
            by_start.setdefault(starts[solver], []).append(solver)
    texts = []
    for start, solvers in by_start.items():
        verb = "starts" if len(solvers) == 1 else "start"
        text = f"{listed(map(solver_name, solvers))} {verb} from {START_NAMES.get(start, start)}"
        if len(by_start) > 1 and _begins_lowest(part, solvers):
            text += f", which is why {'it begins' if len(solvers) == 1 else 'they begin'} lower"
        texts.append(text)
    sentence = "; ".join(texts)
    return f" {sentence[0].upper()}{sentence[1:]}." if sentence else ""


def _begins_lowest(part: pd.DataFrame, solvers: list[str]) -> bool:
    """Whether the first loss of each of `solvers` is below that of every other."""
    first = part.groupby("solver")["objective"].first()
    mine = first.index.isin(solvers)
    return bool(first[mine].max() < first[~mine].min())


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
