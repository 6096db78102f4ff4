"""How the gallery looks: its pictures' style, and the order of its examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
from cycler import cycler

__all__ = ["ReadingOrder", "set_look"]

# The colours of `sphericalpca.plotting`.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#332288", "#882255")

LOOK: dict[str, Any] = {
    "axes.prop_cycle": cycler(color=COLORS),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "#333333",
    "axes.labelcolor": "#333333",
    "axes.titlecolor": "#333333",
    "axes.titlesize": 11,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "xtick.color": "#333333",
    "ytick.color": "#333333",
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.8,
    "figure.dpi": 110,
    "savefig.facecolor": "white",
}

# From what the method is to what is done with it; examples not named come last.
ORDER = (
    *("topics", "toy", "text", "digits", "when_it_matters", "embeddings"),
    *("dimensions", "certificate", "solvers", "pipeline", "out_of_core"),
)


def set_look(_configuration: dict[str, Any], _example: Any) -> None:
    """Called by sphinx-gallery, after it has set matplotlib back to its defaults."""
    mpl.rcParams.update(LOOK)


class ReadingOrder:
    """The place of an example in the gallery, for sphinx-gallery."""

    def __init__(self, src_dir: Any) -> None:
        self.src_dir = src_dir

    def __call__(self, filename: Any) -> tuple[int, str]:
        """Its place, or after all others."""
        name = Path(filename).stem.removeprefix("plot_")
        return (ORDER.index(name) if name in ORDER else len(ORDER)), name
