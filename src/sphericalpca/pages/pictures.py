"""Pictures: panels on a page, in its colours and font."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from sphericalpca.plotting.style import FAINT, INK, PALETTE, new_figure, tidy

__all__ = ["Panel", "Picture", "Sample", "flat_axes", "plain_svg", "saved", "settings", "titled"]

# A fixed salt, because matplotlib otherwise names the parts of an SVG at random.
SETTINGS: Any = {
    "svg.hashsalt": "sphericalpca",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "path.simplify_threshold": 0.3,
    "text.parse_math": False,  # names in the rows may contain dollar signs
}

# Colours that change with the theme of the page.
THEME = {INK: "ink", FAINT: "rule"} | {color: f"c{i}" for i, color in enumerate(PALETTE)}

DASHES = {"--": "7 3", "-.": "8 3 2 3", ":": "2 3"}

# Left, bottom, width, height of axes, as shares of a panel.
PLACE = (0.17, 0.17, 0.79, 0.70)


def flat_axes(
    figure: Any,
    place: tuple[float, float, float, float] = PLACE,
    *,
    text: str = "",
    grid: str | None = "both",
) -> Any:
    """Tidy axes at a fixed place, independent of fonts, with a title at the left."""
    ax = figure.add_axes(place)
    ax.patch.set_visible(False)
    tidy(ax, grid=grid)
    ax.set_title(text, loc="left", fontsize=10, color=INK, pad=9)
    return ax


@dataclass(frozen=True)
class Sample:
    """One entry of a legend."""

    label: str
    color: str
    line: Any = "-"
    marker: str = ""
    hollow: bool = False

    @property
    def dashes(self) -> str:
        """The line as SVG dashes, for a sample 30 wide."""
        return DASHES.get(self.line, "")

    @property
    def variable(self) -> str:
        """The CSS variable of the colour."""
        return THEME[self.color]


@dataclass(frozen=True)
class Panel:
    """One set of axes: its size in inches, the function that draws it, and a description."""

    size: tuple[float, float]
    draw: Callable[[Any], None]
    label: str


@dataclass(frozen=True)
class Picture:
    """A picture of several panels."""

    name: str  # of its file, without the suffix
    caption: str
    panels: tuple[Panel, ...]
    legend: tuple[Sample, ...] = ()
    across: int = 3  # number of panels side by side in one file

    def inline(self) -> list[str]:
        """Each panel as SVG for the page, in the colours and the font of the page."""
        texts = []
        for number, panel in enumerate(self.panels):
            with settings():
                figure = new_figure(panel.size, layout=None)
                panel.draw(figure)
            figure.patch.set_visible(False)
            svg = plain_svg(figure)
            svg = _own_ids(svg[svg.index("<svg") :], f"{self.name}-{number}")
            texts.append(titled(_in_theme(svg), panel.label))
        return texts


def settings() -> Any:
    """Fixed settings of matplotlib, independent of those of the user."""
    import matplotlib as mpl  # noqa: PLC0415 - an optional package

    return mpl.rc_context(SETTINGS)


def saved(figure: Any, **options: Any) -> bytes:
    """The bytes of a figure; pass metadata that does not change from run to run."""
    buffer = io.BytesIO()
    with settings():
        figure.savefig(buffer, **options)
    return buffer.getvalue()


def plain_svg(figure: Any) -> str:
    """SVG with two decimals, which are enough for any screen; matplotlib writes six."""
    svg = saved(figure, format="svg", dpi=72, metadata={"Date": None, "Creator": None}).decode()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    # In coordinates only: text may hold numbers too.
    places = r"\b(?:d|x|y|width|height|transform)=\"[^\"]*\""
    svg = re.sub(places, lambda place: re.sub(r"(\d+\.\d\d)\d+", r"\1", place[0]), svg)
    svg = re.sub(r" transform=\"rotate\(-0 [^\"]*\"", "", svg)
    return re.sub(r"\s*\n\s*", "\n", svg)


def _own_ids(svg: str, prefix: str) -> str:
    """Make ids unique on the page, and drop those without references."""
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", svg))

    def rename(match: re.Match[str]) -> str:
        return f' id="{prefix}-{match[1]}"' if match[1] in used else ""

    svg = re.sub(r"\sid=\"([^\"]+)\"", rename, svg)
    return re.sub(r"(url\(#|href=\"#)", rf"\g<1>{prefix}-", svg)


def _in_theme(svg: str) -> str:
    """Use the colours and the font of the page, and the size of the enclosing element."""
    # matplotlib always draws ticks of 3-D axes in black.
    for color, name in {**THEME, "#000000": "ink"}.items():
        svg = re.sub(re.escape(color), f"var(--{name})", svg, flags=re.IGNORECASE)
    svg = re.sub(r"font-family: [^;\"]+;?\s?", "", svg)
    svg = re.sub(r"font: (\S+) [^;\"]+", r"font-size: \1", svg)
    # matplotlib's rule for line joins would apply to the whole page.
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", svg, flags=re.DOTALL)
    head, rest = svg.split(">", 1)
    return re.sub(r"\s(?:width|height|version|xmlns(?::xlink)?)=\"[^\"]*\"", "", head) + ">" + rest


def titled(svg: str, label: str) -> str:
    """Add a description for screen readers."""
    words = f"<desc>{escape(label)}</desc>"
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1)
    return re.sub(r"(<svg[^>]*>)", lambda match: match[1] + words, svg, count=1)
