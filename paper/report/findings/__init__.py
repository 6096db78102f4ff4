"""Sentences written from the rows by rules: wins, ties and losses alike."""

from __future__ import annotations

from paper.report.agreement import lines_by_reading, main_lines
from paper.report.compare import ComparisonLine, lines_of
from paper.report.findings.claims import Claim, claims
from paper.report.findings.clustering import agreement_findings, table_findings
from paper.report.findings.further import (
    constants_findings,
    embeddings_findings,
    starts_findings,
)
from paper.report.findings.headlines import Headline, headlines, verdict
from paper.report.findings.readings import readings_findings
from paper.report.findings.runs import (
    lsa_findings,
    rank_findings,
    seconds_findings,
    solver_findings,
    toy_findings,
)
from paper.report.findings.words import ReportFinding
from paper.report.read import Results

__all__ = ["Claim", "Headline", "ReportFinding", "claims", "findings", "headlines", "verdict"]

# Where the page says what each reading of Table 1 shows.
SECTIONS = {"main": "newsgroups", "labels": "newsgroups-labels"}


def findings(results: Results, lines: list[ComparisonLine]) -> list[ReportFinding]:
    """All findings on the results, in the order of the page.

    Parameters
    ----------
    results : Results
    lines : list of ComparisonLine
        What `compare` makes of the rows.

    Returns
    -------
    list of ReportFinding
    """
    newsgroups, uci = main_lines(lines, "newsgroups"), main_lines(lines, "uci")
    lsa = lines_of(lines, "lsa")
    return [
        *toy_findings(lines_of(lines, "toy")),
        *solver_findings(results.solvers),
        *(
            finding
            for reading, part in lines_by_reading(lines).items()
            for finding in table_findings(part, SECTIONS[reading], always=True)
        ),
        *readings_findings(lines),
        *table_findings(uci, "uci", always=False),
        *lsa_findings(lsa),
        *rank_findings(lines_of(lines, "rank")),
        *embeddings_findings(lines_of(lines, "embeddings")),
        *starts_findings(lines_of(lines, "starts")),
        *constants_findings(results.rows),
        *seconds_findings([*newsgroups, *uci], lsa),
        *agreement_findings([*newsgroups, *uci]),
    ]
