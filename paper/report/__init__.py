"""The report of the paper's reproduction: from flat files to figures, tables and one page.

::

    read.py        the four files, checked
    enough.py      significance, equivalence, and how many repetitions they need
    compare.py     rows -> lines of a table: means, paired differences, winners
    agreement.py   the paper's 96 numbers compared with ours
    doubt.py       which of the paper's pairs cannot be true
    naming.py      what tables and pictures call their lines
    tables/        contents of each table, also as markdown
    figures/       what each picture shows, as SVG for the page and as files
    findings/      sentences that follow from the rows, by rules
    content.py     all of these, built from the results
    page.py        the HTML page; templates/ holds its text, style and scripts
    summary.py     a small table for the site

Nothing here runs a fit, and the same rows give the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from paper.report.content import gather
from paper.report.figures.files import png_file, svg_file
from paper.report.findings import Headline
from paper.report.page import render
from paper.report.read import read_results
from paper.report.summary import summary_markdown
from paper.report.tables.markdown import to_markdown
from sphericalpca.files import write_whole

__all__ = ["Report", "summary_markdown", "write_report"]


class Report(NamedTuple):
    """The path of the page, and its first sentences."""

    page: Path
    headlines: list[Headline]


def write_report(folder: Path) -> Report:
    """Draw the report from the rows in `folder`.

    Parameters
    ----------
    folder : Path
        Holds ``rows.csv``, ``convergence.csv``, ``solvers.csv`` and ``toy.csv``, or some of
        them; ``figures/``, ``tables/`` and ``report.html`` are written beside them.

    Returns
    -------
    Report
    """
    folder = Path(folder)
    content = gather(read_results(folder))
    for name, picture in content.pictures.items():
        write_whole(folder / "figures" / f"{name}.svg", svg_file(picture))
        write_whole(folder / "figures" / f"{name}.png", png_file(picture))
    for name, table in content.tables.items():
        write_whole(folder / "tables" / f"{name}.md", to_markdown(table).encode())
    page = folder / "report.html"
    write_whole(page, render(content).encode())
    return Report(page, content.headlines)
