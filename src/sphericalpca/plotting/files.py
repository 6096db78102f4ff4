"""Pictures that go to disk and not to the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphericalpca.files import replacing

__all__ = ["new_figure", "save_picture"]


def new_figure(size: tuple[float, float], *, layout: Any = "constrained") -> Any:
    """A figure that pyplot does not know of: no window, nothing to close."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an optional package

    return Figure(figsize=size, layout=layout)


def save_picture(figure: Any, path: Path, *, dpi: int = 160) -> None:
    """Write a figure as PNG, whole or not at all.

    Parameters
    ----------
    figure : matplotlib Figure
    path : Path
        An older file of that name is replaced, but only by a complete new one.
    dpi : int, default=160
    """
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=dpi)
