"""Pictures as files that stand alone, on white: all panels, and the legend below them."""

from __future__ import annotations

from typing import Any

from sphericalpca.pages.pictures import Picture, Sample, plain_svg, saved, settings, titled
from sphericalpca.plotting.style import INK, new_figure

__all__ = ["png_file", "svg_file"]

# Inches: a line of the legend, a letter of it, and what else an entry needs.
LEGEND_LINE, LETTER, SAMPLE = 0.3, 0.085, 0.75

FILL = {"left": 0, "right": 1, "bottom": 0, "top": 1, "wspace": 0, "hspace": 0}


def svg_file(picture: Picture) -> bytes:
    """The whole picture, with what its panels show in words."""
    label = " ".join(panel.label for panel in picture.panels)
    return titled(plain_svg(_whole(picture)), label).encode()


def png_file(picture: Picture) -> bytes:
    """The whole picture in pixels."""
    return saved(_whole(picture), format="png", dpi=160, metadata={"Software": None})


def _whole(picture: Picture) -> Any:
    across = min(picture.across, len(picture.panels))
    down = -(-len(picture.panels) // across)
    width, height = picture.panels[0].size
    longest = max((len(sample.label) for sample in picture.legend), default=0)
    fitting = int(width * across / (LETTER * longest + SAMPLE))
    columns = max(1, min(len(picture.legend), fitting))
    foot = LEGEND_LINE * -(-len(picture.legend) // columns) if picture.legend else 0.0
    with settings():
        figure = new_figure((width * across, height * down + foot), layout=None)
        ratios = [height] * down + ([foot] if foot else [])
        grid = figure.add_gridspec(len(ratios), across, height_ratios=ratios, **FILL)
        for number, panel in enumerate(picture.panels):
            panel.draw(figure.add_subfigure(grid[divmod(number, across)]))
        if picture.legend:
            _draw_legend(figure.add_subfigure(grid[down, :]), picture.legend, columns)
    return figure


def _draw_legend(figure: Any, samples: tuple[Sample, ...], columns: int) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 - slow to import

    handles = []
    for sample in samples:
        look: dict[str, Any] = {"color": sample.color, "linestyle": sample.line}
        look |= {"marker": sample.marker, "markersize": 5}
        look |= {"markerfacecolor": "none"} if sample.hollow else {}
        handles.append(Line2D([], [], label=sample.label, **look))
    style = {"loc": "center", "ncols": columns, "frameon": False, "labelcolor": INK}
    figure.legend(handles=handles, fontsize=9, handlelength=2.6, **style)
