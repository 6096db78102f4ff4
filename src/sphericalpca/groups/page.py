"""The page about groups, which needs no network and no other file, and its summary.

In the plane a group is a disc whose area is its share, close discs are close in angle, typical
texts are in the middle of theirs, and each text is drawn towards the groups it is close to.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from sphericalpca.estimators.fitted import VERSIONS
from sphericalpca.estimators.spherical_pca import SphericalPCA
from sphericalpca.exceptions import NoDirectionWarning, silently
from sphericalpca.groups.partition import UNCERTAIN, centre_tree, directions
from sphericalpca.linalg import Array, Labels, fix_signs, unit_rows
from sphericalpca.pages import document
from sphericalpca.pages.tables import share

__all__ = ["clean", "groups_page", "on_plane", "on_sphere", "page_data"]

# The longest text, id and word in characters; the largest page in bytes.
EXCERPT, ID, WORD, PAGE_BYTES = 300, 120, 40, 25_000_000
# Words and texts per group; points on the map; texts without a known word in the summary.
WORDS, EXAMPLES, POINTS, LISTED = 12, 5, 100_000, 1000
# One script, in this order.
SCRIPTS = [f"{n}.js" for n in ("points", "draw", "paint", "view", "gestures", "charts", "groups")]
# Factors that turn coordinates and cosines into 16-bit integers; the plane leaves space for
# outliers.
SCALE, PLANE_SCALE, NO_GROUP = 32767, 8191, 65535
# What the page shows of a typical or borderline text.
TEXT = ("id", "excerpt", "cosine", "margin", "other")
# Rows to fit three components to; how strongly a text is drawn to groups close to it.
FITTED, PULL = 20_000, 8.0


def page_data(model: Any, notes: Sequence[tuple[str, str]], words: Any, about: Any) -> Any:
    """The data of the page, and its summary as JSON; notes are ids and beginnings of texts."""
    n, k, found = len(notes), int(model.merged_.max()) + 1, model.nearest_
    sizes = np.bincount(found.labels + 1, minlength=k + 1)[1:]
    totals = np.bincount(found.labels + 1, found.cosines, k + 1)[1:]

    def texts(rows: Any) -> list[dict[str, Any]]:
        each = ((*notes[row], *(part[row].item() for part in found[1:])) for row in rows)
        return [dict(zip(TEXT, values, strict=True)) for values in each]

    groups = [
        {
            "label": label,
            "words": words(label, WORDS),
            "size": int(sizes[label]),
            "mean_cosine": float(totals[label] / max(sizes[label], 1)),
            "typical": texts(model.examples(label, EXAMPLES)),
            "borderline": texts(model.examples(label, EXAMPLES, borderline=True)),
        }
        for label in np.argsort(-sizes, kind="stable").tolist()
    ]
    shown = {"groups": groups, "n_texts": n, "mean_cosine": model.summary_["mean_cosine"]}
    shown |= {"svd_ratio": model.svd_ratio_, "curve": model.curve_, "versions": VERSIONS, **about}
    shown |= {"title": f"{k} groups in {about['source']}", "uncertain": UNCERTAIN}
    shown["tree"] = centre_tree(model) if k > 1 else None
    shown["unassigned"] = [notes[row] for row in np.flatnonzero(found.labels < 0)[:LISTED]]
    data = SimpleNamespace(**shown, summary=json.dumps(shown, indent=1, default=np.ndarray.tolist))
    rows = sample(n, POINTS)
    V, (data.group, data.cosine, data.margin, _) = model.embedding_[rows], (x[rows] for x in found)
    data.sphere, data.plane = on_sphere(V), on_plane(V, data.group, data.cosine)
    data.ids, data.excerpts = zip(*(notes[row] for row in rows), strict=True)
    return data


def on_sphere(V: Array) -> Array:
    """Unit vectors projected to unit vectors in three dimensions; zero rows stay zero."""
    some = V[:: -(-len(V) // FITTED)]
    model = SphericalPCA(min(3, *some.shape), tol=1e-3, random_state=0)
    with silently(NoDirectionWarning):
        found = model.fit(some).transform(V)
    return np.pad(found, ((0, 0), (0, 3 - found.shape[1])))


def on_plane(V: Array, labels: Labels, cosines: Array) -> Array:
    """Points in two dimensions for unit vectors V with groups; (0, 0) without a group."""
    inside = [np.flatnonzero(labels == group) for group in range(labels.max(initial=0) + 1)]
    C, radii = directions(V, labels, len(inside)), np.sqrt([len(r) / len(V) for r in inside])
    U, lengths, _ = np.linalg.svd(np.pad(C - C.mean(axis=0), ((0, 2), (0, 2))))
    anchors = _apart(fix_signs(U[: len(C), :2]) * lengths[:2], radii)
    points = np.zeros((len(V), 2))
    for group, rows in enumerate(inside):
        near = np.exp(PULL * (V[rows] @ C.T))
        near[:, group] = 0
        towards = near @ anchors / np.maximum(near.sum(axis=1, keepdims=True), 1e-9)
        # Equally many on each side of their middle; rounding errors have no direction.
        centred = np.round(towards - towards.sum(axis=0) / max(len(rows), 1), 9)
        values, axes = np.linalg.eigh(centred.T @ centred)
        towards = unit_rows(centred @ axes / np.sqrt(np.maximum(values, 1e-12)) @ axes.T)[0]
        rank = np.argsort(np.argsort(-cosines[rows], kind="stable"))
        lengths = radii[group] * np.sqrt((rank + 0.5) / max(len(rows), 1))
        points[rows] = anchors[group] + lengths[:, None] * towards
    return points


def _apart(anchors: Array, radii: Array) -> Array:
    """Positions of discs of these radii, as close together as possible without overlap."""
    turn = 2.4 * np.arange(len(radii))  # a spiral, for centres that coincide
    points = anchors + 1e-3 * np.column_stack([np.cos(turn), np.sin(turn)])
    needed = 1.06 * (radii[:, None] + radii)
    for step in range(2000):
        gaps = points[:, None] - points
        distances = np.maximum(np.linalg.norm(gaps, axis=2), 1e-9)
        pushed = np.einsum("ij,ijk->ik", np.maximum(needed / distances - 1, 0), gaps)
        points = (0.99 if step % 4 == 0 else 1) * points + 0.25 * pushed
    return points


def groups_page(data: Any) -> str:
    """The page as text; if it were too large, it shows a sample of the points, and says so."""
    keep = len(data.ids)
    while len(page := _render(data, sample(len(data.ids), keep)).encode()) > PAGE_BYTES and keep:
        keep = int(0.95 * keep * PAGE_BYTES / len(page))
    return page.decode()


def sample(count: int, keep: int) -> Labels:
    """Indices of `keep` texts: all of them, or a random sample that is always the same."""
    return np.sort(np.random.default_rng(0).permutation(count)[:keep])


def _render(data: Any, rows: Labels) -> str:
    index = {group["label"]: position for position, group in enumerate(data.groups)}
    packed = {"points": _points(data, rows, index)}
    for name, texts, limit in (("ids", data.ids, ID), ("excerpts", data.excerpts, EXCERPT)):
        packed[name] = "\n".join(clean(texts[row], limit) for row in rows).encode()
    facts = {"count": len(rows), "labels": list(index), "uncertain": data.uncertain}
    facts["scales"] = [SCALE, PLANE_SCALE, SCALE]
    facts["words"] = [[clean(word, WORD) for word, _ in g["words"][:3]] for g in data.groups]
    facts["tree"] = [] if data.tree is None else data.tree[:, :3].tolist()
    facts["curve"] = [[x if np.isfinite(x) else None for x in p] for p in data.curve or ()]
    return document.render(
        __package__,
        "groups.html.j2",
        scripts={"groups.js": "\n".join(document.template_text(__package__, n) for n in SCRIPTS)},
        data=data,
        packed={k: base64.b64encode(zlib.compress(c, 9)).decode() for k, c in packed.items()},
        facts=facts,
        share=share,
        clean=clean,
        limits={"excerpt": EXCERPT, "id": ID, "word": WORD},
    )


def _points(data: Any, rows: Labels, index: Mapping[int, int]) -> bytes:
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
    """The beginning of a text: one line of printable characters, cut at the limit."""
    text = document.sound(" ".join(text[: 4 * limit].split()))
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
