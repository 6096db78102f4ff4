"""Tables of clusterings: methods across, lines down, the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from paper.methods import METHODS
from paper.report.agreement import paper_number
from paper.report.compare import BY_DIMENSION, OURS, Cell, ComparisonLine, methods_of
from paper.report.doubt import doubts
from paper.report.read import MEASURES
from paper.report.tables.entries import gain_entry, plain_number
from paper.report.tables.reading import gain_reading
from sphericalpca.pages.tables import HIGHER, LEVEL, LOWER, NOTHING, Entry, Row, Table, share, shift

__all__ = [
    "PAPER_BESIDE",
    "REPRESENTATIONS",
    "clustering_table",
    "line_name",
    "paired_table",
    "seconds_table",
]

PAPER_BESIDE = "Below ours: the paper's number, and ours minus the paper's."

REPRESENTATIONS = (
    "What k-means gets: K-means, the unit rows themselves; MUA, the coefficients of "
    "multiplicative-update NMF; PCA and R1-PCA, projected coordinates; K-SVD, sparse codes over "
    "r atoms (2r in the variant) with at most r/2 non-zeros, 30 iterations; Spherical PCA, its "
    "unit vectors V; a method + unit rows, the same representation with rows scaled to length 1 "
    "(SVD: that of PCA, uncentred). Spherical k-means clusters the unit rows by itself. Both kinds "
    "of k-means take the best of ten starts. All methods share draws and seeds."
)

# How a method's number stands to that of Spherical PCA.
SIGNS = {
    "ahead": (LOWER, "lower than Spherical PCA"),
    "behind": (HIGHER, "higher than Spherical PCA"),
    "level": (LEVEL, "level with Spherical PCA"),
}

DOUBT_NOTES = {
    "impossible": "‡ impossible",
    "only a mean of very unequal runs": "† unequal runs",
    "possible": "",
}

LineName = Callable[[ComparisonLine], str]


def line_name(line: ComparisonLine) -> str:
    """The name of a line on the page."""
    key = line.key
    if key.experiment in BY_DIMENSION:
        return f"r = {key.r}"
    if key.experiment == "uci":
        return f"{key.dataset} ({key.groups})" if key.groups.isdigit() else key.dataset
    return "5 random groups" if key.groups == "5" else f"{key.groups} groups"


def clustering_table(
    lines: Sequence[ComparisonLine],
    *,
    name: str,
    title: str,
    caption: str,
    measures: Sequence[str] = ("accuracy", "nmi_max"),
    corner: str = "Data",
    named: LineName = line_name,
) -> Table:
    """Every method in every line, by each of `measures`; the paper's numbers where it has any."""
    methods = methods_of(list(lines))
    rows = _rows(lines, measures, named, lambda line, m: [_entry(line, m, it) for it in methods])
    return Table(
        name=name,
        title=title,
        caption=caption,
        corner=corner,
        subcorner="Measure",
        columns=tuple(METHODS[method].label for method in methods),
        rows=tuple(rows),
        accent=methods.index(OURS) if OURS in methods else None,
        over=_whose(methods),
    )


def paired_table(
    lines: Sequence[ComparisonLine],
    *,
    name: str,
    title: str,
    measures: Sequence[str] = ("accuracy", "nmi_max"),
    corner: str = "Data",
    named: LineName = line_name,
) -> Table:
    """Spherical PCA minus each rival, with interval and corrected p-value."""
    rivals = [method for method in methods_of(list(lines)) if method != OURS]
    rows = _rows(
        lines,
        measures,
        named,
        lambda line, m: [gain_entry(line.cells[m].get(rival)) for rival in rivals],
    )
    return Table(
        name=name,
        title=title,
        caption=gain_reading(
            lines,
            "Spherical PCA minus the method named, paired by repetition: the mean",
            "the p-value of Wilcoxon's signed-rank test, Holm-corrected over the rivals in the row",
        ),
        corner=corner,
        subcorner="Measure",
        columns=tuple(METHODS[rival].label for rival in rivals),
        rows=tuple(rows),
        over=_whose(rivals),
    )


def seconds_table(lines: Sequence[ComparisonLine], *, named: LineName) -> Table:
    """CPU seconds of each method's representation."""
    methods = [m for m in methods_of(list(lines)) if METHODS[m].reduces]
    rows = [
        Row(
            named(line),
            "",
            tuple(Entry(plain_number(line.seconds.get(m, float("nan")), 2)) for m in methods),
        )
        for line in lines
    ]
    return Table(
        name="seconds",
        title="CPU seconds of the representation",
        caption=(
            "Mean CPU seconds on one thread, without the k-means that follows. Methods that "
            "cluster the rows as they are have no representation to compute. Table 3 shows its own."
        ),
        corner="Data",
        columns=tuple(METHODS[method].label for method in methods),
        rows=tuple(rows),
        accent=methods.index(OURS) if OURS in methods else None,
    )


def _whose(methods: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Headings that tell the paper's methods from those we added."""
    theirs = sum(METHODS[method].in_paper for method in methods)
    parts = (("in the paper", theirs), ("added here", len(methods) - theirs))
    return tuple((text, width) for text, width in parts if width)


def _rows(
    lines: Sequence[ComparisonLine],
    measures: Sequence[str],
    named: LineName,
    entries: Callable[[ComparisonLine, str], list[Entry]],
) -> Iterator[Row]:
    """A row per line and measure; the rows of one line share their first heading."""
    for line in lines:
        for measure in measures:
            first = measure == measures[0]
            cells = tuple(entries(line, measure))
            yield Row(named(line), MEASURES[measure], cells, first, len(measures))


def _entry(line: ComparisonLine, measure: str, method: str) -> Entry:
    cell = line.cells[measure].get(method)
    if cell is None:
        return NOTHING
    sign, meaning = SIGNS.get(cell.outcome, ("", ""))
    return Entry(
        share(cell.mean),
        f"±{share(cell.sd)}" if cell.n > 1 else "",
        tuple(_below(line, measure, method, cell)),
        best=cell.best,
        sign=sign,
        meaning=meaning,
    )


def _below(line: ComparisonLine, measure: str, method: str, cell: Cell) -> Iterator[str]:
    if cell.borrowed:
        yield "min-max data"
    paper = paper_number(line, method, measure)
    if paper is None:
        return
    yield f"paper {share(paper)}"
    yield shift(cell.mean - paper)
    doubt = doubts().get((line.key.dataset, method))
    if doubt is not None and measure == "nmi_max" and (note := DOUBT_NOTES[doubt.verdict]):
        yield note
