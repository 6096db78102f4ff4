"""Spherical PCA beside "SVD, then unit rows": tables drawn from rows that were measured."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from paper.report.agreement import main_lines
from paper.report.compare import ComparisonLine, compare, lines_of
from paper.report.read import read_results
from paper.report.tables.clustering import line_name
from sphericalpca.metrics import paired_difference
from sphericalpca.pages.tables import share, shift

__all__ = [
    "bands_table",
    "embeddings_table",
    "gaps_table",
    "groups_table",
    "promises_table",
    "ratios_table",
    "svd_table",
]

RIVAL, OURS = "svd-unit", "spherical-pca"

MEASURES = ("accuracy", "nmi_max")
GROUP_MEASURES = ("nmi", "ari", "agreement", "assigned", "seconds", "peak_mb")

BANDS = (
    ("above 0.9999", 0.9999, 1.1),
    ("0.999 to 0.9999", 0.999, 0.9999),
    ("below 0.999", 0.0, 0.999),
)

VERDICTS = {
    "ahead": "ahead",
    "behind": "behind",
    "level": "level",
    "open": "not significant",
    "untested": "not tested",
}


def ratios_table(results: Path) -> str:
    """The ratio, and the accuracy of clusters, on every data set of the reproduction."""
    lines = compare(read_results(results).rows)
    chosen = [
        *main_lines(lines, "newsgroups"),
        *lines_of(lines, "toy"),
        *main_lines(lines, "uci"),
    ]
    head = (
        *("data", "features", "r", "svd_ratio_"),
        *("SVD + unit rows", "Spherical PCA", "difference", "verdict"),
    )
    return _markdown(head, map(_ratio_cells, chosen))


def _ratio_cells(line: ComparisonLine) -> list[str]:
    cells = line.cells["accuracy"]
    gain = cells[RIVAL].gain
    assert gain is not None
    kind = {"newsgroups": "newsgroups, ", "toy": "the toy"}.get(line.key.experiment, "")
    name = kind if line.key.experiment == "toy" else f"{kind}{line_name(line)}"
    return [
        name,
        f"{line.fact('n_features'):.0f}",
        f"{line.fact('r'):.0f}",
        f"{line.fact('svd_ratio'):.5f}",
        share(cells[RIVAL].mean),
        share(cells[OURS].mean),
        shift(gain.mean),
        VERDICTS[cells[RIVAL].outcome],
    ]


def bands_table(results: Path) -> str:
    """How often the clusters differed, by the ratio, over all variants and measures."""
    lines = compare(read_results(results).rows)
    outcomes = ("ahead", "level", "behind", "not significant")
    head = ("svd_ratio_", "comparisons", *outcomes, "median size of difference")
    return _markdown(head, (_band_cells(lines, *band) for band in BANDS))


def _band_cells(lines: list[ComparisonLine], name: str, low: float, high: float) -> list[str]:
    inside = [
        line
        for line in lines
        if RIVAL in line.cells["accuracy"] and low < line.fact("svd_ratio") <= high
    ]
    cells = [line.cells[measure][RIVAL] for line in inside for measure in MEASURES]
    outcomes = Counter(cell.outcome for cell in cells)
    differences = [abs(cell.gain.mean) for cell in cells if cell.gain is not None]
    counts = [str(outcomes[kind]) for kind in ("ahead", "level", "behind", "open")]
    return [name, str(len(cells)), *counts, share(median(differences))]


def svd_table(rows: Path) -> str:
    """What the subspace of scikit-learn's TruncatedSVD is worth for this objective."""
    return _by_case(rows, "TruncatedSVD", "loss_gap", "f lost by TruncatedSVD")


def gaps_table(rows: Path) -> str:
    """What the certificate leaves open for a fit with default settings."""
    return _by_case(rows, "ours", "certificate_gap", "gap")


def _by_case(rows: Path, method: str, column: str, title: str) -> str:
    """A column of a method, one line for each data set, with all its dimensions."""
    cases: dict[str, list[dict[str, str]]] = {}
    for row in _read(rows):
        if row["method"] == method and row[column]:
            cases.setdefault(row["case"], []).append(row)
    return _markdown(
        ("data", "size", "r", title), (_case_cells(found, column) for found in cases.values())
    )


def _case_cells(measured: Iterable[dict[str, str]], column: str) -> list[str]:
    rows = sorted(measured, key=lambda row: int(row["r"]))
    first = rows[0]
    return [
        first["about"],
        f"{int(first['n']):,} x {int(first['m']):,}",
        "; ".join(row["r"] for row in rows),
        "; ".join(_percent(float(row[column])) for row in rows),
    ]


def embeddings_table(measured: Path) -> str:
    """Recall of neighbours on real embeddings."""
    rows = list(_read(measured))
    methods = [name for name in rows[0] if name not in {"r", "svd_ratio", "mean_cosine", "shared"}]
    head = ("r", "svd_ratio_", "mean cosine", *methods, "shared")
    return _markdown(head, ([*_facts(row), *_recalls(row, methods)] for row in rows))


def groups_table(rows: Path) -> str:
    """Methods that group texts: means over seeds, and what `TextClusters` is ahead by in NMI."""
    cells: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in _read(rows):
        cells.setdefault((row["data"], row["method"]), []).append(row)
    head = ("texts", "method", "NMI", "ours ahead by", "ARI", "agreement", "assigned", "s", "MB")
    return _markdown(head, (_group_cells(key, cells) for key in sorted(cells, key=_ours_first)))


def _ours_first(key: tuple[str, str]) -> tuple[str, bool]:
    return key[0], key[1] != "ours"


def _group_cells(key: tuple[str, str], cells: dict[tuple[str, str], list[Any]]) -> list[str]:
    mean = {name: fmean(float(row[name]) for row in cells[key]) for name in GROUP_MEASURES}
    ahead = ""
    if key[1] != "ours":
        ours, theirs = ([float(r["nmi"]) for r in cells[k]] for k in ((key[0], "ours"), key))
        gap = paired_difference(ours, theirs)
        ahead = f"{shift(gap.mean)} ({shift(gap.low)} to {shift(gap.high)})"
    name = "**TextClusters**" if key[1] == "ours" else key[1]
    measured = [share(mean["nmi"]), ahead, share(mean["ari"]), share(mean["agreement"])]
    sizes = [f"{mean['seconds']:.1f}", f"{mean['peak_mb']:,.0f}"]
    return [key[0], name, *measured, f"{100 * mean['assigned']:.1f} %", *sizes]


def promises_table(rows: Path) -> str:
    """What was promised about groups of texts, and what was measured."""
    head = ("promise", "limit", "measured", "met", "note")
    return _markdown(head, (_promise_cells(row) for row in _read(rows)))


def _promise_cells(row: dict[str, str]) -> list[str]:
    numbers = [f"{float(row[name]):,.4g}" for name in ("limit", "measured")]
    return [row["goal"], *numbers, "yes" if row["met"] == "True" else "**no**", row["note"]]


def _facts(row: dict[str, str]) -> list[str]:
    return [row["r"], f"{float(row['svd_ratio']):.5f}", f"{float(row['mean_cosine']):.3f}"]


def _recalls(row: dict[str, str], methods: Iterable[str]) -> list[str]:
    best = max(round(float(row[name]), 3) for name in methods)
    found = [round(float(row[name]), 3) for name in methods]
    bold = [f"**{share(value)}**" if value == best else share(value) for value in found]
    return [*bold, f"{100 * float(row['shared']):.1f} %"]


def _percent(value: float) -> str:
    return f"{100 * value:.2g} %" if value >= 1e-6 else "< 0.0001 %"


def _read(path: Path) -> Iterator[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def _markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    table = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in table) + "\n"
