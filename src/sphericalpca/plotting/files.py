"""Pictures that go to disk and not to the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphericalpca.files import replacing

__all__ = ["FORMATS", "new_figure", "picture_format", "save_picture"]

# By their suffixes.
FORMATS = {".png": "png", ".pdf": "pdf", ".svg": "svg"}


def new_figure(size: tuple[float, float], *, layout: Any = "constrained") -> Any:
    """A figure that pyplot does not know of: no window, nothing to close."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an optional package

    return Figure(figsize=size, layout=layout)


def picture_format(path: Path) -> str:
    """What matplotlib calls the format that a file's name asks for."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(
            f"{path} has {f'the suffix {suffix!r}' if suffix else 'no suffix'}, but pictures are "
            f"written to {', '.join(FORMATS)}: choose one of these."
        )
    return FORMATS[suffix]


def save_picture(figure: Any, path: Path, *, dpi: int = 160) -> None:
    """Write a figure, whole or not at all.

    Parameters
    ----------
    figure : matplotlib Figure
    path : Path
        Its suffix tells the format, ``.png``, ``.pdf`` or ``.svg``.  An older file of that name is
        replaced, but only by a complete new one.
    dpi : int, default=160
        Of what is made of pixels.
    """
    kind = picture_format(path)
    with replacing(path) as temporary:
        figure.savefig(temporary, format=kind, dpi=dpi)
