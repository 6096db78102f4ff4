"""What is written about groups: a table of texts, a summary, a page."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sphericalpca.groups.clusters import UNCERTAIN, TextClusters
from sphericalpca.groups.maps import on_plane, on_sphere
from sphericalpca.groups.page import Borderline, CurvePoint, Group, PageData, Problem, Typical
from sphericalpca.groups.partition import Nearest
from sphericalpca.groups.storing import versions
from sphericalpca.rows.sources.filesource import optional

__all__ = ["Report", "open_table"]

# Words and texts for each group; points on the page; texts without a known word that are listed.
WORDS, EXAMPLES, POINTS, LISTED = 12, 5, 100_000, 1000


@dataclass
class Report:
    """All that there is to say about fitted groups and their texts."""

    clusters: TextClusters
    ids: Sequence[str]
    excerpts: Sequence[str]  # empty if the texts are not known
    source: str
    words: Callable[[int, int], list[tuple[str, float]]]
    problems: Mapping[str, tuple[int, list[int]]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def nearest(self) -> Nearest:
        """What `open_table` writes."""
        found = self.clusters
        return Nearest(found.labels_, found.cosines_, found.margins_, found.second_)

    def groups(self) -> list[Group]:
        """The groups, the largest first."""
        found = self.clusters
        sizes = np.bincount(found.labels_[found.labels_ >= 0], minlength=found.merged_.max() + 1)
        order = np.argsort(-sizes, kind="stable")
        return [self._group(int(label), int(sizes[label])) for label in order]

    def _group(self, label: int, size: int) -> Group:
        found = self.clusters
        typical = [Typical(*self._text(k)) for k in found.examples(label, EXAMPLES)]
        last = found.examples(label, EXAMPLES, borderline=True)
        other = [int(found.second_[k]) for k in last]
        borderline = [Borderline(*self._text(k), h) for k, h in zip(last, other, strict=True)]
        cosines = found.cosines_[found.labels_ == label]
        mean = float(cosines.mean()) if size else 0.0
        share = size / len(self.ids)
        words = self.words(label, WORDS)
        return Group(label, words, size, share, mean, typical, borderline)

    def _text(self, k: int) -> tuple[str, str, float, float]:
        text = self.excerpts[k] if self.excerpts else ""
        return self.ids[k], text, float(self.clusters.cosines_[k]), float(self.clusters.margins_[k])

    def page_data(self, groups: list[Group]) -> PageData:
        """What the page shows; of very many texts a sample."""
        found, n = self.clusters, len(self.ids)
        rows = np.unique(np.linspace(0, n - 1, min(n, POINTS)).astype(int))
        V, labels, cosines = found.embedding_[rows], found.labels_[rows], found.cosines_[rows]
        return PageData(
            title=f"{len(groups)} groups in {self.source}",
            source=self.source,
            groups=groups,
            sphere=on_sphere(V),
            plane=on_plane(V, labels, cosines),
            group=labels,
            cosine=cosines,
            margin=found.margins_[rows],
            excerpts=[self.excerpts[k] for k in rows] if self.excerpts else [""] * len(rows),
            ids=[self.ids[k] for k in rows],
            n_texts=n,
            mean_cosine=found.first_run_["mean_cosine"],
            svd_ratio=None if np.isnan(found.svd_ratio_) else found.svd_ratio_,
            sampled=len(rows) < n,
            uncertain=UNCERTAIN,
            tree=found.tree() if len(groups) > 1 else None,
            curve=found.curve_ and [CurvePoint(*point) for point in found.curve_],
            settings=self.settings,
            versions=versions(),
            problems={kind: Problem(*places) for kind, places in self.problems.items()},
            unassigned=self._unassigned(),
        )

    def _unassigned(self) -> list[tuple[str, str]]:
        places = np.flatnonzero(self.clusters.labels_ < 0)[:LISTED]
        return [(self.ids[k], self.excerpts[k] if self.excerpts else "") for k in places]

    def summary(self, groups: list[Group]) -> dict[str, Any]:
        """What other programs may want to know."""
        found = self.clusters
        return {
            "source": self.source,
            "n_texts": len(self.ids),
            "n_groups": len(groups),
            "n_without_known_word": int((found.labels_ < 0).sum()),
            "without_known_word": [name for name, _ in self._unassigned()],
            "n_uncertain": int(((found.margins_ < UNCERTAIN) & (found.labels_ >= 0)).sum()),
            "uncertain_below": UNCERTAIN,
            "mean_cosine": found.first_run_["mean_cosine"],
            "svd_ratio": None if np.isnan(found.svd_ratio_) else found.svd_ratio_,
            "n_components": len(found.components_),
            "groups": [
                {
                    "group": group.label,
                    "size": group.size,
                    "mean_cosine": group.mean_cosine,
                    "words": dict(group.words),
                    "typical": [text.id for text in group.typical],
                    "borderline": [text.id for text in group.borderline],
                }
                for group in groups
            ],
            "tree": found.tree().tolist() if len(groups) > 1 else [],
            "curve": found.curve_,
            "problems": {
                k: {"count": n, "first": first} for k, (n, first) in self.problems.items()
            },
            "settings": dict(self.settings),
            "versions": versions(),
        }


@contextmanager
def open_table(path: Path, suffix: str = "") -> Iterator[Callable[[Sequence[str], Nearest], None]]:
    """A function that adds texts to a table, which is CSV or, by its suffix, Parquet."""
    if (suffix or path.suffix).lower() == ".parquet":
        arrow = optional("pyarrow", "Parquet files", doing="Writing")
        kinds = {"id": "string", "group": "int32", "cosine": "float32", "margin": "float32"}
        schema = arrow.schema([*kinds.items(), ("uncertain", "bool")])
        parquet = optional("pyarrow.parquet", "Parquet files", doing="Writing")
        with parquet.ParquetWriter(str(path), schema) as file:
            yield lambda ids, found: file.write_table(arrow.table([*_columns(ids, found)], schema))
        return
    with path.open("w", encoding="utf-8", newline="") as text:
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(["id", "group", "cosine", "margin", "uncertain"])

        def add(ids: Sequence[str], found: Nearest) -> None:
            names, groups, cosines, margins, uncertain = _columns(ids, found)
            numbers = ([f"{x:.6f}" for x in column] for column in (cosines, margins))
            rows.writerows(zip(names, groups, *numbers, uncertain.astype(int), strict=True))

        yield add


def _columns(ids: Sequence[str], found: Nearest) -> tuple[Any, ...]:
    return ids, found.labels, found.cosines, found.margins, found.margins < UNCERTAIN
