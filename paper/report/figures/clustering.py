"""Pictures of clusterings: methods line by line, and curves against the dimension."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from paper.methods import METHODS
from paper.report.agreement import left_out, paper_number
from paper.report.compare import OURS, ComparisonLine, methods_of
from paper.report.figures.axes import log_scale, method_style, share_scale
from paper.report.tables.clustering import line_name
from paper.report.tables.lsa import LSA, VARIANTS
from sphericalpca.pages.pictures import Panel, Picture, Sample, flat_axes
from sphericalpca.plotting.style import INK, PALETTE

__all__ = ["against_dimension", "lsa_curves", "methods_by_line", "seconds"]

CURVE_SIZE = (4.6, 3.5)

# Axis positions for a list of methods: names need room on the left.
LIST_PLACE = (0.40, 0.13, 0.56, 0.77)

OTHERS = PALETTE[9]


def methods_by_line(lines: Sequence[ComparisonLine], *, name: str, caption: str) -> Picture:
    """The accuracy of every method, a panel per line; the paper's numbers as diamonds."""
    methods = methods_of(list(lines))
    size = (4.1, 0.9 + 0.235 * len(methods))
    with_paper = any(paper_number(line, OURS, "accuracy") is not None for line in lines)
    legend = (
        Sample("Spherical PCA", PALETTE[0], "-", "o"),
        Sample("other methods", OTHERS, "-", "o"),
        *(
            [Sample("the paper's number", PALETTE[1], "none", "D", hollow=True)]
            if with_paper
            else []
        ),
        *([Sample("min-max data", OTHERS, "-", "o", hollow=True)] if left_out(lines) else []),
    )
    panels = tuple(
        Panel(size, partial(_method_list, line=line, methods=methods), _in_words(line))
        for line in lines
    )
    across = 2 if len(panels) == 4 else 3
    return Picture(name=name, caption=caption, panels=panels, legend=legend, across=across)


def against_dimension(lines: Sequence[ComparisonLine], *, caption: str) -> Picture:
    """Accuracy and NMI against r, with the interval of each mean as a band."""
    methods = methods_of(list(lines))
    panels = tuple(
        Panel(
            CURVE_SIZE,
            partial(_curves, lines=lines, measure=measure, methods=methods, text=text),
            f"{text} against the dimension r for {_names(methods)}.",
        )
        for measure, text in (("accuracy", "accuracy"), ("nmi_max", "NMI"))
    )
    return Picture(
        name="rank",
        caption=caption,
        panels=panels,
        legend=tuple(_sample(method) for method in methods),
        across=2,
    )


def lsa_curves(lines: Sequence[ComparisonLine], *, caption: str) -> Picture:
    """V-measure against r, a panel for each choice of groups and of what varies."""
    parts: dict[tuple[str, str], list[ComparisonLine]] = {}
    for line in lines:
        parts.setdefault((line.key.groups, line.key.variant), []).append(line)
    panels = []
    for (groups, variant), part in parts.items():
        text = f"V-measure, {groups} groups, {VARIANTS.get(variant, variant)}"
        draw = partial(
            _curves, lines=part, measure="nmi_arithmetic", methods=[LSA, OURS], text=text
        )
        panels.append(Panel(CURVE_SIZE, draw, f"{text}, against r: LSA and Spherical PCA."))
    color, line_style, marker = method_style(LSA)
    legend = (_sample(OURS), Sample("LSA (SVD + unit rows)", color, line_style, marker))
    return Picture(name="lsa", caption=caption, panels=tuple(panels), legend=legend, across=2)


def seconds(lines: Sequence[ComparisonLine], *, caption: str) -> Picture:
    """CPU seconds of each representation: a panel per table, and against r for the recipe."""
    parts: dict[str, list[ComparisonLine]] = {}
    for line in lines:
        recipe = f"Table 3, {line.key.groups} groups"
        parts.setdefault(TEXTS.get(line.key.experiment, recipe), []).append(line)
    methods = [method for method in methods_of(list(lines)) if METHODS[method].reduces]
    size = (5.2, 1.5 + 0.24 * len(methods))
    panels = []
    for text, part in parts.items():
        draw = partial(_seconds_list, lines=part, methods=methods, text=text)
        if part[0].key.experiment == "lsa":
            draw = partial(_seconds_curves, lines=part, text=text)
        words = f"CPU seconds of each method's representation, {text}."
        panels.append(Panel(size, draw, words))
    return Picture(name="seconds", caption=caption, panels=tuple(panels), across=2)


TEXTS = {"newsgroups": "texts", "uci": "tables"}


def _names(methods: Sequence[str]) -> str:
    return ", ".join(METHODS[method].label for method in methods)


def _sample(method: str) -> Sample:
    color, line, marker = method_style(method)
    return Sample(METHODS[method].label, color, line, marker)


def _in_words(line: ComparisonLine) -> str:
    cells = line.cells["accuracy"]
    values = [
        f"{METHODS[m].label} {cells[m].mean:.3f}{' (min-max data)' if cells[m].borrowed else ''}"
        for m in methods_of([line])
    ]
    return f"Mean accuracy, {line_name(line)}: {', '.join(values)}."


def _method_list(figure: Any, *, line: ComparisonLine, methods: Sequence[str]) -> None:
    ax = flat_axes(figure, LIST_PLACE, text=line_name(line), grid="x")
    for place, method in enumerate(methods):
        cell = line.cells["accuracy"].get(method)
        if cell is None:
            continue
        color = PALETTE[0] if method == OURS else OTHERS
        ax.plot(cell.interval, [place, place], color=color, linewidth=2.0)
        hollow = {"markerfacecolor": "none"} if cell.borrowed else {}
        ax.plot(cell.mean, place, "o", color=color, markersize=5.5, clip_on=False, **hollow)
        paper = paper_number(line, method, "accuracy")
        if paper is not None:
            ax.plot(paper, place, "D", color=PALETTE[1], markersize=4.5, markerfacecolor="none")
    _list_methods(ax, methods)
    ax.set(xlabel="accuracy")
    share_scale(ax.xaxis)


def _list_methods(ax: Any, methods: Sequence[str]) -> None:
    labels = [METHODS[method].label for method in methods]
    ax.set_yticks(range(len(methods)), labels)
    ax.set_ylim(len(methods) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def _curves(
    figure: Any, *, lines: Sequence[ComparisonLine], measure: str, methods: Sequence[str], text: str
) -> None:
    ax = flat_axes(figure, (0.12, 0.15, 0.84, 0.74), text=text)
    ordered = sorted(lines, key=lambda line: line.key.r)
    for method in methods:
        cells = {ln.key.r: c for ln in ordered if (c := ln.cells[measure].get(method))}
        color, style, marker = method_style(method)
        ends = np.array([cell.interval for cell in cells.values()]).reshape(-1, 2)
        ax.fill_between(list(cells), *ends.T, color=color, alpha=0.13, linewidth=0)
        means = [cell.mean for cell in cells.values()]
        ax.plot(*(list(cells), means), color=color, linestyle=style, marker=marker, markersize=4.5)
    log_scale(ax.xaxis)
    share_scale(ax.yaxis)
    dimensions = [line.key.r for line in ordered]
    ax.set_xticks(dimensions, [str(r) for r in dimensions])
    ax.set(xlabel="dimension r")


def _seconds_list(
    figure: Any, *, lines: Sequence[ComparisonLine], methods: Sequence[str], text: str
) -> None:
    ax = flat_axes(figure, (0.33, 0.24, 0.63, 0.66), text=f"CPU seconds, {text}", grid="x")
    for number, line in enumerate(lines):
        places = [place for place, method in enumerate(methods) if line.seconds.get(method, 0) > 0]
        values = [line.seconds[methods[place]] for place in places]
        color, marker = PALETTE[number % len(PALETTE)], "os^DvP*X"[number % 8]
        style = {"linestyle": "none", "markersize": 5.5, "label": line_name(line)}
        ax.plot(values, places, color=color, marker=marker, **style)
    _list_methods(ax, methods)
    log_scale(ax.xaxis)
    place = {"loc": "upper center", "bbox_to_anchor": (0.3, -0.1), "ncols": 3}
    ax.legend(frameon=False, fontsize=8.5, labelcolor=INK, handletextpad=0.1, **place)


def _seconds_curves(figure: Any, *, lines: Sequence[ComparisonLine], text: str) -> None:
    ax = flat_axes(figure, (0.14, 0.24, 0.82, 0.66), text=f"CPU seconds, {text}")
    for method, label in ((LSA, "LSA"), (OURS, METHODS[OURS].label)):
        known = {ln.key.r: s for ln in lines if (s := ln.seconds.get(method, 0.0)) > 0}
        color, style, marker = method_style(method)
        look = {"color": color, "linestyle": style, "marker": marker, "markersize": 4.5}
        ax.plot(list(known), list(known.values()), label=label, **look)
    log_scale(ax.xaxis)
    log_scale(ax.yaxis)
    dimensions = [line.key.r for line in lines]
    ax.set_xticks(dimensions, [str(r) for r in dimensions])
    ax.set(xlabel="dimension r")
    ax.legend(frameon=False, fontsize=8.5, labelcolor=INK, loc="upper left")
