"""Pictures that go to disk and not to the screen."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

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
    # In the same folder, because a rename across file systems is not one step.
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        figure.savefig(temporary, format="png", dpi=dpi)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
