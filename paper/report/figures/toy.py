"""Fig. 2: the toy's true groups, k-means on its raw points, and Spherical PCA's components."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from paper.report.figures.axes import title
from paper.report.findings.words import percent
from sphericalpca.linalg import Array
from sphericalpca.pages.pictures import Panel, Picture, Sample
from sphericalpca.plotting.sphere import SphereDisplay
from sphericalpca.plotting.style import FAINT, INK, PALETTE

__all__ = ["toy"]

SIZE = (3.9, 3.7)


def toy(points: pd.DataFrame) -> Picture:
    """Three panels from the points of one draw."""
    raw, spherical = (float((points[name] == points["group"]).mean()) for name in FOUND)
    titles = {
        "group": "true groups",
        "kmeans": f"k-means on raw points: {percent(raw)} right",
        "spherical": f"k-means on the components: {percent(spherical)} right",
    }
    draw = int(points["repetition"].iloc[0]) if "repetition" in points else 0
    return Picture(
        name="toy",
        caption=(
            f"Fig. 2. Draw {draw} of the toy, the one whose accuracies are nearest to the medians "
            "of all draws. Left: the true groups. Middle: clusters that k-means finds on the "
            "raw points. Right: Spherical PCA's two components, which lie on the unit circle, and "
            "the clusters that k-means finds there. Wrong points are ringed."
        ),
        panels=(
            Panel(SIZE, partial(_space, points=points, found="group", text=titles["group"]), LEFT),
            Panel(
                SIZE,
                partial(_space, points=points, found="kmeans", text=titles["kmeans"]),
                f"K-means on the raw points finds {percent(raw)} of the points' groups.",
            ),
            Panel(
                SIZE,
                partial(_circle, points=points, text=titles["spherical"]),
                "Spherical PCA's components on the unit circle; k-means finds "
                f"{percent(spherical)} of the points' groups there.",
            ),
        ),
        legend=(
            Sample("group 1", PALETTE[0], "none", "o"),
            Sample("group 2", PALETTE[1], "none", "s"),
        ),
    )


FOUND = ("kmeans", "spherical")

LEFT = (
    "200 points in space in two groups: one in the plane y = 0 and one in the plane x = 0, both "
    "near the z axis or above the diagonal."
)

MARKERS = ("o", "s")


def _scatter(
    ax: Any, where: Any, points: pd.DataFrame, found: str, *, ringed: bool = True, **style: Any
) -> None:
    """Points coloured and shaped by the cluster found; wrong ones are ringed."""
    cluster, truth = (points[name].to_numpy().astype(int) for name in (found, "group"))
    for number, marker in enumerate(MARKERS):
        mine = [axis[cluster == number] for axis in where]
        ax.scatter(*mine, c=PALETTE[number], marker=marker, linewidths=0, **style)
    wrong = [axis[(cluster != truth) & ringed] for axis in where]
    ring = {**style, "s": 4 * style["s"], "linewidths": 1.1}
    ax.scatter(*wrong, facecolors="none", edgecolors=INK, **ring)


def _space(figure: Any, *, points: pd.DataFrame, found: str, text: str) -> None:
    title(figure, text)
    ax = figure.add_axes((0.02, 0.0, 0.96, 0.94), projection="3d")
    ax.patch.set_visible(False)
    where: list[npt.NDArray[Any]] = [points[name].to_numpy(float) for name in "xyz"]
    _scatter(ax, where, points, found, s=15, depthshade=False)
    ax.view_init(elev=18, azim=40)
    ax.set_box_aspect((1, 1, 1), zoom=1.0)
    ax.grid(visible=False)
    for name, axis in zip("xyz", (ax.xaxis, ax.yaxis, ax.zaxis), strict=True):
        axis.pane.set(facecolor="none", edgecolor=FAINT)
        axis.line.set(color=INK, linewidth=0.6)
        axis.set_ticks([0, 10, 20])
        axis.set_tick_params(labelsize=8, labelcolor=INK, pad=-2)
        axis.set_label_text(name, color=INK)
        axis.labelpad = -7


def _circle(figure: Any, *, points: pd.DataFrame, text: str) -> None:
    title(figure, text)
    ax = figure.add_axes((0.17, 0.14, 0.76, 0.74))
    ax.patch.set_visible(False)
    V = points[["v1", "v2"]].to_numpy(float)
    # The display draws the circle and its axes; its points are replaced by ringed ones.
    SphereDisplay(V).plot(ax=ax).points_.remove()
    wrong = (points["spherical"] != points["group"]).to_numpy()
    if wrong.any():
        _magnify(ax, points, V, V[wrong])
    else:
        _scatter(ax, V.T, points, "spherical", s=17)


def _magnify(ax: Any, points: pd.DataFrame, V: Array, around: Array) -> None:
    """All points on the circle, and those around the wrong ones once more, enlarged."""
    _scatter(ax, V.T, points, "spherical", s=17, ringed=False)
    middle = around.mean(axis=0)
    reach = max(1.4 * float(np.abs(around - middle).max()), 0.08)
    near = (np.abs(V - middle) < 0.97 * reach).all(axis=1)
    lens = ax.inset_axes((0.22, 0.27, 0.46, 0.46))
    _scatter(lens, V[near].T, points[near], "spherical", s=26)
    lens.set(xlim=(middle[0] - reach, middle[0] + reach), xticks=[], yticks=[])
    lens.set(ylim=(middle[1] - reach, middle[1] + reach))
    lens.patch.set_visible(False)
    for spine in lens.spines.values():
        spine.set(color=FAINT, linewidth=0.8)
    ax.indicate_inset_zoom(lens, edgecolor=FAINT, alpha=1.0)
