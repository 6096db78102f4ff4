"""What is written about groups: a page that needs no network and no other file, and its summary."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sphericalpca.groups.maps import on_plane, on_sphere
from sphericalpca.groups.partition import UNCERTAIN
from sphericalpca.groups.storing import VERSIONS
from sphericalpca.pages import document
from sphericalpca.pages.tables import share

__all__ = ["PageData", "clean", "groups_page", "page_data", "summary_of_page"]

# The longest text, id and word in characters; the largest page in bytes.
EXCERPT, ID, WORD = 300, 120, 40
PAGE_BYTES = 25_000_000
# Words and texts for each group; points on the map; texts without a known word that are listed
# in the summary, and on the page.
WORDS, EXAMPLES, POINTS, LISTED, SHOWN = 12, 5, 100_000, 1000, 50
# Colours of the template; groups beyond them take another of its shapes.
COLOURS, SHAPES = 20, ("circle", "square", "triangle", "diamond")
# One script, in this order.
SCRIPTS = ("points", "draw", "paint", "view", "gestures", "charts", "groups")
# What HTML cannot hold: control characters, halves of surrogate pairs, non-characters.
UNSOUND = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# What coordinates and cosines are multiplied by to become 16-bit integers; the plane has room for
# outliers.
SCALE, PLANE_SCALE = 32767, 8191
NO_GROUP = 65535
# What is said of a typical or borderline text.
TEXT = ("id", "excerpt", "cosine", "margin", "other")
# Of what the page shows, what belongs to single texts.
POINTWISE = ("sphere", "plane", "group", "cosine", "margin", "excerpts", "ids")


@dataclass(frozen=True)
class PageData:
    """What the page shows.  Arrays and lists of points have one entry for each text on the map.

    A group has a label, its distinctive words with weights, a size, the mean cosine, and typical
    and borderline texts: id, excerpt, cosine, margin and label of the second-best group.
    """

    title: str
    source: str  # the name of the file or folder
    groups: Sequence[Mapping[str, Any]]  # in order of size
    sphere: NDArray[Any]  # n x 3, unit rows; zeros for texts without a known word
    plane: NDArray[Any]  # n x 2
    group: NDArray[Any]  # n labels, -1 for texts without a known word
    cosine: NDArray[Any]  # n, to the centre of the group
    margin: NDArray[Any]  # n, over the second-best centre
    excerpts: Sequence[str]  # the page cuts them at 300 characters, with a sign
    ids: Sequence[str]
    n_texts: int  # all of them, also where the points are a sample
    mean_cosine: float  # of all texts to the centres of their groups
    svd_ratio: float
    uncertain: float  # texts whose margin is below this are marked
    tree: NDArray[Any] | None = None  # scipy's linkage in degrees; leaves in order of labels
    curve: Sequence[tuple[int, float, float, float]] | None = None  # of `-k auto`
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, Any] = field(default_factory=dict)  # with count and first lines
    unassigned: Sequence[tuple[str, str]] = ()  # id and excerpt of texts without a known word


def page_data(model: Any, notes: Sequence[tuple[str, str]], words: Any, **others: Any) -> PageData:
    """What the page shows of fitted groups; notes are ids and beginnings of their texts."""
    n, k, found = len(notes), int(model.merged_.max()) + 1, model.nearest_
    sizes = np.bincount(found.labels + 1, minlength=k + 1)[1:]
    totals = np.bincount(found.labels + 1, found.cosines, k + 1)[1:]

    def texts(rows: Any) -> list[dict[str, Any]]:
        numbers = zip(*(part[rows].tolist() for part in found[1:]), strict=True)
        each = ((*notes[row], *more) for row, more in zip(rows, numbers, strict=True))
        return [dict(zip(TEXT, values, strict=True)) for values in each]

    def group(label: int) -> dict[str, Any]:
        both = [model.examples(label, EXAMPLES, borderline=last) for last in (False, True)]
        chosen = {"label": label, "words": words(label, WORDS), "size": int(sizes[label])}
        chosen["mean_cosine"] = float(totals[label] / max(sizes[label], 1))
        return chosen | dict(zip(("typical", "borderline"), map(texts, both), strict=True))

    rows = sample(n, POINTS)
    V, (labels, cosines, margins, _) = model.embedding_[rows], (part[rows] for part in found)
    points: Any = {"group": labels, "cosine": cosines, "margin": margins}
    points |= {"sphere": on_sphere(V), "plane": on_plane(V, labels, cosines)}
    points["ids"], points["excerpts"] = zip(*(notes[row] for row in rows), strict=True)
    known = {"mean_cosine": model.summary_["mean_cosine"], "svd_ratio": model.svd_ratio_}
    return PageData(
        groups=[group(label) for label in np.argsort(-sizes, kind="stable").tolist()],
        n_texts=n,
        uncertain=UNCERTAIN,
        tree=model._tree() if k > 1 else None,
        curve=model.curve_,
        versions=VERSIONS,
        unassigned=[notes[row] for row in np.flatnonzero(found.labels < 0)[:LISTED]],
        **points | known | others,
    )


def summary_of_page(data: PageData) -> str:
    """All that the page shows, but single texts, as JSON."""
    shown = {name: value for name, value in vars(data).items() if name not in POINTWISE}
    return json.dumps(shown, indent=1, default=np.ndarray.tolist)


def groups_page(data: PageData) -> str:
    """The page as text; where it would be too large, the points become a sample, and it says so."""
    keep = len(data.ids)
    while True:
        page = _render(data, sample(len(data.ids), keep))
        size = len(page.encode())
        if size <= PAGE_BYTES or not keep:
            return page
        keep = int(0.95 * keep * PAGE_BYTES / size)


def sample(count: int, keep: int) -> NDArray[np.int64]:
    """Indices of `keep` texts: all of them, or a random sample that is always the same."""
    if keep >= count:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, keep, replace=False))


def _render(data: PageData, rows: NDArray[np.int64]) -> str:
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    index = {group["label"]: position for position, group in enumerate(data.groups)}
    packed = {"points": _points(data, rows, index)}
    for name, texts, limit in (("ids", data.ids, ID), ("excerpts", data.excerpts, EXCERPT)):
        packed[name] = "\n".join(clean(texts[row], limit) for row in rows).encode()
    script = "\n".join(document.template_text(__package__, f"{name}.js") for name in SCRIPTS)
    margins = data.margin[data.group >= 0]
    return document.render(
        __package__,
        "groups.html.j2",
        scripts={"groups.js": script},
        finalize=lambda value: _sound(value, EXCERPT) if type(value) is str else value,
        data=data,
        index=index,
        packed={
            name: Markup(base64.b64encode(zlib.compress(c, 9)).decode())
            for name, c in packed.items()
        },
        facts=Markup(json.dumps(_facts(data, len(rows))).replace("<", "\\u003c")),
        shown=len(rows),
        n_uncertain=int(np.sum(margins < data.uncertain)),
        n_margins=len(margins),
        n_without=data.n_texts - sum(group["size"] for group in data.groups),
        share=share,
        clean=clean,
        limits={"excerpt": EXCERPT, "id": ID, "word": WORD},
        look=lambda position: (position % COLOURS, SHAPES[position // COLOURS % len(SHAPES)]),
        listed=SHOWN,
    )


def _facts(data: PageData, count: int) -> dict[str, Any]:
    """What the script knows beside the points."""
    labels = [group["label"] for group in data.groups]
    return {
        "count": count,
        "scales": [SCALE, PLANE_SCALE, SCALE],
        "labels": labels,
        "words": [[clean(word, WORD) for word, _ in g["words"][:3]] for g in data.groups],
        "colours": COLOURS,
        "uncertain": data.uncertain,
        "leaves": np.argsort(labels).tolist(),
        "tree": [] if data.tree is None else data.tree[:, :3].tolist(),
        "curve": [[x if np.isfinite(x) else None for x in point] for point in data.curve or ()],
    }


def _points(data: PageData, rows: NDArray[np.int64], index: Mapping[int, int]) -> bytes:
    """Sphere, plane, cosine and margin as int16, one column after the other; groups as uint16."""
    plane = np.nan_to_num(data.plane[rows].astype(np.float64))
    known = data.group[rows] >= 0
    if known.any():
        low, high = np.quantile(plane[known], (0.005, 0.995), axis=0)
        plane = (plane - (low + high) / 2) / (float(np.max(high - low)) / 2 or 1.0)
    others = np.column_stack([data.sphere, data.cosine, data.margin])[rows] * SCALE
    numbers = np.insert(others, [3], plane * PLANE_SCALE, axis=1)
    numbers = np.clip(np.rint(np.nan_to_num(numbers)), -32768, 32767)
    groups = [index.get(int(label), NO_GROUP) for label in data.group[rows]]
    return b"".join([numbers.T.astype("<i2").tobytes(), np.array(groups, "<u2").tobytes()])


def clean(text: str, limit: int = EXCERPT) -> str:
    """The beginning of a text: one line of sound characters, cut at the limit."""
    return _sound(" ".join(text[: 4 * limit].split()), limit)


def _sound(text: str, limit: int) -> str:
    text = UNSOUND.sub("\N{REPLACEMENT CHARACTER}", text)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
