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


def page_data(
    model: Any, ids: Sequence[str], excerpts: Sequence[str], words: Any, **others: Any
) -> PageData:
    """What the page shows of fitted groups and their texts; of very many texts a sample."""
    n, k, found = len(ids), int(model.merged_.max()) + 1, model.nearest_
    sizes = np.bincount(found.labels[found.labels >= 0], minlength=k)
    totals = np.bincount(found.labels + 1, found.cosines, k + 1)[1:]
    rows = sample(n, POINTS)
    V, (labels, cosines, margins, _) = model.embedding_[rows], (part[rows] for part in found)

    def texts(rows: Any) -> list[dict[str, Any]]:
        columns = {"cosine": found.cosines, "margin": found.margins, "other": found.second}
        numbers = [{name: column[row].item() for name, column in columns.items()} for row in rows]
        known = ({"id": ids[row], "excerpt": excerpts[row]} for row in rows)
        return [text | more for text, more in zip(known, numbers, strict=True)]

    def group(label: int) -> dict[str, Any]:
        chosen = {"label": label, "words": words(label, WORDS), "size": int(sizes[label])}
        typical, last = (model.examples(label, EXAMPLES, borderline=b) for b in (False, True))
        mean = float(totals[label] / max(sizes[label], 1))
        return chosen | {"mean_cosine": mean, "typical": texts(typical), "borderline": texts(last)}

    return PageData(
        groups=[group(int(label)) for label in np.argsort(-sizes, kind="stable")],
        sphere=on_sphere(V),
        plane=on_plane(V, labels, cosines),
        group=labels,
        cosine=cosines,
        margin=margins,
        excerpts=[excerpts[row] for row in rows],
        ids=[ids[row] for row in rows],
        n_texts=n,
        mean_cosine=model.summary_["mean_cosine"],
        svd_ratio=model.svd_ratio_,
        uncertain=UNCERTAIN,
        tree=model._tree() if k > 1 else None,
        curve=model.curve_,
        versions=VERSIONS,
        unassigned=[(ids[row], excerpts[row]) for row in np.flatnonzero(found.labels < 0)[:LISTED]],
        **others,
    )


def summary_of_page(data: PageData) -> str:
    """All that the page shows, but single texts, as JSON."""
    shown = {name: value for name, value in vars(data).items() if name not in POINTWISE}
    return json.dumps(shown, indent=1, default=np.ndarray.tolist)


@contextmanager
def open_table(path: Path, suffix: str) -> Iterator[Callable[[Sequence[str], Nearest], None]]:
    """A function that adds texts to a table, which is CSV or, by its suffix, Parquet."""
    if suffix.lower() == ".parquet":
        arrow = optional("pyarrow", "Parquet files", doing="Writing")
        parquet = optional("pyarrow.parquet", "Parquet files", doing="Writing")
        schema = arrow.schema(COLUMNS.items())
        with parquet.ParquetWriter(str(path), schema) as file:
            yield lambda ids, found: file.write_table(arrow.table(_columns(ids, found), schema))
        return
    with path.open("w", encoding="utf-8", newline="") as text:
        table = csv.writer(text, lineterminator="\n")
        table.writerow(COLUMNS)
        yield lambda ids, found: table.writerows(
            (*row[:2], f"{row[2]:.6f}", f"{row[3]:.6f}", int(row[4]))
            for row in zip(*_columns(ids, found).values(), strict=True)
        )


def _columns(ids: Sequence[str], found: Nearest) -> dict[str, Any]:
    return dict(zip(COLUMNS, (ids, *found[:3], found.margins < UNCERTAIN), strict=True))
