"""Pictures of the rows; nothing is run here."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import CASES
from benchmarks.compare import rows_table, trace_table
from benchmarks.growth import AXES, fit_exponent, growth_table
from benchmarks.methods import METHODS
from benchmarks.ours import CHOICES
from benchmarks.reach import GOALS, reach_table
from benchmarks.table import Row, number
from sphericalpca.plotting.style import FAINT, INK, PALETTE, new_figure, save_picture, tidy

__all__ = ["draw"]

# Below this share of the best value a loss gap is rounding, and a curve ends on the floor.
FLOOR = 1e-8

VERDICTS = {"met": PALETTE[2], "not judged": FAINT}
MISSED = PALETTE[1]

# In the tables only: "ours, given start" is one of them.
HIDDEN = {choice.name for choice in CHOICES}

_LINES = ("-", "--", "-", "-.", ":", "--")
_MARKS = {"ours": "*", "TruncatedSVD": "s", "PCA, randomized": "^", "PCA, covariance_eigh": "v"}
_MARKS |= {"IncrementalPCA": "D", "NMF": "P"}


def draw(folder: Path) -> list[Path]:
    """Draw all pictures that the rows allow, and return the files."""
    drawn = [*_traces(folder), _reach(folder), _growth(folder)]
    return [path for path in drawn if path is not None]


def _traces(folder: Path) -> Iterable[Path]:
    rows, points = rows_table(folder).read(), trace_table(folder).read()
    for case in CASES:
        mine = [row for row in rows if row["case"] == case and row["method"]]
        if mine:
            path = folder / f"gap-{case}.png"
            save_picture(_gap_figure(mine, [p for p in points if p["case"] == case]), path)
            yield path


def _gap_figure(rows: list[Row], points: list[Row]) -> Any:
    """One line of panels for each r: loss gap against seconds, and against passes."""
    components = sorted({int(row["r"]) for row in rows})
    figure = new_figure((10.4, 0.9 + 2.9 * len(components)))
    panels = figure.subplots(len(components), 2, squeeze=False, sharey="row")
    for (left, right), r in zip(panels, components, strict=True):
        mine = [row for row in rows if int(row["r"]) == r]
        curves = [point for point in points if int(point["r"]) == r]
        for ax, spent in ((left, "seconds"), (right, "passes")):
            _curves(ax, curves, spent)
            _ends(ax, mine, spent)
            _gap_axes(ax, spent)
        left.set_ylabel(f"r = {r}: loss gap")
    first = rows[0]
    figure.suptitle(
        f"{first['about']}: {int(first['n']):,} x {int(first['m']):,}", color=INK, fontsize=11
    )
    handles = _handles(panels)
    figure.legend(handles.values(), handles, loc="outside right upper", frameon=False, fontsize=8.5)
    return figure


def _style(method: str) -> tuple[str, str]:
    """Colour and line of a method, the same in every picture."""
    position = [one.name for one in METHODS].index(method)
    # Both of ours share a colour: the curve from the given start, the star for the whole fit.
    position = max(position - 1, 0)
    color = PALETTE[position] if position < len(PALETTE) else INK
    return color, _LINES[position % len(_LINES)]


def _curves(ax: Any, points: list[Row], spent: str) -> None:
    for method in dict.fromkeys(point["method"] for point in points):
        if method == "ours" or method in HIDDEN:
            continue  # the whole fit pays for its start, so it is a point among others
        mine = [point for point in points if point["method"] == method]
        color, line = _style(method)
        x, y = ([number(point, column) for point in mine] for column in (spent, "loss_gap"))
        wide = 2.2 if method.startswith("ours") else 1.4
        ax.plot(x, np.maximum(y, FLOOR), color=color, linestyle=line, linewidth=wide, label=method)


def _ends(ax: Any, rows: list[Row], spent: str) -> None:
    """Whole fits as single marks."""
    for row in rows:
        method, x = row["method"], number(row, spent)
        if method in _MARKS and not math.isnan(x):
            color, _ = _style(method)
            size = 13 if method == "ours" else 7
            label = "ours, whole fit" if method == "ours" else method
            y = max(number(row, "loss_gap"), FLOOR)
            ax.plot(
                [x], [y], _MARKS[method], color=color, markersize=size, label=label,
                markeredgecolor="white", markeredgewidth=0.7, linestyle="", zorder=3,
            )  # fmt: skip


def _gap_axes(ax: Any, spent: str) -> None:
    tidy(ax, grid="both")
    ax.set(xscale="log", yscale="log", ylim=(FLOOR / 1.6, 2.0))
    ax.minorticks_off()  # over ten decades they blur, and take most of the drawing time
    ax.set_xlabel("seconds" if spent == "seconds" else "passes over the data")


def _handles(panels: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for ax in panels.flat:
        handles, labels = ax.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    return found


def _reach(folder: Path) -> Path | None:
    there = {row["goal"]: row for row in reach_table(folder).read() if row["measured"] != ""}
    rows = [there[name] for name in GOALS if name in there]
    if not rows:
        return None
    figure = new_figure((8.2, 1.1 + 0.36 * len(rows)))
    ax = figure.add_subplot()
    shares = [_share(row) for row in rows]
    colors = [VERDICTS.get(row["verdict"], MISSED) for row in rows]
    ax.barh(range(len(rows)), shares, color=colors, height=0.62, zorder=2)
    ax.axvline(1.0, color=INK, linewidth=1.0, zorder=3)
    for place, (row, share) in enumerate(zip(rows, shares, strict=True)):
        sign = "≥" if row["sense"] == "at least" else "≤"
        text = f"{number(row, 'measured'):.3g} ({sign} {number(row, 'limit'):g})"
        ax.text(max(share, 1.0) * 1.08, place, text, va="center", fontsize=8.5, color=INK, zorder=4)
    ax.set_yticks(range(len(rows)), [row["goal"] for row in rows])
    ax.invert_yaxis()
    ax.set(xscale="log", xlim=(min(*shares, 0.5) / 2, max(*shares, 1.0) * 4))
    _plain_numbers(ax.xaxis)
    ax.set_xlabel("share of the limit: up to 1 the goal is met")
    tidy(ax, grid="x")
    path = folder / "reach.png"
    save_picture(figure, path)
    return path


def _share(row: Row) -> float:
    share = number(row, "measured") / number(row, "limit")
    return 1.0 / share if row["sense"] == "at least" else share


def _growth(folder: Path) -> Path | None:
    rows = growth_table(folder).read()
    axes = [axis for name, axis in AXES.items() if any(row["axis"] == name for row in rows)]
    if not axes:
        return None
    figure = new_figure((10.4, 3.2 * math.ceil(len(axes) / 2)))
    panels = figure.subplots(math.ceil(len(axes) / 2), 2, squeeze=False).ravel()
    for ax, axis in zip(panels, axes, strict=False):
        _growth_panel(ax, [row for row in rows if row["axis"] == axis.name])
        ax.set_title(axis.about, loc="left", fontsize=9.5, color=INK)
        ax.set_xlabel(axis.name)
    for ax in panels[len(axes) :]:
        ax.remove()
    path = folder / "growth.png"
    save_picture(figure, path)
    return path


def _growth_panel(ax: Any, rows: list[Row]) -> None:
    for position, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
        mine = [row for row in rows if row["method"] == method]
        size, seconds = (np.array([number(r, c) for r in mine]) for c in ("size", "seconds"))
        fitted = fit_exponent(size.tolist(), seconds.tolist())
        color, mark = PALETTE[position], "os"[position % 2]
        ax.plot(size, fitted.factor * size**fitted.power, color=color, linewidth=1.3)
        ax.plot(size, seconds, mark, color=color, label=f"{method}: exponent {fitted.power:.2f}")
    ax.set(xscale="log", yscale="log", ylabel="seconds")
    tidy(ax, grid="both")
    for axis in (ax.xaxis, ax.yaxis):
        _plain_numbers(axis)
    ax.legend(frameon=False, fontsize=8.5)


def _plain_numbers(axis: Any) -> None:
    """Label a log scale with 1, 2, 5, 10 instead of powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator  # noqa: PLC0415

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 500 * low else (1,)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
