"""Common style of all pictures, without changing matplotlib's settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sphericalpca.exceptions import ParameterError, import_extra
from sphericalpca.files import replacing
from sphericalpca.registry.formats import PICTURE_FORMATS

__all__ = [
    "FAINT",
    "INK",
    "LINE_STYLES",
    "PALETTE",
    "group_colors",
    "new_axes",
    "new_figure",
    "picture_format",
    "pyplot",
    "save_picture",
    "ticks_at",
    "tidy",
]

INK = "#333333"
FAINT = "#c8c8c8"

# Safe for the common kinds of colour blindness: Okabe and Ito's colours without yellow, which
# vanishes on white, then darker ones after Paul Tol.
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
PALETTE = (*OKABE_ITO, "#332288", "#882255", "#999933", "#666666")

# A second cue beside colour, for print and for colour-blind readers.
LINE_STYLES: tuple[Any, ...] = ("-", "--", "-.", ":")


def pyplot() -> Any:
    """Import matplotlib.pyplot, or raise an error that says how to install it."""
    import_extra("matplotlib", "Plotting", "matplotlib", "plot")
    import matplotlib.pyplot as plt  # noqa: PLC0415 - an optional package

    return plt


def new_axes(figsize: tuple[float, float], projection: str | None = None) -> Any:
    """Create a figure, and return its axes."""
    figure = pyplot().figure(figsize=figsize, layout="constrained")
    return figure.add_subplot(projection=projection)


def tidy(ax: Any, *, grid: str | None = None) -> None:
    """Thin spines on two sides, small outward ticks, at most a faint grid."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set(linewidth=0.6, color=INK)
    ax.tick_params(which="both", width=0.6, color=INK, labelcolor=INK, labelsize=9)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(color=INK, size=10)
    if grid is not None:
        ax.grid(axis=grid, color=FAINT, linewidth=0.4)
        ax.set_axisbelow(True)


def ticks_at(ax: Any, values: Sequence[float]) -> None:
    """A logarithmic x axis with ticks and labels at these values only."""
    ax.set_xscale("log")
    ax.set_xticks(values, [f"{value:,.0f}" for value in values])
    ax.set_xticks([], minor=True)


def group_colors(count: int) -> list[Any]:
    """A colour for each of `count` groups; from a colour map if the palette is too short."""
    if count <= len(PALETTE):
        return list(PALETTE[:count])
    shades = pyplot().get_cmap("viridis")
    return [shades(0.95 * group / (count - 1)) for group in range(count)]


def new_figure(size: tuple[float, float], *, layout: Any = "constrained") -> Any:
    """A figure outside pyplot: no window, nothing to close."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an optional package

    return Figure(figsize=size, layout=layout)


def picture_format(path: Path) -> str:
    """The format that the suffix of a file selects, as matplotlib names it."""
    suffix = path.suffix.lower()
    if suffix not in PICTURE_FORMATS:
        value = f"{path} has {f'the suffix {suffix!r}' if suffix else 'no suffix'}"
        rule = f"pictures are written to {', '.join(PICTURE_FORMATS)}"
        raise ParameterError(value, rule, "choose one of these")
    return PICTURE_FORMATS[suffix]


def save_picture(figure: Any, path: Path, *, dpi: int = 160) -> None:
    """Write a figure atomically, in the format of the file's suffix."""
    kind = picture_format(path)
    with replacing(path) as temporary:
        figure.savefig(temporary, format=kind, dpi=dpi)
