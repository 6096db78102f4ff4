"""Table 3: the usual recipe for clustering documents, with Spherical PCA in the SVD's place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from paper.report.compare import OURS, ComparisonLine
from paper.report.tables.entries import gain_entry, plain_number
from sphericalpca.pages.tables import NOTHING, Entry, Row, Table, share

__all__ = ["LSA", "LSA_MEASURES", "VARIANTS", "lsa_table"]

# The SVD of tf-idf rows goes by this name where documents are clustered.
LSA = "svd-unit"

LSA_MEASURES = {"nmi_arithmetic": "V-measure", "ari": "Adjusted Rand", "accuracy": "Accuracy"}

VARIANTS = {"seeds": "k-means seeds", "bootstrap": "bootstrap draws"}


def lsa_table(lines: Sequence[ComparisonLine], *, name: str, title: str, caption: str) -> Table:
    """LSA against Spherical PCA by three measures and in seconds, at each dimension."""
    columns = ("LSA", "Spherical PCA", "gain") * len(LSA_MEASURES)
    return Table(
        name=name,
        title=title,
        caption=caption,
        corner="Varied",
        subcorner="r",
        columns=(*columns, "LSA", "Spherical PCA", "SVD ratio"),
        rows=tuple(_rows(lines)),
        over=(*((text, 3) for text in LSA_MEASURES.values()), ("CPU seconds", 2), ("", 1)),
    )


def _rows(lines: Sequence[ComparisonLine]) -> Iterator[Row]:
    by_variant: dict[str, list[ComparisonLine]] = {}
    for line in lines:
        by_variant.setdefault(line.key.variant, []).append(line)
    for variant, part in by_variant.items():
        for line in sorted(part, key=lambda line: line.key.r):
            entries = [entry for m in LSA_MEASURES for entry in _three(line, m)]
            entries += [Entry(plain_number(line.seconds.get(m, math.nan), 2)) for m in (LSA, OURS)]
            entries.append(Entry(f"{line.fact('svd_ratio'):.4f}"))
            first = line.key.r == min(other.key.r for other in part)
            head = VARIANTS.get(variant, variant)
            yield Row(head, str(line.key.r), tuple(entries), first, len(part))


def _three(line: ComparisonLine, measure: str) -> tuple[Entry, Entry, Entry]:
    """LSA, Spherical PCA, and the gain from one to the other."""
    lsa, ours = line.cells[measure].get(LSA), line.cells[measure].get(OURS)
    if lsa is None or ours is None:
        return NOTHING, NOTHING, NOTHING
    pair = [
        Entry(share(cell.mean), f"±{share(cell.sd)}" if cell.n > 1 else "", best=cell.best)
        for cell in (lsa, ours)
    ]
    return pair[0], pair[1], gain_entry(lsa)
