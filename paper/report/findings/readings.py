"""What holds in both readings of the paper's words, against rivals with unit rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

from paper.methods import METHODS
from paper.report.agreement import (
    FAIR_RIVALS,
    PAPER_MEASURES,
    READINGS,
    joint_outcome,
    lines_by_reading,
    with_rivals,
)
from paper.report.compare import ComparisonLine
from paper.report.findings.clustering import wins
from paper.report.findings.words import ReportFinding, listed, tally
from paper.report.tables.reading import too_few
from paper.report.tables.readings import nearest_reading

__all__ = [
    "UNIT_RIVALS",
    "differing",
    "in_readings",
    "joint_tally",
    "readings_findings",
    "text_headlines",
]

# The paper's other reducers, given the unit rows that Spherical PCA has by itself.
UNIT_RIVALS = tuple(rival for rival in FAIR_RIVALS if rival != "spherical-kmeans")

# The rivals that the page's first lines name, together or alone.
HEADLINE_RIVALS = {
    ("mua-unit", "pca-unit", "r1-pca-unit", "k-svd-unit"): (
        "the paper's other reducers with unit rows added"
    ),
    ("svd-unit",): "SVD + unit rows",
    ("spherical-kmeans",): "spherical k-means, which does no dimension reduction",
    ("spherical-pca-centred",): "centred Spherical PCA",
}

ByReading = dict[str, list[ComparisonLine]]


def joint_tally(by_reading: ByReading, rivals: Sequence[str]) -> Counter[str]:
    """How often each outcome holds in all readings; "differs" counts where they disagree."""
    groups = dict.fromkeys(line.key.groups for part in by_reading.values() for line in part)
    found = Counter(
        str(joint_outcome(by_reading, *case)) for case in product(groups, rivals, PAPER_MEASURES)
    )
    del found["untested"]
    return found


def text_headlines(lines: list[ComparisonLine]) -> Iterator[str]:
    """Table 1 in short: the paper's six by each reading, then fair rivals in both."""
    by_reading = {
        reading: own
        for reading, part in lines_by_reading(lines).items()
        if (own := with_rivals(part))
    }
    if not by_reading:
        return
    readings: dict[str, list[str]] = {}
    for reading, part in by_reading.items():
        readings.setdefault(_counts(part), []).append(f"with {READINGS[reading]}")
    counts = listed(f"{found} {' and '.join(where)}" for found, where in readings.items())
    yield f"Of the paper's six methods Spherical PCA has the highest mean {counts}."
    if few := too_few([line for part in by_reading.values() for line in part]):
        yield few
    for rivals, name in HEADLINE_RIVALS.items():
        if found := joint_tally(by_reading, rivals):
            yield f"Against {name}: {_joint(by_reading, found)}."


def _counts(lines: list[ComparisonLine]) -> str:
    accuracy, nmi = (wins(lines, measure) for measure in PAPER_MEASURES)
    if accuracy == nmi:
        return f"accuracy and NMI in {accuracy}"
    return f"accuracy in {accuracy} and NMI in {nmi}"


def _joint(by_reading: ByReading, found: Counter[str]) -> str:
    total = sum(found.values())
    return f"{in_readings(by_reading)} {tally(found)} of {total} comparisons{differing(found)}"


def in_readings(by_reading: ByReading) -> str:
    """Name the readings in words, such as "in both readings"."""
    if len(by_reading) > 1:
        return "in both readings"
    return f"with {READINGS[next(iter(by_reading))]}"


def differing(found: Counter[str]) -> str:
    """The comparisons in which the readings disagree, if any."""
    return f"; in {found['differs']} the readings disagree" if found["differs"] else ""


def readings_findings(lines: list[ComparisonLine]) -> Iterator[ReportFinding]:
    """One sentence for each fair rival, and which reading is nearer to the paper."""
    by_reading = lines_by_reading(lines)
    for rival in FAIR_RIVALS:
        if found := joint_tally(by_reading, [rival]):
            yield ReportFinding(
                "readings",
                f"Against {METHODS[rival].label}: {_joint(by_reading, found)}.",
            )
    if nearest := nearest_reading(by_reading):
        others = [READINGS[reading] for reading in by_reading if reading != nearest]
        yield ReportFinding(
            "readings",
            "The baselines (K-means, MUA, PCA) come nearer to the printed numbers with "
            f"{READINGS[nearest]} than with {listed(others)}.",
        )
