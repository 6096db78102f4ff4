"""All tables of the report, with their titles and captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from paper.printed import CLASS_SIZES
from paper.report.agreement import READINGS, left_out, lines_by_reading, main_lines, matches
from paper.report.compare import ComparisonLine, lines_of, methods_of
from paper.report.findings.claims import claims_by_row
from paper.report.naming import file_name, groups_of, stand_in, table_number
from paper.report.read import Results
from paper.report.tables.clustering import (
    PAPER_BESIDE,
    REPRESENTATIONS,
    clustering_table,
    line_name,
    paired_table,
    seconds_table,
)
from paper.report.tables.constants import constants_table, sweeps
from paper.report.tables.lsa import lsa_table
from paper.report.tables.paper import agreement_table, doubt_table
from paper.report.tables.reading import (
    gain_reading,
    has_intervals,
    reading,
)
from paper.report.tables.readings import both_table, nearest_reading, nearness_table
from paper.report.tables.solvers import solvers_table
from paper.report.tables.toy import toy_table
from sphericalpca.pages.tables import NONE, Table

__all__ = ["all_tables"]

TEXT_VARIANTS = {
    "main": "words chosen by mutual information with the documents",
    "labels": "words chosen by mutual information with the labels",
    "stripped": "headers, footers and quotes removed, words as in the first",
}

UCI_VARIANTS = {
    "unit": "unit rows of the raw features",
    "standardised": "standardised features, then unit rows",
    "minmax": "features scaled to 0 to 1, then unit rows",
}

DASH = f"{NONE} does not apply, or was not measured."

ONE_SAMPLE = "The spread covers k-means seeds only: the data are always the same."
SEEDS_ONLY = ONE_SAMPLE.replace("spread covers", "spread and the intervals cover")


def all_tables(results: Results, lines: list[ComparisonLine]) -> Iterator[Table]:
    """Those that the results allow, in the order of the page; a dash in one is explained."""
    for table in _tables(results, lines):
        dashed = any(entry.text == NONE for row in table.rows for entry in row.entries)
        yield replace(table, caption=f"{table.caption} {DASH}") if dashed else table


def _tables(results: Results, lines: list[ComparisonLine]) -> Iterator[Table]:
    for line in lines_of(lines, "toy"):
        yield toy_table(line)
    for data in results.solvers["data"].unique():
        yield solvers_table(results.solvers, data)
    for variant, text in TEXT_VARIANTS.items():
        yield from _text_tables(lines_of(lines, "newsgroups", variant=variant), variant, text)
    yield from _readings_tables(lines)
    yield from _embeddings_tables(lines_of(lines, "embeddings"))
    if starts := lines_of(lines, "starts"):
        yield _starts_table(starts)
    for sweep in sweeps(results.rows):
        kind = "toy" if sweep.dataset == "toy" else "text"
        yield constants_table(sweep, name=file_name("constants", kind))
    yield from _uci_tables(lines)
    yield from _lsa_tables(lines_of(lines, "lsa"))
    if rank := lines_of(lines, "rank"):
        caption = f"r varies, the rest is as in {table_number(rank, 'newsgroups')}. {reading(rank)}"
        title = f"Accuracy and NMI by dimension, {groups_of(rank[0])}"
        yield clustering_table(rank, name="rank", title=title, caption=caption, corner="Dimension")
    yield from _closing_tables(lines)


def _text_tables(lines: list[ComparisonLine], variant: str, text: str) -> Iterator[Table]:
    if not lines:
        return
    name = "newsgroups" if variant == "main" else f"newsgroups-{variant}"
    beside = f" {PAPER_BESIDE}" if matches(lines) else ""
    methods = REPRESENTATIONS if variant == "main" else "Methods as in the table above."
    varied = "" if variant in READINGS else ", varied"
    where = f", on {lines[0].key.dataset}" if stand_in(lines) else ". Newsgroups"
    yield clustering_table(
        lines,
        name=name,
        title=f"{table_number(lines, 'newsgroups')}{varied}{where}: {text}",
        caption=f"{reading(lines)}{beside} NMI by the larger entropy. {_documents(lines)} "
        f"r is the number of groups. {methods}",
        corner="Groups",
    )
    yield from _further(lines, name, "Groups")


def _readings_tables(lines: list[ComparisonLine]) -> Iterator[Table]:
    by_reading = lines_by_reading(lines)
    if len(by_reading) > 1:
        yield both_table(by_reading)
    if nearest_reading(by_reading):
        yield nearness_table(by_reading)


def _embeddings_tables(lines: list[ComparisonLine]) -> Iterator[Table]:
    if not lines:
        return
    yield clustering_table(
        lines,
        name="embeddings",
        title="Table 4. The documents of Table 1 as MiniLM vectors",
        caption=f"{reading(lines)} {_documents(lines)} r is the number of groups. The vectors have "
        "384 numbers, made from the posts without headers, and are scaled to length 1.",
        corner="Groups",
    )
    yield from _further(lines, "embeddings", "Groups")


def _starts_table(lines: list[ComparisonLine]) -> Table:
    cosines = "; ".join(
        f"{line_name(line)}: "
        + ", ".join(f"{line.fact('mean_cosine', method):.5f}" for method in methods_of([line]))
        for line in lines
    )
    return clustering_table(
        lines,
        name="starts",
        title="Spherical PCA from other starts",
        caption=f"{reading(lines)} By default a fit starts at the SVD. Mean cosines reached, in "
        f"the order of the columns: {cosines}. {_documents(lines)}",
        corner="Groups",
    )


def _uci_tables(lines: list[ComparisonLine]) -> Iterator[Table]:
    for variant, text in UCI_VARIANTS.items():
        part = lines_of(lines, "uci", variant=variant)
        part = [line for line in part if not line.key.dataset.startswith("mfeat-")]
        if part:
            name = "uci" if variant == "unit" else f"uci-{variant}"
            varied = "" if variant == "unit" else ", varied"
            where = "" if stand_in(part) else ". UCI"
            title = f"{table_number(part, 'uci')}{varied}{where}: {text}"
            yield clustering_table(part, name=name, title=title, caption=_uci_caption(part))
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


def _uci_caption(lines: list[ComparisonLine]) -> str:
    parts = [reading(lines), SEEDS_ONLY if has_intervals(lines) else ONE_SAMPLE]
    if matches(lines):
        parts.append(PAPER_BESIDE)
    if left_out(lines):
        parts.append(
            "MUA needs data without negative entries; where there are some, its cell is that of "
            "the min-max variant (“min-max data”) and is not tested."
        )
    if any(line.key.dataset in CLASS_SIZES for line in lines):
        parts.append(
            "‡ no two-cluster clusterings have these means; † only a mean of very unequal runs has."
        )
    return " ".join([*parts, f"r is the number of classes or of features. {REPRESENTATIONS}"])


def _further(lines: list[ComparisonLine], name: str, corner: str) -> Iterator[Table]:
    """What a table's details hold: paired differences and other measures."""
    table, _, variant = name.partition("-")
    number = f"{table_number(lines, table)}{f', {variant}' if variant else ''}"
    title = f"{number}: paired differences to Spherical PCA"
    yield paired_table(lines, name=f"{name}-paired", title=title, corner=corner)
    yield clustering_table(
        lines,
        name=f"{name}-measures",
        title=f"{number}: other measures",
        caption=f"NMI by the arithmetic mean of the entropies; adjusted Rand. {reading(lines)}",
        measures=("nmi_arithmetic", "ari"),
        corner=corner,
    )


def _lsa_tables(lines: list[ComparisonLine]) -> Iterator[Table]:
    for groups in dict.fromkeys(line.key.groups for line in lines):
        part = [line for line in lines if line.key.groups == groups]
        yield lsa_table(
            part,
            name=file_name("lsa", groups),
            title=f"Table 3. LSA in common practice, {groups} groups",
            caption=(
                f"Mean and standard deviation, ★ the better mean. {_lsa_gain(part)} K-means has "
                "one start and at most 100 iterations, as in scikit-learn's example. K-means "
                "seeds: all documents, only the clustering varies. Bootstrap: documents are "
                "redrawn with replacement, the vocabulary and the idf weights are those of the "
                "whole collection; an interval is that of the replicates, seeds of k-means "
                "included. CPU seconds: of the representation. SVD ratio: the value f at the "
                "SVD over the one that Spherical PCA reached; 1 means nothing to gain."
            ),
        )


def _lsa_gain(lines: list[ComparisonLine]) -> str:
    p_value = "Wilcoxon's p-value over k-means seeds"
    return gain_reading(lines, "Gain: Spherical PCA minus LSA, paired", p_value)


def _closing_tables(lines: list[ComparisonLine]) -> Iterator[Table]:
    newsgroups, uci = main_lines(lines, "newsgroups"), main_lines(lines, "uci")
    both = [line for part in lines_by_reading(lines).values() for line in part]
    if main := [*newsgroups, *uci]:
        yield seconds_table(main, named=line_name)
    if own := [line for line in both if not line.stands_in]:
        yield claims_by_row(own)
    if matches([*both, *uci]):
        yield agreement_table([*both, *uci])
    if any(line.key.dataset in CLASS_SIZES for line in uci):
        yield doubt_table()


def _documents(lines: Sequence[ComparisonLine]) -> str:
    """How many draws and clusterings, and how many empty documents were dropped."""
    repetitions = max(cell.n for line in lines for cell in line.cells["accuracy"].values())
    draws = f"{repetitions} {'draw' if repetitions == 1 else 'draws'} of documents"
    seeds = max(int(line.rows["clusterings"].max()) for line in lines)
    if seeds > 1:
        draws += f", each the mean over {seeds} k-means seeds"
    dropped = [int(value) for line in lines for value in line.rows["dropped"].unique()]
    least, most = min(dropped), max(dropped)
    if most == 0:
        return f"{draws}; none was empty."
    empty = f"{least}" if least == most else f"{least} to {most}"
    return f"{draws}; {empty} empty ones per draw were dropped before any method saw them."
