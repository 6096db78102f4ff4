"""Everything that the report shows, drawn from the results before a file is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sphericalpca.experiments.paper import CLASS_SIZES
from sphericalpca.experiments.report.agreement import main_lines, matches
from sphericalpca.experiments.report.compare import Line, compare, lines_of
from sphericalpca.experiments.report.figures.clustering import (
    against_dimension,
    lsa_curves,
    methods_by_line,
    seconds,
)
from sphericalpca.experiments.report.figures.convergence import convergence
from sphericalpca.experiments.report.figures.geometry import geometry
from sphericalpca.experiments.report.figures.picture import Picture
from sphericalpca.experiments.report.figures.toy import toy
from sphericalpca.experiments.report.findings import (
    Claim,
    Finding,
    Headline,
    claims,
    findings,
    headlines,
)
from sphericalpca.experiments.report.findings.claims import claims_by_row
from sphericalpca.experiments.report.read import Results
from sphericalpca.experiments.report.tables.clustering import (
    PAPER_BESIDE,
    READING,
    REPRESENTATIONS,
    clustering_table,
    line_name,
    paired_table,
    seconds_table,
)
from sphericalpca.experiments.report.tables.grid import LEVEL_MEANS, Table
from sphericalpca.experiments.report.tables.lsa import lsa_table
from sphericalpca.experiments.report.tables.paper import agreement_table, doubt_table
from sphericalpca.experiments.report.tables.solvers import solvers_table
from sphericalpca.experiments.report.tables.toy import toy_table

__all__ = ["Content", "gather"]

TEXT_VARIANTS = {
    "main": "words chosen by mutual information with the documents",
    "labels": "words chosen by mutual information with the labels",
    "stripped": "headers, footers and quotes removed",
}

UCI_VARIANTS = {
    "unit": "unit rows of the raw features",
    "standardised": "standardised features, then unit rows",
    "minmax": "features scaled to 0 to 1, then unit rows",
}

TITLES = {"newsgroups": "Table 1", "uci": "Table 2"}

SEEDS_ONLY = "The spread and the intervals cover k-means seeds only: the data are always the same."


@dataclass(frozen=True)
class Content:
    """What the page and the files show.

    Attributes
    ----------
    pictures : dict from name to Picture
    tables : dict from name to Table
    headlines : list of Headline
    findings : list of Finding
    claims : list of Claim
    results : Results
    """

    pictures: dict[str, Picture]
    tables: dict[str, Table]
    headlines: list[Headline]
    findings: list[Finding]
    claims: list[Claim]
    results: Results


def gather(results: Results) -> Content:
    """Draw up all tables, pictures and findings that the results allow."""
    lines = compare(results.rows)
    pictures = {picture.name: picture for picture in _pictures(results, lines)}
    tables = {table.name: table for table in _tables(results, lines)}
    return Content(
        pictures,
        tables,
        headlines(results, lines),
        findings(results, lines),
        claims(results, lines),
        results,
    )


def _pictures(results: Results, lines: list[Line]) -> Iterator[Picture]:
    yield geometry()
    if not results.toy.empty:
        yield toy(results.toy)
    for data in results.convergence["data"].unique():
        yield convergence(results.convergence, data)
    main = {name: main_lines(lines, name) for name in ("newsgroups", "uci")}
    for experiment, part in main.items():
        if part:
            yield methods_by_line(part, name=experiment, caption=DOTS)
    if rank := lines_of(lines, "rank"):
        yield against_dimension(rank, caption=RANK)
    if lsa := lines_of(lines, "lsa"):
        yield lsa_curves(lsa, caption=LSA_CURVES)
    if timed := [*main["newsgroups"], *main["uci"], *lines_of(lines, "lsa", variant="seeds")]:
        yield seconds(timed, caption=SECONDS)


DOTS = "Mean accuracy with its 95 % interval, method by method, and what the paper prints."
RANK = "Accuracy and NMI against the dimension r, with the 95 % interval of each mean."
LSA_CURVES = (
    "V-measure against the dimension r. Bands of 95 %: of the mean over k-means seeds; of the "
    "replicates themselves where documents are redrawn."
)
SECONDS = "CPU seconds of the representation alone, on one thread."


def _tables(results: Results, lines: list[Line]) -> Iterator[Table]:
    for line in lines_of(lines, "toy"):
        yield toy_table(line)
    for data in results.solvers["data"].unique():
        yield solvers_table(results.solvers, data)
    for variant, text in TEXT_VARIANTS.items():
        yield from _text_tables(lines_of(lines, "newsgroups", variant=variant), variant, text)
    yield from _uci_tables(lines)
    yield from _lsa_tables(lines_of(lines, "lsa"))
    if rank := lines_of(lines, "rank"):
        caption = f"r varies, the rest is as in Table 1. {READING}"
        title = f"Accuracy and NMI by dimension, {_groups(rank[0])}"
        yield clustering_table(rank, name="rank", title=title, caption=caption, corner="Dimension")
    yield from _closing_tables(lines)


def _text_tables(lines: list[Line], variant: str, text: str) -> Iterator[Table]:
    if not lines:
        return
    name = "newsgroups" if variant == "main" else f"newsgroups-{variant}"
    beside = f" {PAPER_BESIDE}" if matches(lines) else ""
    number = "Table 1. " if variant == "main" else "Table 1, varied. "
    where = "Newsgroups" if lines[0].key.dataset == "20newsgroups" else lines[0].key.dataset
    yield clustering_table(
        lines,
        name=name,
        title=f"{number}{where}: {text}",
        caption=f"{READING}{beside} NMI by the larger entropy. {_documents(lines)} "
        f"r is the number of groups. {REPRESENTATIONS}",
        corner="Groups",
    )
    yield from _further(lines, name, "Groups")


def _uci_tables(lines: list[Line]) -> Iterator[Table]:
    for variant, text in UCI_VARIANTS.items():
        part = lines_of(lines, "uci", variant=variant)
        part = [line for line in part if not line.key.dataset.startswith("mfeat-")]
        if part:
            name = "uci" if variant == "unit" else f"uci-{variant}"
            number = "Table 2. " if variant == "unit" else "Table 2, varied. "
            caption = _uci_caption(part)
            yield clustering_table(part, name=name, title=f"{number}UCI: {text}", caption=caption)
            yield from _further(part, name, "Data")
    views = [line for line in lines_of(lines, "uci") if line.key.dataset.startswith("mfeat-")]
    if views:
        yield clustering_table(
            views,
            name="uci-views",
            title="Table 2, varied. mfeat, one view at a time",
            caption="The paper does not say which features of mfeat it used, so its numbers stand "
            f"beside every view. {_uci_caption(views)}",
            corner="View",
            named=lambda line: f"{line.key.dataset.removeprefix('mfeat-')}, {line.key.variant}",
        )


def _uci_caption(lines: list[Line]) -> str:
    parts = [READING, SEEDS_ONLY]
    if matches(lines):
        parts.append(PAPER_BESIDE)
    if any(cell.borrowed for line in lines for cell in line.cells["accuracy"].values()):
        parts.append(
            "MUA needs data without negative entries; where there are some, its cell is that of "
            "the min-max variant (“min-max data”) and is not tested."
        )
    if any(line.key.dataset in CLASS_SIZES for line in lines):
        parts.append(
            "‡ no two-cluster clusterings have these means; † only a mean of very unequal runs has."
        )
    return " ".join([*parts, f"r is the number of classes or of features. {REPRESENTATIONS}"])


def _further(lines: list[Line], name: str, corner: str) -> Iterator[Table]:
    """What a table's details hold: paired differences and other measures."""
    table, _, variant = name.partition("-")
    number = f"{TITLES[table]}{f', {variant}' if variant else ''}"
    title = f"{number}: paired differences to Spherical PCA"
    yield paired_table(lines, name=f"{name}-paired", title=title, corner=corner)
    yield clustering_table(
        lines,
        name=f"{name}-measures",
        title=f"{number}: other measures",
        caption=f"NMI by the arithmetic mean of the entropies; adjusted Rand. {READING}",
        measures=("nmi_arithmetic", "ari"),
        corner=corner,
    )


def _lsa_tables(lines: list[Line]) -> Iterator[Table]:
    for groups in dict.fromkeys(line.key.groups for line in lines):
        part = [line for line in lines if line.key.groups == groups]
        yield lsa_table(
            part,
            name=f"lsa-{groups}",
            title=f"Table 3. LSA as people run it, {groups} groups",
            caption=(
                "Mean and standard deviation, ★ the better mean. Gain: Spherical PCA minus LSA, "
                "paired, with its 95 % interval and, over k-means seeds, Wilcoxon's p-value: "
                f"▲ a gain, ▼ a loss, {LEVEL_MEANS}. K-means has one start and at most 100 "
                "iterations, as in scikit-learn's example. K-means seeds: all documents, only the "
                "clustering varies. Bootstrap: the interval is that of the replicates, seeds of "
                "k-means included; documents are redrawn with replacement, the vocabulary and the "
                "idf weights are those of the whole collection. CPU seconds: of the "
                "representation. SVD ratio: the objective at the SVD over the one that Spherical "
                "PCA reached; 1 means nothing to gain."
            ),
        )


def _closing_tables(lines: list[Line]) -> Iterator[Table]:
    newsgroups, uci = main_lines(lines, "newsgroups"), main_lines(lines, "uci")
    main = [*newsgroups, *uci]
    if main:
        yield seconds_table(main, named=line_name)
    if newsgroups:
        yield claims_by_row(newsgroups)
    if matches(main):
        yield agreement_table(main)
    if any(line.key.dataset in CLASS_SIZES for line in uci):
        yield doubt_table()


def _documents(lines: Sequence[Line]) -> str:
    """How many draws, and how many empty documents were dropped."""
    repetitions = max(cell.n for line in lines for cell in line.cells["accuracy"].values())
    dropped = [int(value) for line in lines for value in line.rows["dropped"].unique()]
    least, most = min(dropped), max(dropped)
    if most == 0:
        return f"{repetitions} draws of documents; none was empty."
    empty = f"{least}" if least == most else f"{least} to {most}"
    return (
        f"{repetitions} draws of documents; {empty} empty ones per draw were dropped before any "
        "method saw them."
    )


def _groups(line: Line) -> str:
    return f"{line.key.groups} groups"
