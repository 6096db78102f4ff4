"""Pictures of the page: recall against the dimension, two stages, cosines of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from sphericalpca.evaluation.methods import LABELS, MODEL, SVD_UNIT
from sphericalpca.evaluation.result import Evaluation, EvaluationRow, stages
from sphericalpca.pages.pictures import Panel, Picture, Sample, flat_axes
from sphericalpca.plotting.style import INK, LINE_STYLES, PALETTE

__all__ = ["cosines_picture", "curves_picture"]

SIZE = (4.8, 3.7)

# Colour, line and marker of each method that is drawn; the model itself and Spherical PCA
# fitted to these rows would cover each other.
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


def curves_picture(found: Evaluation) -> Picture:
    """Recall against the dimension, and against the candidates of a second stage."""
    k = found.k
    left = f"recall@{k} against the number of leading dimensions, for all methods."
    right = f"recall@{k} after ranking with full vectors, against the number of candidates."
    return Picture(
        name="curves",
        caption=(
            f"Left: recall@{k} of the leading dimensions of each method. Right: recall@{k} at all "
            f"{found.n_components} dimensions, after the candidates of the search were ranked with "
            "full vectors. Band: 95 % interval of this model."
        ),
        panels=(
            Panel(SIZE, partial(_against_dimension, found=found), left),
            Panel(SIZE, partial(_against_candidates, found=found), right),
        ),
        legend=tuple(Sample(LABELS[name], *style) for name, style in STYLES.items()),
        across=2,
    )


def cosines_picture(found: Evaluation) -> Picture:
    """How near the rows lie to the subspace."""
    drift = found.drift
    label = "Histogram of the cosines between rows and their images in the subspace."
    legend = [Sample("mean of these rows", PALETTE[0])]
    if drift.then == drift.then:
        legend.append(Sample("mean at the fit", PALETTE[1], LINE_STYLES[1]))
    return Picture(
        name="cosines",
        caption=f"Cosines between {drift.n_samples:,} rows and their images in the subspace.",
        panels=(Panel((5.6, 3.2), partial(_histogram, found=found), label),),
        legend=tuple(legend),
    )


def _against_dimension(figure: Any, *, found: Evaluation) -> None:
    ax = flat_axes(figure, text=f"recall@{found.k} against the dimension")
    rows = [row for row in found.rows if row.k == row.candidates == found.k]
    _draw(ax, rows, "n_components")
    ax.set(xlabel="dimensions", ylim=(0, 1.02))
    _number_ticks(ax, sorted({row.n_components for row in rows}))


def _against_candidates(figure: Any, *, found: Evaluation) -> None:
    ax = flat_axes(figure, text=f"recall@{found.k} in two stages")
    rows = stages(found)
    _draw(ax, rows, "candidates")
    lowest = min(row.recall for row in rows)
    ax.set(xlabel="candidates ranked with full vectors", ylim=(max(lowest - 0.05, 0), 1.02))
    _number_ticks(ax, sorted({row.candidates for row in rows}))


def _draw(ax: Any, rows: Sequence[EvaluationRow], against: str) -> None:
    for name, (color, line, marker) in reversed(STYLES.items()):
        mine = [row for row in rows if row.method == name]
        x = [getattr(row, against) for row in mine]
        # The nearest rival often lies under the model's curve: its marks look out from there.
        size = 8 if name == SVD_UNIT else 4.5
        look = {"color": color, "linestyle": line, "marker": marker, "markersize": size}
        ax.plot(x, [row.recall for row in mine], linewidth=1.7, **look)
        if name == MODEL:
            band = {"color": color, "alpha": 0.18, "linewidth": 0}
            ax.fill_between(x, [row.low for row in mine], [row.high for row in mine], **band)


def _number_ticks(ax: Any, values: Sequence[int]) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator  # noqa: PLC0415

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(list(values)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _histogram(figure: Any, *, found: Evaluation) -> None:
    ax, drift = flat_axes(figure, grid="y"), found.drift
    counts, edges = np.histogram(drift.cosines, bins=60)
    ax.stairs(100 * counts / drift.n_samples, edges, fill=True, color=PALETTE[5], alpha=0.55)
    ax.axvline(drift.now, color=PALETTE[0], linewidth=1.8)
    if drift.then == drift.then:
        ax.axvline(drift.then, color=PALETTE[1], linewidth=1.8, linestyle=LINE_STYLES[1])
    ax.set(xlabel="cosine", ylabel="% of rows")
    ax.xaxis.label.set_color(INK)
