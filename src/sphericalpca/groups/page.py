"""Groups of texts as one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sphericalpca.pages import document
from sphericalpca.pages.tables import share

__all__ = ["Borderline", "CurvePoint", "Group", "PageData", "Problem", "Typical", "groups_page"]

# The longest text, id and word in characters; the largest page in bytes; the most points.
EXCERPT, ID, WORD = 300, 120, 40
PAGE_BYTES, MOST_POINTS = 25_000_000, 100_000

# Texts without a known word that are listed; the others are counted.
LISTED = 50

# Colours of the template; groups beyond them take another of its shapes.
COLOURS, SHAPES = 20, ("circle", "square", "triangle", "diamond")

# One script, in this order.
SCRIPTS = ("points", "draw", "paint", "view", "gestures", "charts", "groups")

# What HTML cannot hold: control characters, halves of surrogate pairs, non-characters.
UNSOUND = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

# What coordinates are multiplied by to become 16-bit integers; the plane has room for outliers.
SPHERE_SCALE, PLANE_SCALE, COSINE_SCALE = 32767, 8191, 32767

NO_GROUP = 65535


class Typical(NamedTuple):
    """A text near the centre of its group."""

    id: str
    excerpt: str
    cosine: float
    margin: float


class Borderline(NamedTuple):
    """A text nearly as close to another group as to its own."""

    id: str
    excerpt: str
    cosine: float
    margin: float
    other: int  # label of the second-best group


class CurvePoint(NamedTuple):
    """A number of groups that `-k auto` tried: its score, with an interval."""

    k: int
    score: float
    low: float
    high: float


@dataclass(frozen=True)
class Problem:
    """What was counted while reading, with the numbers of a few lines where it was seen."""

    count: int
    lines: Sequence[int] = ()


@dataclass(frozen=True)
class Group:
    """One group: what its texts have in common, and how well they fit."""

    label: int
    words: Sequence[tuple[str, float]]  # distinctive words and their weights, heaviest first
    size: int
    share: float  # of all texts
    mean_cosine: float  # of its texts to its centre
    typical: Sequence[Typical] = ()
    borderline: Sequence[Borderline] = ()


@dataclass(frozen=True)
class PageData:
    """What the page shows.  Arrays and lists of points have one entry per text."""

    title: str
    source: str  # the name of the file or folder
    groups: Sequence[Group]
    sphere: NDArray[Any]  # n x 3, unit rows; zeros for texts without a known word
    plane: NDArray[Any]  # n x 2
    group: NDArray[Any]  # n labels, -1 for texts without a known word
    cosine: NDArray[Any]  # n, to the centre of the group
    margin: NDArray[Any]  # n, over the second-best centre
    excerpts: Sequence[str]  # the page cuts them at 300 characters, with a sign
    ids: Sequence[str]
    n_texts: int  # all of them, also where the points are a sample
    mean_cosine: float  # of all texts to the centres of their groups
    svd_ratio: float | None = None
    sampled: bool = False  # whether the points are a sample of the texts
    uncertain: float = 0.01  # texts whose margin is below this are marked
    tree: NDArray[Any] | None = None  # scipy's linkage in degrees; leaves in order of labels
    curve: Sequence[CurvePoint] | None = None  # of `-k auto`
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, Problem] = field(default_factory=dict)  # "malformed lines": ...
    unassigned: Sequence[tuple[str, str]] = ()  # id and excerpt of texts without a known word


def groups_page(data: PageData) -> str:
    """The page as text; where it would be too large, the points become a sample, and it says so."""
    count = len(data.ids)
    keep = min(count, MOST_POINTS)
    fixed = len(_render(data, np.arange(0)).encode())
    while True:
        page = _render(data, _spread(count, keep))
        size = len(page.encode())
        if size <= PAGE_BYTES or not keep:
            return page
        keep = int(0.97 * keep * max(0, PAGE_BYTES - fixed) / (size - fixed))


def _spread(count: int, keep: int) -> NDArray[np.int64]:
    """Indices of `keep` points: all of them, or a random sample that is always the same."""
    if keep == count:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, keep, replace=False))


def _render(data: PageData, rows: NDArray[np.int64]) -> str:
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    index = {group.label: position for position, group in enumerate(data.groups)}
    packed = {"points": _points(data, rows, index)}
    for name, texts, limit in (("ids", data.ids, ID), ("excerpts", data.excerpts, EXCERPT)):
        packed[name] = "\n".join(_clean(texts[row], limit) for row in rows).encode()
    script = "\n".join(document.template_text(__package__, f"{name}.js") for name in SCRIPTS)
    margins = np.asarray(data.margin)[np.asarray(data.group) >= 0]
    return document.render(
        __package__,
        "groups.html.j2",
        pictures={},
        tables={},
        scripts={"groups.js": script},
        finalize=_printed,
        data=data,
        index=index,
        packed={name: Markup(_packed(content)) for name, content in packed.items()},
        facts=Markup(json.dumps(_facts(data, len(rows))).replace("<", "\\u003c")),
        shown=len(rows),
        sampled=data.sampled or len(rows) < len(data.ids),
        n_uncertain=int(np.sum(margins < data.uncertain)),
        n_margins=len(margins),
        n_without=max(len(data.unassigned), data.n_texts - sum(g.size for g in data.groups)),
        share=share,
        clean=_clean,
        limits={"excerpt": EXCERPT, "id": ID, "word": WORD},
        look=lambda position: (position % COLOURS, SHAPES[position // COLOURS % len(SHAPES)]),
        listed=LISTED,
    )


def _facts(data: PageData, count: int) -> dict[str, Any]:
    """What the script knows beside the points."""
    return {
        "count": count,
        "scales": [SPHERE_SCALE, PLANE_SCALE, COSINE_SCALE],
        "labels": [group.label for group in data.groups],
        "words": [[_clean(word, WORD) for word, _ in group.words[:3]] for group in data.groups],
        "colours": COLOURS,
        "uncertain": data.uncertain,
        "leaves": np.argsort([group.label for group in data.groups]).tolist(),
        "tree": [] if data.tree is None else np.asarray(data.tree)[:, :3].tolist(),
        "curve": [[x if np.isfinite(x) else None for x in point] for point in data.curve or ()],
    }


def _points(data: PageData, rows: NDArray[np.int64], index: Mapping[int, int]) -> bytes:
    """Sphere, plane, cosine and margin as int16, one column after the other; groups as uint16."""
    plane = np.nan_to_num(np.asarray(data.plane, dtype=np.float64)[rows])
    known = np.asarray(data.group)[rows] >= 0
    if known.any():
        low, high = np.quantile(plane[known], (0.005, 0.995), axis=0)
        plane = (plane - (low + high) / 2) / (float(np.max(high - low)) / 2 or 1.0)
    columns = (
        (np.asarray(data.sphere)[rows], SPHERE_SCALE),
        (plane, PLANE_SCALE),
        (np.asarray(data.cosine)[rows, None], COSINE_SCALE),
        (np.asarray(data.margin)[rows, None], COSINE_SCALE),
    )
    parts = [np.clip(np.rint(scale * np.nan_to_num(x)), -32768, 32767) for x, scale in columns]
    groups = [index.get(int(label), NO_GROUP) for label in np.asarray(data.group)[rows]]
    numbers = [part.T.astype("<i2").tobytes() for part in parts]
    return b"".join([*numbers, np.array(groups, dtype="<u2").tobytes()])


def _packed(content: bytes) -> str:
    """Compressed, in letters that cannot end a script element."""
    return base64.b64encode(zlib.compress(content, 9)).decode()


def _clean(text: str, limit: int) -> str:
    """One line of sound characters, cut at the limit."""
    return _sound(" ".join(text.split()), limit)


def _sound(text: str, limit: int = EXCERPT) -> str:
    text = UNSOUND.sub("\N{REPLACEMENT CHARACTER}", text)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _printed(value: Any) -> Any:
    """What the template prints; markup is left alone."""
    return _sound(value) if type(value) is str else value
