"""Fig. 1: on the sphere, a larger angle is a longer chord."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paper.report.figures.axes import title
from sphericalpca.pages.pictures import Panel, Picture, flat_axes
from sphericalpca.pages.tables import MINUS
from sphericalpca.plotting.style import FAINT, INK, PALETTE

__all__ = ["geometry"]

# Degrees from v1 to v2 and to v3, and where v1 lies.
NEAR, FAR, FIRST = 35.0, 100.0, 8.0

SIZE = (4.4, 3.7)

CHORD = f"‖vᵢ {MINUS} vⱼ‖²"
LAW = f"2 {MINUS} 2 cos θ"


def geometry() -> Picture:
    """Angles and chords on the circle, and the law that links them."""
    return Picture(
        name="geometry",
        caption=(
            "Fig. 1. Among unit vectors a larger angle θ is a longer chord, and the other way "
            f"round: {CHORD} = {LAW}. What compares by Euclidean distance, such as "
            "k-means, then compares by angle."
        ),
        panels=(
            Panel(
                SIZE,
                _circle,
                "A circle with three unit vectors: the larger of two angles has the longer chord.",
            ),
            Panel(
                SIZE,
                _law,
                f"The squared chord {LAW} rises from 0 at 0° to 4 at 180°, without a turn.",
            ),
        ),
        across=2,
    )


def _on_circle(degrees: Any, radius: float = 1.0) -> Any:
    angle = np.radians(degrees)
    return radius * np.stack([np.cos(angle), np.sin(angle)])


def _circle(figure: Any) -> None:
    title(figure, "angles and chords")
    ax = figure.add_axes((0.04, 0.02, 0.92, 0.88))
    ax.set_axis_off()
    ax.set(aspect="equal", xlim=(-1.45, 1.45), ylim=(-1.16, 1.2))
    ax.plot(*_on_circle(np.linspace(0, 360, 181)), color=FAINT, linewidth=1.0)
    for end, color, radius in ((NEAR, PALETTE[0], 0.42), (FAR, PALETTE[1], 0.26)):
        _angle_and_chord(ax, end, color, radius)
    for degrees, name in ((FIRST, "v₁"), (FIRST + NEAR, "v₂"), (FIRST + FAR, "v₃")):
        ax.plot(*np.stack([np.zeros(2), _on_circle(degrees)]).T, color=INK, linewidth=1.1)
        ax.plot(*_on_circle(degrees), "o", color=INK, markersize=5)
        ax.text(*_on_circle(degrees, 1.14), name, color=INK, fontsize=11, ha="center", va="center")
    ax.plot(0, 0, "o", color=INK, markersize=3)
    ax.text(0, -0.62, "θ₂ > θ₁: the longer chord", color=INK, fontsize=9, ha="center")


def _angle_and_chord(ax: Any, end: float, color: str, radius: float) -> None:
    arc = np.linspace(FIRST, FIRST + end, 61)
    ax.plot(*_on_circle(arc, radius), color=color, linewidth=1.6)
    chord = np.stack([_on_circle(FIRST), _on_circle(FIRST + end)]).T
    dashes = "-" if end == NEAR else "--"
    ax.plot(*chord, color=color, linewidth=2.2, linestyle=dashes)
    name = "θ₁" if end == NEAR else "θ₂"
    middle = FIRST + (end / 2 if end == NEAR else 0.75 * end)
    where = _on_circle(middle, radius + 0.12)
    ax.text(*where, name, color=INK, fontsize=10, ha="center", va="center")


def _law(figure: Any) -> None:
    ax = flat_axes(figure, (0.15, 0.16, 0.81, 0.72), text="the squared chord against the angle")
    degrees = np.linspace(0, 180, 181)
    ax.plot(degrees, 2 - 2 * np.cos(np.radians(degrees)), color=INK, linewidth=1.6)
    for angle, color, name in ((NEAR, PALETTE[0], "θ₁"), (FAR, PALETTE[1], "θ₂")):
        height = 2 - 2 * math.cos(math.radians(angle))
        dashes = "-" if angle == NEAR else "--"
        ax.plot(
            [angle, angle, 0], [0, height, height], color=color, linewidth=1.2, linestyle=dashes
        )
        ax.plot(angle, height, "o", color=color, markersize=6)
        ax.text(angle + 5, height - 0.22, name, color=INK, fontsize=10)
    ax.set(xlim=(0, 180), ylim=(0, 4.1), xticks=[0, 45, 90, 135, 180], yticks=[0, 1, 2, 3, 4])
    ax.set_xticklabels([f"{tick}°" for tick in (0, 45, 90, 135, 180)])
    ax.set(xlabel="angle θ", ylabel=CHORD)
