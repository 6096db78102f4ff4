"""What a picture is: panels that stand alone on the page and side by side in a file."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from sphericalpca.plotting.style import FAINT, INK, PALETTE, new_figure, tidy

__all__ = ["Panel", "Picture", "Sample", "flat_axes"]

# matplotlib names the parts of an SVG at random unless it is told what to start from.
SETTINGS: dict[str, Any] = {
    "svg.hashsalt": "sphericalpca",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "path.simplify_threshold": 0.3,
    "text.parse_math": False,  # a name from the rows may have dollar signs
}

# Colours that change with the theme of the page; the file keeps the literal ones.
THEME = {INK: "ink", FAINT: "rule"} | {color: f"c{i}" for i, color in enumerate(PALETTE)}

DASHES = {"--": "7 3", "-.": "8 3 2 3", ":": "2 3"}

# Left, bottom, width, height of axes, as shares of a panel.
PLACE = (0.17, 0.17, 0.79, 0.70)

# Inches: a line of the legend, a letter of it, and what else an entry needs.
LEGEND_LINE, LETTER, SAMPLE = 0.3, 0.085, 0.75


def flat_axes(
    figure: Any,
    place: tuple[float, float, float, float] = PLACE,
    *,
    text: str = "",
    grid: str | None = "both",
) -> Any:
    """Tidy axes with their title at the left, at a fixed place: fonts do not move them."""
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
        """The page's name for the colour."""
        return THEME[self.color]


@dataclass(frozen=True)
class Panel:
    """One set of axes: its size in inches, what draws it, and what it shows, in words."""

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
    across: int = 3  # how many panels stand side by side in the file

    @property
    def label(self) -> str:
        """What all panels show, in words."""
        return " ".join(panel.label for panel in self.panels)

    def svg(self) -> bytes:
        """The whole picture as a file that stands alone, on white."""
        text = _save(self._whole(), "svg").decode()
        return _titled(_shorten(text), self.label).encode()

    def png(self) -> bytes:
        """The whole picture in pixels, on white."""
        return _save(self._whole(), "png")

    def inline(self) -> list[str]:
        """Each panel as SVG for the page, in the colours and the font of the page."""
        return [self._inline(number) for number in range(len(self.panels))]

    def _inline(self, number: int) -> str:
        panel = self.panels[number]
        with _settings():
            figure = new_figure(panel.size, layout=None)
            panel.draw(figure)
        figure.patch.set_visible(False)
        text = _shorten(_save(figure, "svg").decode())
        text = _in_theme(_own_ids(text[text.index("<svg") :], f"{self.name}-{number}"))
        return _titled(text, panel.label)

    def _whole(self) -> Any:
        across = min(self.across, len(self.panels))
        down = -(-len(self.panels) // across)
        width, height = self.panels[0].size
        longest = max((len(sample.label) for sample in self.legend), default=0)
        fitting = int(width * across / (LETTER * longest + SAMPLE))
        columns = max(1, min(len(self.legend), fitting))
        foot = LEGEND_LINE * -(-len(self.legend) // columns) if self.legend else 0.0
        with _settings():
            figure = new_figure((width * across, height * down + foot), layout=None)
            ratios = [height] * down + ([foot] if foot else [])
            grid = figure.add_gridspec(len(ratios), across, height_ratios=ratios, **_FILL)
            for number, panel in enumerate(self.panels):
                panel.draw(figure.add_subfigure(grid[divmod(number, across)]))
            if self.legend:
                _draw_legend(figure.add_subfigure(grid[down, :]), self.legend, columns)
        return figure


_FILL = {"left": 0, "right": 1, "bottom": 0, "top": 1, "wspace": 0, "hspace": 0}


def _settings() -> Any:
    import matplotlib as mpl  # noqa: PLC0415 - an optional package

    settings: Any = SETTINGS
    return mpl.rc_context(settings)


def _draw_legend(figure: Any, samples: tuple[Sample, ...], columns: int) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 - an optional package

    handles = []
    for sample in samples:
        look: dict[str, Any] = {"color": sample.color, "linestyle": sample.line}
        look |= {"marker": sample.marker, "markersize": 5}
        look |= {"markerfacecolor": "none"} if sample.hollow else {}
        handles.append(Line2D([], [], label=sample.label, **look))
    style = {"loc": "center", "ncols": columns, "frameon": False, "labelcolor": INK}
    figure.legend(handles=handles, fontsize=9, handlelength=2.6, **style)


def _save(figure: Any, kind: str) -> bytes:
    """The bytes of a figure, without anything that changes from run to run."""
    unstable = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}
    buffer = io.BytesIO()
    with _settings():
        figure.savefig(
            buffer, format=kind, dpi=160 if kind == "png" else 72, metadata=unstable[kind]
        )
    return buffer.getvalue()


def _shorten(svg: str) -> str:
    """Two decimals of a point are finer than any screen; matplotlib writes six."""
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    # In places only: text may hold numbers too.
    places = r"\b(?:d|x|y|width|height|transform)=\"[^\"]*\""
    svg = re.sub(places, lambda place: re.sub(r"(\d+\.\d\d)\d+", r"\1", place[0]), svg)
    svg = re.sub(r" transform=\"rotate\(-0 [^\"]*\"", "", svg)
    return re.sub(r"\s*\n\s*", "\n", svg)


def _own_ids(svg: str, prefix: str) -> str:
    """Ids that no other picture on the page has; those that nothing refers to are dropped."""
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", svg))

    def rename(match: re.Match[str]) -> str:
        return f' id="{prefix}-{match[1]}"' if match[1] in used else ""

    svg = re.sub(r"\sid=\"([^\"]+)\"", rename, svg)
    return re.sub(r"(url\(#|href=\"#)", rf"\g<1>{prefix}-", svg)


def _in_theme(svg: str) -> str:
    """Colours become variables of the page, fonts its font, and the size that of its place."""
    # matplotlib draws ticks in space in black, whatever it is told.
    for color, name in {**THEME, "#000000": "ink"}.items():
        svg = re.sub(re.escape(color), f"var(--{name})", svg, flags=re.IGNORECASE)
    svg = re.sub(r"font-family: [^;\"]+;?\s?", "", svg)
    svg = re.sub(r"font: (\S+) [^;\"]+", r"font-size: \1", svg)
    # matplotlib's rule for line joins would hold for the whole page.
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", svg, flags=re.DOTALL)
    head, rest = svg.split(">", 1)
    return re.sub(r"\s(?:width|height|version|xmlns(?::xlink)?)=\"[^\"]*\"", "", head) + ">" + rest


def _titled(svg: str, label: str) -> str:
    """Words for those who do not see the picture."""
    words = f"<desc>{escape(label)}</desc>"
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1)
    return re.sub(r"(<svg[^>]*>)", lambda match: match[1] + words, svg, count=1)
