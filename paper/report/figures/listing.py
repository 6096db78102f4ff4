"""All pictures of the report, with their captions."""

from __future__ import annotations

from collections.abc import Iterator

from paper.methods import METHODS
from paper.report.agreement import left_out, lines_by_reading, main_lines, matches
from paper.report.compare import ComparisonLine, lines_of
from paper.report.figures.clustering import (
    against_dimension,
    lsa_curves,
    methods_by_line,
    seconds,
)
from paper.report.figures.convergence import convergence
from paper.report.figures.geometry import geometry
from paper.report.figures.toy import toy
from paper.report.naming import groups_of
from paper.report.read import Results
from paper.report.tables.reading import has_intervals
from sphericalpca.pages.pictures import Picture

__all__ = ["all_pictures"]

LSA_BANDS = {
    "seeds": "of the mean over k-means seeds",
    "bootstrap": "of the replicates themselves where documents are redrawn",
}
SECONDS = "CPU seconds of the representation alone, on one thread."


def all_pictures(results: Results, lines: list[ComparisonLine]) -> Iterator[Picture]:
    """Those that the results allow, in the order of the page."""
    yield geometry()
    if not results.toy.empty:
        yield toy(results.toy)
    for data in results.convergence["data"].unique():
        yield convergence(results.convergence, data, results.starts(data))
    main = {name: main_lines(lines, name) for name in ("newsgroups", "uci")}
    dots = {
        "newsgroups": main["newsgroups"],
        "newsgroups-labels": lines_by_reading(lines).get("labels", []),
        "uci": main["uci"],
        "embeddings": lines_of(lines, "embeddings"),
    }
    for name, part in dots.items():
        if part:
            yield methods_by_line(part, name=name, caption=_dots_caption(part))
    if rank := lines_of(lines, "rank"):
        text = f"Accuracy and NMI against the dimension r, {groups_of(rank[0])}"
        yield against_dimension(rank, caption=f"{text}{_with_intervals(rank)}.")
    if lsa := lines_of(lines, "lsa"):
        yield lsa_curves(lsa, caption=f"V-measure against the dimension r.{_lsa_bands(lsa)}")
    if timed := [*main["newsgroups"], *main["uci"], *lines_of(lines, "lsa", variant="seeds")]:
        yield seconds(timed, caption=SECONDS)


def _dots_caption(lines: list[ComparisonLine]) -> str:
    parts = ["Mean accuracy, method by method", _with_intervals(lines)]
    parts.append("; diamonds: what the paper prints." if matches(lines) else ".")
    parts += [
        f" Hollow: {METHODS[method].label} on min-max data, as the data themselves have negative "
        "entries."
        for method in left_out(lines)
    ]
    return "".join(parts)


def _lsa_bands(lines: list[ComparisonLine]) -> str:
    bands = [
        text
        for variant, text in LSA_BANDS.items()
        if has_intervals([line for line in lines if line.key.variant == variant])
    ]
    return f" Bands of 95 %: {'; '.join(bands)}." if bands else ""


def _with_intervals(lines: list[ComparisonLine]) -> str:
    return ", with the 95 % interval of each mean" if has_intervals(lines) else ""
