"""Everything that the report shows, drawn from the results before a file is written."""

from __future__ import annotations

from dataclasses import dataclass

from paper.report.compare import compare
from paper.report.figures.listing import all_pictures
from paper.report.findings import (
    Claim,
    Headline,
    ReportFinding,
    claims,
    findings,
    headlines,
    verdict,
)
from paper.report.read import Results
from paper.report.tables.listing import all_tables
from sphericalpca.pages.pictures import Picture
from sphericalpca.pages.tables import Table

__all__ = ["Content", "gather"]


@dataclass(frozen=True)
class Content:
    """The content of the page and the files.

    Attributes
    ----------
    pictures : dict from name to Picture
    tables : dict from name to Table
    verdict : str
        The paper's claim on text and its numbers, in a line; empty for stand-in data.
    headlines : list of Headline
    findings : list of ReportFinding
    claims : list of Claim
    results : Results
    """

    pictures: dict[str, Picture]
    tables: dict[str, Table]
    verdict: str
    headlines: list[Headline]
    findings: list[ReportFinding]
    claims: list[Claim]
    results: Results


def gather(results: Results) -> Content:
    """Build all tables, pictures and findings that the results allow."""
    lines = compare(results.rows)
    pictures = {picture.name: picture for picture in all_pictures(results, lines)}
    tables = {table.name: table for table in all_tables(results, lines)}
    return Content(
        pictures,
        tables,
        verdict(lines),
        headlines(results, lines),
        findings(results, lines),
        claims(results, lines),
        results,
    )
