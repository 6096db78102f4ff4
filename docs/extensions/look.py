"""How the gallery looks: its pictures' style, and the order of its examples."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from PIL import Image
from sphinx.application import Sphinx

from extensions.dark import dark_path, save_dark

__all__ = ["ReadingOrder", "scrape", "set_look", "setup"]

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


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: Any) -> str:
    """The figures of a block as files, each with its twin for the dark theme; returns rst."""
    from sphinx_gallery.scrapers import matplotlib_scraper  # noqa: PLC0415 - imports matplotlib

    figures = [plt.figure(number) for number in plt.get_fignums()]
    paths = block_vars["image_path_iterator"].paths
    before = len(paths)
    rst = matplotlib_scraper(block, block_vars, gallery_conf)
    for figure, path in zip(figures, paths[before:], strict=True):
        save_dark(figure, path)
    # The gallery's own directive has no twins, and the pictures come in one size.
    rst = re.sub(r"\n +:srcset:.*", "", rst.replace(".. image-sg::", ".. image::"))
    return f"\n.. container:: picture\n\n{indent(rst, '    ')}\n\n" if figures else rst


def crop_thumbnails(app: Sphinx) -> None:
    """Replace thumbnails by the first panel of each picture, which is legible in a card."""
    images = Path(app.srcdir) / "gallery" / "images"
    for dark in images.glob("sphx_glr_plot_*_001-dark.png"):
        picture = dark.with_name(dark.name.replace("-dark", ""))
        thumb = images / "thumb" / picture.name.replace("_001", "_thumb")
        light = Image.open(picture)
        box = (0, 0, _end_of_panel(np.asarray(light.convert("L"))), light.height)
        light.crop(box).save(thumb)
        Image.open(dark).crop(box).save(dark_path(str(thumb)))


def _end_of_panel(pixels: Any) -> int:
    """Where the first panel ends: at the widest white gap away from the margins."""
    width = pixels.shape[1]
    drawn = np.flatnonzero((pixels < 250).any(axis=0))
    starts, gaps = drawn[:-1], np.diff(drawn)
    gaps[(starts < 0.25 * width) | (starts > 0.75 * width)] = 0
    return int(starts[gaps.argmax()] + 5) if gaps.max() > 5 else width


class ReadingOrder:
    """The place of an example in the gallery, for sphinx-gallery."""

    def __init__(self, src_dir: Any) -> None:
        self.src_dir = src_dir

    def __call__(self, filename: Any) -> tuple[int, str]:
        """Its place, or after all others."""
        name = Path(filename).stem.removeprefix("plot_")
        return (ORDER.index(name) if name in ORDER else len(ORDER)), name


def setup(app: Sphinx) -> dict[str, Any]:
    """Crop the thumbnails once the gallery has made them."""
    app.connect("builder-inited", crop_thumbnails, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
