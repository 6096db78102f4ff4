"""The evaluation as one self-contained HTML page: no network, no other file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from sphericalpca.evaluation.findings import findings
from sphericalpca.evaluation.methods import LABELS, MODEL, REFIT, SVD_UNIT
from sphericalpca.evaluation.result import Evaluation, EvaluationRow, stages
from sphericalpca.pages import document
from sphericalpca.pages.pictures import Panel, Picture, Sample, flat_axes
from sphericalpca.pages.tables import HIGHER, LEVEL, LOWER, NOTHING, Entry, Row, Table, share, shift
from sphericalpca.plotting.style import INK, LINE_STYLES, PALETTE, ticks_at

__all__ = ["render"]

SIGNS = {
    "ahead": (LOWER, "lower than Spherical PCA"),
    "behind": (HIGHER, "higher than Spherical PCA"),
    "level": (LEVEL, "level with Spherical PCA"),
}

SIZE = (4.8, 3.7)
AGAINST = {"n_components": "dimensions", "candidates": "candidates ranked with full vectors"}

# Colour, line and marker of each method that is drawn; the curves of the model itself and of
# Spherical PCA fitted to these rows would overlap.
STYLES = {
    MODEL: (PALETTE[0], LINE_STYLES[0], "o"),
    SVD_UNIT: (PALETTE[1], LINE_STYLES[1], "s"),
    "svd-dot": (PALETTE[4], LINE_STYLES[2], ""),
    "pca-cosine": (PALETTE[2], LINE_STYLES[0], "^"),
    "pca-dot": (PALETTE[6], LINE_STYLES[2], ""),
    "pca-euclidean": (PALETTE[3], LINE_STYLES[3], ""),
    "truncation": (PALETTE[7], LINE_STYLES[1], ""),
    "random": (PALETTE[9], LINE_STYLES[3], ""),
}


def render(
    found: Evaluation, *, model: str, data: str, certificate: Mapping[str, Any] | None = None
) -> str:
    """The page as text; `model` and `data` are names, `certificate` is a dict of facts."""
    row = found.row(MODEL, k=found.k)
    return document.render(
        "sphericalpca.evaluation",
        "evaluation.html.j2",
        pictures={p.name: p for p in (_curves_picture(found), _cosines_picture(found))},
        tables={table.name: table for table in (_recall_table(found), _stages_table(found))},
        found=found,
        model=model,
        data=data,
        certificate=certificate,
        recall=share(row.recall),
        interval=f"{share(row.low)} to {share(row.high)}",
        sentences=findings(found),
    )


def _recall_table(found: Evaluation) -> Table:
    standings = {k: found.standings(k) for k in found.at}
    best = {k: max(found.row(name, k=k).recall for name in LABELS) for k in found.at}

    def entry(method: str, k: int) -> Entry:
        row = found.row(method, k=k)
        sign, meaning = SIGNS[standings[k][method].outcome] if method != REFIT else ("", "")
        below = (f"{share(row.low)} to {share(row.high)}",)
        return Entry(share(row.recall), "", below, row.recall == best[k], sign, meaning)

    def gap(method: str) -> Entry:
        row = found.row(method, k=found.k)
        between = f"{shift(row.difference_low)} to {shift(row.difference_high)}"
        return NOTHING if method == REFIT else Entry(shift(row.difference), "", (between,))

    return Table(
        name="recall",
        title=f"Neighbours kept by {found.n_components} dimensions",
        caption=(
            f"Mean recall over {found.n_queries:,} held-out queries, with 95 % intervals; ★ the "
            f"largest. {LOWER} lower and {HIGHER} higher than Spherical PCA, {LEVEL} no "
            "significant difference, or one below half a point. Gap: Spherical PCA minus the "
            f"method (none for itself) at recall@{found.k}, paired. This model is not refitted; if "
            "fitted to these rows, it has seen the queries. All others are fitted without them."
        ),
        corner="Method",
        columns=(*(f"recall@{k}" for k in found.at), f"gap at {found.k}"),
        rows=tuple(
            Row(label, "", (*(entry(name, k) for k in found.at), gap(name)))
            for name, label in LABELS.items()
        ),
    )


def _stages_table(found: Evaluation) -> Table:
    rows = stages(found)
    counts = sorted({row.candidates for row in rows})
    recalls = {(row.method, row.candidates): Entry(share(row.recall)) for row in rows}
    return Table(
        name="stages",
        title=f"Two stages: recall@{found.k} after ranking the first candidates with full vectors",
        caption="Columns: number of candidates from the first stage that are ranked.",
        corner="Method",
        columns=tuple(f"{candidates:,}" for candidates in counts),
        rows=tuple(
            Row(label, "", tuple(recalls[name, count] for count in counts))
            for name, label in LABELS.items()
        ),
    )


def _curves_picture(found: Evaluation) -> Picture:
    """Recall against the dimension, and against the candidates of a second stage."""
    k, rows = found.k, [row for row in found.rows if row.k == row.candidates == found.k]
    left = f"recall@{k} against the number of leading dimensions, for all methods."
    right = f"recall@{k} after ranking with full vectors, against the number of candidates."
    draw_left = partial(_draw, rows=rows, against="n_components")
    draw_right = partial(_draw, rows=stages(found), against="candidates")
    return Picture(
        name="curves",
        caption=(
            f"Left: recall@{k} of the leading dimensions of each method. Right: recall@{k} at all "
            f"{found.n_components} dimensions, after the candidates of the search were ranked with "
            "full vectors. Band: 95 % interval of this model."
        ),
        panels=(
            Panel(SIZE, partial(draw_left, text=f"recall@{k} against the dimension"), left),
            Panel(SIZE, partial(draw_right, text=f"recall@{k} in two stages"), right),
        ),
        legend=tuple(Sample(LABELS[name], *style) for name, style in STYLES.items()),
    )


def _cosines_picture(found: Evaluation) -> Picture:
    """How close the rows are to the subspace."""
    drift = found.drift
    label = "Histogram of the cosines between rows and their projections."
    legend = [Sample("mean of these rows", PALETTE[0])]
    if drift.then == drift.then:
        legend.append(Sample("mean at the fit", PALETTE[1], LINE_STYLES[1]))
    return Picture(
        name="cosines",
        caption=f"Cosines between {drift.n_samples:,} rows and their projections.",
        panels=(Panel((5.6, 3.2), partial(_histogram, found=found), label),),
        legend=tuple(legend),
    )


def _draw(figure: Any, *, rows: Sequence[EvaluationRow], against: str, text: str) -> None:
    ax = flat_axes(figure, text=text)
    for name, (color, line, marker) in reversed(STYLES.items()):
        mine = [row for row in rows if row.method == name]
        x = [getattr(row, against) for row in mine]
        # This curve often lies under the model's: larger markers keep it visible.
        size = 8 if name == SVD_UNIT else 4.5
        look = {"color": color, "linestyle": line, "marker": marker, "markersize": size}
        ax.plot(x, [row.recall for row in mine], linewidth=1.7, **look)
        if name == MODEL:
            band = {"color": color, "alpha": 0.18, "linewidth": 0}
            ax.fill_between(x, [row.low for row in mine], [row.high for row in mine], **band)
    lowest = 0.0 if against == "n_components" else min(row.recall for row in rows) - 0.05
    ax.set(xlabel=AGAINST[against], ylim=(max(lowest, 0), 1.02))
    ticks_at(ax, sorted({getattr(row, against) for row in rows}))


def _histogram(figure: Any, *, found: Evaluation) -> None:
    ax, drift = flat_axes(figure, grid="y"), found.drift
    counts, edges = np.histogram(drift.cosines, bins=60)
    ax.stairs(100 * counts / drift.n_samples, edges, fill=True, color=PALETTE[5], alpha=0.55)
    ax.axvline(drift.now, color=PALETTE[0], linewidth=1.8)
    if drift.then == drift.then:
        ax.axvline(drift.then, color=PALETTE[1], linewidth=1.8, linestyle=LINE_STYLES[1])
    ax.set(xlabel="cosine", ylabel="% of rows")
    ax.xaxis.label.set_color(INK)
