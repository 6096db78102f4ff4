"""Figures in the dark theme: every picture has a twin in colours that are chosen for it.

``name.png`` is shown on light pages, its twin ``name-dark.png`` on dark ones.  Pictures that are
drawn while the site is built are drawn twice; in SVG files colours are replaced.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from matplotlib.collections import Collection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

import sphericalpca

__all__ = ["dark_color", "dark_path", "darken", "save_dark", "save_dark_svg", "setup"]

# The page of the theme, and its text.
PAPER, TEXT = np.array(to_rgba("#14181e")), np.array(to_rgba("#e6e9ed"))
# Channels of a grey differ by less than this; those of a dark colour are all below that.
GREY, DARK = 0.1, 0.6


def _palette() -> dict[str, str]:
    """Light colours with their dark counterparts, from the style of the HTML pages."""
    pages = Path(sphericalpca.__file__).parent / "pages" / "templates" / "style.css"
    blocks = pages.read_text(encoding="utf-8").split('[data-theme="dark"]')
    light, dark = (dict(re.findall(r"--(c\d|rule): (#\w{6});", part)) for part in blocks[:2])
    return {color: dark[name] for name, color in light.items()}


PALETTE = _palette()


def dark_color(color: Any) -> Any:
    """A colour for the dark theme: that of the palette, an inverted grey, or a lighter one."""
    if isinstance(color, str) and color in ("none", "auto"):
        return color
    *rgb, alpha = to_rgba(color)
    known = PALETTE.get(to_hex(rgb))
    if known is not None:
        return (*to_rgba(known)[:3], alpha)
    if max(rgb) - min(rgb) < GREY:
        level = float(np.mean(rgb))
        return (*(level * PAPER + (1 - level) * TEXT)[:3], alpha)
    return (*((np.array(rgb) + TEXT[:3]) / 2 if max(rgb) < DARK else rgb), alpha)


def dark_path(path: str) -> str:
    """The name of the twin."""
    stem, _, suffix = path.rpartition(".")
    return f"{stem}-dark.{suffix}"


def darken(figure: Figure) -> None:
    """Give all parts of a figure their dark colours; the figure cannot be made light again."""
    for part in figure.findobj():
        if isinstance(part, Line2D):
            # All are read first: markers without a colour of their own take that of the line.
            face, edge = part.get_markerfacecolor(), part.get_markeredgecolor()
            part.set_color(dark_color(part.get_color()))
            part.set_markerfacecolor(dark_color(face))
            part.set_markeredgecolor(dark_color(edge))
        elif isinstance(part, Text):
            part.set_color(dark_color(part.get_color()))
        elif isinstance(part, Patch):
            part.set_facecolor(dark_color(part.get_facecolor()))
            part.set_edgecolor(dark_color(part.get_edgecolor()))
        elif isinstance(part, Collection) and part.get_array() is None:
            # In the order in which they were given; points in three dimensions sort and shade them.
            faces = [dark_color(color) for color in Collection.get_facecolor(part)]
            if not isinstance(part._edgecolors, str):  # else edges follow faces
                part.set_edgecolor([dark_color(c) for c in Collection.get_edgecolor(part)])
            part.set_facecolor(faces)
        elif isinstance(part, AxesImage) and part.get_cmap().name.lower().startswith("gr"):
            part.set_cmap(part.get_cmap().reversed())
        part.set_path_effects([])  # halos in the colour of the light page
        if hasattr(part, "_axinfo"):  # an axis in three dimensions; some of its parts are hidden
            part._axinfo["grid"]["color"] = dark_color(part._axinfo["grid"]["color"])
            part.pane.set_facecolor(dark_color(part.pane.get_facecolor()))
            part.pane.set_edgecolor(dark_color(part.pane.get_edgecolor()))
            part.line.set_color(dark_color(part.line.get_color()))
    for ax in figure.findobj(lambda part: hasattr(part, "tick_params")):
        ax.tick_params(which="both", colors=tuple(TEXT))


def save_dark(figure: Figure, path: str, **options: Any) -> None:
    """Write the twin of a picture."""
    darken(figure)
    figure.savefig(dark_path(path), facecolor=tuple(PAPER), **options)


def save_dark_svg(path: Path) -> None:
    """Write the twin of an SVG file."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"#[0-9a-fA-F]{6}\b", lambda color: to_hex(dark_color(color[0])), text)
    # Text without a colour is black by default.
    text = text.replace("<svg ", f'<svg fill="{to_hex(TEXT)}" ', 1)
    Path(dark_path(str(path))).write_text(text, encoding="utf-8")


class DarkTwins(SphinxTransform):
    """Puts the twin beside each picture that has one; the theme shows one of the two."""

    default_priority = 100

    def apply(self, **_: Any) -> None:
        """Change the images of a page."""
        for node in list(self.document.findall(nodes.image)):
            twin = dark_path(node["uri"])
            _, place = self.env.relfn2path(twin, self.env.docname)
            if "://" not in twin and Path(place).exists():
                # A link may hold one picture only, so it is copied with it.
                whole = node.parent if isinstance(node.parent, nodes.reference) else node
                copy = whole.deepcopy()
                image = next(copy.findall(nodes.image))
                image["uri"], image["ids"], image["names"] = twin, [], []
                image["classes"].append("only-dark")
                node["classes"].append("only-light")
                whole.parent.insert(whole.parent.index(whole) + 1, copy)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the transform."""
    app.add_transform(DarkTwins)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
