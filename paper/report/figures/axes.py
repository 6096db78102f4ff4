"""How methods look, titles and scales of the report's pictures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sphericalpca.plotting.style import INK, LINE_STYLES, PALETTE

__all__ = ["METHOD_STYLES", "log_scale", "method_style", "share_scale", "title"]

# Spherical PCA and its closest rival look the same in every picture.
METHOD_STYLES: dict[str, tuple[str, Any, str]] = {
    "spherical-pca": (PALETTE[0], LINE_STYLES[0], "o"),
    "svd-unit": (PALETTE[1], LINE_STYLES[1], "s"),
    "pca": (PALETTE[2], LINE_STYLES[2], "^"),
    "r1-pca": (PALETTE[3], LINE_STYLES[3], "D"),
    "pca-unit": (PALETTE[4], LINE_STYLES[1], "v"),
    "r1-pca-unit": (PALETTE[5], LINE_STYLES[2], "P"),
}

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def method_style(method: str) -> tuple[str, Any, str]:
    """Colour, line and marker of a method."""
    return METHOD_STYLES.get(method, (PALETTE[9], LINE_STYLES[0], "v"))


def title(figure: Any, text: str) -> None:
    """A title over the middle of a panel, for axes in space and for circles."""
    figure.text(0.5, 0.975, text, ha="center", va="top", fontsize=10, color=INK)


def share_scale(axis: Any) -> None:
    """Axes of accuracy and NMI stay within 0 and 1, with a few labels."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    low, high = axis.get_view_interval()
    axis.axes.set(**{f"{axis.axis_name}lim": (max(low, 0.0), min(high, 1.0))})
    axis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10], min_n_ticks=3))


def log_scale(axis: Any, *, most: int = 5) -> None:
    """Powers of ten as plain text (10⁻³): at most `most` labels, no small ticks."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator  # noqa: PLC0415

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_locator(LogLocator(numticks=most + 2))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: _in_words(value, axis)))


def _in_words(value: float, axis: Any) -> str:
    """A plain number, or a power of ten where the axis reaches far."""
    exponent = round(math.log10(value))
    low, high = (math.log10(end) for end in axis.get_view_interval())
    far = low < -4 if exponent < 0 else high > 5
    if far and exponent and np.isclose(value, 10.0**exponent):
        return "10" + str(exponent).translate(SUPERSCRIPTS)
    return f"{value:,.0f}" if exponent >= 0 else f"{value:.{-exponent}f}"
