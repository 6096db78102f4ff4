"""What is written about groups: a table of texts, a summary, a page."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sphericalpca.groups.maps import on_plane, on_sphere
from sphericalpca.groups.page import Borderline, CurvePoint, Group, PageData, Typical
from sphericalpca.groups.partition import UNCERTAIN, Nearest
from sphericalpca.groups.storing import VERSIONS
from sphericalpca.rows.sources.filesource import optional

__all__ = ["open_table", "page_data", "summary_of_page"]

# Words and texts for each group; points on the page; texts without a known word that are listed.
WORDS, EXAMPLES, POINTS, LISTED = 12, 5, 100_000, 1000
COLUMNS = {"id": "string", "group": "int32", "cosine": "float32", "margin": "float32"}
# Of what the page shows, what belongs to single texts.
POINTWISE = ("sphere", "plane", "group", "cosine", "margin", "excerpts", "ids")


def page_data(
    found: Any, ids: Sequence[str], excerpts: Sequence[str], words: Any, **others: Any
) -> PageData:
    """What the page shows of fitted groups and their texts; of very many texts a sample."""
    n, k, nearest = len(ids), int(found.merged_.max()) + 1, found.nearest_
    sizes = np.bincount(nearest.labels[nearest.labels >= 0], minlength=k)
    rows = np.unique(np.linspace(0, n - 1, min(n, POINTS)).astype(int))
    V, (labels, cosines, margins, _) = found.embedding_[rows], (part[rows] for part in nearest)
    places = {"sphere": on_sphere(V), "plane": on_plane(V, labels, cosines)}
    curve = None if found.curve_ is None else [CurvePoint(*point) for point in found.curve_]

    def text(row: int) -> tuple[str, str, float, float]:
        return ids[row], excerpts[row], float(nearest.cosines[row]), float(nearest.margins[row])

    def group(label: int) -> Group:
        size, mean = int(sizes[label]), nearest.cosines[nearest.labels == label].mean
        typical = [Typical(*text(row)) for row in found.examples(label, EXAMPLES)]
        last = found.examples(label, EXAMPLES, borderline=True)
        doubtful = [Borderline(*text(row), int(nearest.second[row])) for row in last]
        cosine = float(mean()) if size else 0.0
        return Group(label, words(label, WORDS), size, size / n, cosine, typical, doubtful)

    return PageData(
        groups=[group(int(label)) for label in np.argsort(-sizes, kind="stable")],
        **places | {"group": labels, "cosine": cosines, "margin": margins},
        excerpts=[excerpts[row] for row in rows],
        ids=[ids[row] for row in rows],
        n_texts=n,
        sampled=len(rows) < n,
        mean_cosine=found.summary_["mean_cosine"],
        svd_ratio=None if np.isnan(found.svd_ratio_) else found.svd_ratio_,
        uncertain=UNCERTAIN,
        tree=found._tree() if k > 1 else None,
        curve=curve,
        versions=VERSIONS,
        unassigned=[text(row)[:2] for row in np.flatnonzero(nearest.labels < 0)[:LISTED]],
        **others,
    )


def summary_of_page(data: PageData) -> str:
    """All that the page shows, but single texts, as JSON."""

    def plain(value: Any) -> Any:
        return value.tolist() if isinstance(value, np.ndarray) else dataclasses.asdict(value)

    names = [entry.name for entry in dataclasses.fields(data) if entry.name not in POINTWISE]
    return json.dumps({name: getattr(data, name) for name in names}, indent=1, default=plain)


@contextmanager
def open_table(path: Path, suffix: str) -> Iterator[Callable[[Sequence[str], Nearest], None]]:
    """A function that adds texts to a table, which is CSV or, by its suffix, Parquet."""
    if suffix.lower() == ".parquet":
        arrow = optional("pyarrow", "Parquet files", doing="Writing")
        parquet = optional("pyarrow.parquet", "Parquet files", doing="Writing")
        schema = arrow.schema([*COLUMNS.items(), ("uncertain", "bool")])
        with parquet.ParquetWriter(str(path), schema) as file:
            yield lambda ids, found: file.write_table(arrow.table(_table(ids, found), schema))
        return
    with path.open("w", encoding="utf-8", newline="") as text:
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow([*COLUMNS, "uncertain"])

        def add(ids: Sequence[str], found: Nearest) -> None:
            names, groups, *numbers, uncertain = _table(ids, found).values()
            digits = ([f"{x:.6f}" for x in column] for column in numbers)
            rows.writerows(zip(names, groups, *digits, uncertain.astype(int), strict=True))

        yield add


def _table(ids: Sequence[str], found: Nearest) -> dict[str, Any]:
    columns = [ids, *found[:3], found.margins < UNCERTAIN]
    return dict(zip([*COLUMNS, "uncertain"], columns, strict=True))
