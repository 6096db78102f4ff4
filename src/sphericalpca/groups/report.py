"""What is written about groups: a table of texts, a summary, a page."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sphericalpca.groups.maps import on_plane, on_sphere
from sphericalpca.groups.page import PageData, sample
from sphericalpca.groups.partition import UNCERTAIN, Nearest
from sphericalpca.groups.storing import VERSIONS
from sphericalpca.rows.sources.filesource import optional

__all__ = ["open_table", "page_data", "summary_of_page"]

# Words and texts for each group; points on the page; texts without a known word that are listed.
WORDS, EXAMPLES, POINTS, LISTED = 12, 5, 100_000, 1000
COLUMNS = {"id": "string", "group": "int32", "cosine": "float32", "margin": "float32"}
COLUMNS["uncertain"] = "bool"
# Of what the page shows, what belongs to single texts.
POINTWISE = ("sphere", "plane", "group", "cosine", "margin", "excerpts", "ids")


def page_data(model: Any, notes: Sequence[tuple[str, str]], words: Any, **others: Any) -> PageData:
    """What the page shows of fitted groups; notes are ids and beginnings of their texts."""
    n, k, found = len(notes), int(model.merged_.max()) + 1, model.nearest_
    sizes = np.bincount(found.labels + 1, minlength=k + 1)[1:]
    totals = np.bincount(found.labels + 1, found.cosines, k + 1)[1:]

    def texts(rows: Any) -> list[dict[str, Any]]:
        names, numbers = ("cosine", "margin", "other"), (part[rows].tolist() for part in found[1:])
        known = (dict(zip(("id", "excerpt"), notes[row], strict=True)) for row in rows)
        return [text | dict(zip(names, more)) for text, *more in zip(known, *numbers, strict=True)]

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


@contextmanager
def open_table(path: Path, suffix: str) -> Iterator[Callable[[Sequence[str], Nearest], None]]:
    """A function that adds texts to a table, which is CSV or, by its suffix, Parquet."""
    if suffix.lower() == ".parquet":
        wanted = ("pyarrow", "pyarrow.parquet")
        arrow, parquet = (optional(name, "Parquet files", doing="Writing") for name in wanted)
        with parquet.ParquetWriter(str(path), schema := arrow.schema(COLUMNS.items())) as file:
            yield lambda ids, found: file.write_table(
                arrow.table([ids, *found[:3], found.margins < UNCERTAIN], schema=schema)
            )
        return
    with path.open("w", encoding="utf-8", newline="") as text:
        table = csv.writer(text, lineterminator="\n")
        table.writerow(COLUMNS)
        yield lambda ids, found: table.writerows(
            (name, label, f"{cosine:.6f}", f"{margin:.6f}", int(margin < UNCERTAIN))
            for name, label, cosine, margin in zip(ids, *found[:3], strict=True)
        )
