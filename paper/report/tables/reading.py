"""How to read means, intervals and signs: captions depend on the number of repetitions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from paper.report.compare import Cell, ComparisonLine
from paper.report.tables.entries import LEVEL_MEANS

__all__ = ["gain_reading", "has_intervals", "is_tested", "reading", "too_few"]


def is_tested(lines: Sequence[ComparisonLine]) -> bool:
    """Whether a difference to Spherical PCA is tested anywhere."""
    return any(cell.outcome != "untested" for cell in _cells(lines))


def has_intervals(lines: Sequence[ComparisonLine]) -> bool:
    """Whether a mean has an interval anywhere."""
    return any(math.isfinite(cell.interval[0]) for cell in _cells(lines))


def too_few(lines: Sequence[ComparisonLine]) -> str:
    """Say, for example, "2 draws: too few to test."; empty if every line has enough."""
    found = dict.fromkeys(
        _repetitions(line, max(numbers))
        for line in lines
        if (numbers := [cell.gain.n for cell in _cells([line]) if cell.gain and not cell.tested])
    )
    return f"{' and '.join(found)}: too few to test." if found else ""


def reading(lines: Sequence[ComparisonLine]) -> str:
    """What numbers, stars and signs mean in a table of clusterings."""
    parts = ["Mean and standard deviation. ★ best mean in the row."]
    if is_tested(lines):
        parts.append(
            "Tested against Spherical PCA, paired and Holm-corrected at 5 %: ▼ lower, ▲ higher, "
            f"{LEVEL_MEANS}."
        )
    return " ".join(parts)


def gain_reading(lines: Sequence[ComparisonLine], text: str, p_value: str) -> str:
    """What a gain is, with its interval, p-value and signs as far as there are any."""
    if any(cell.gain is not None and math.isfinite(cell.gain.low) for cell in _cells(lines)):
        text += ", with its 95 % interval"
    if is_tested(lines):
        text += f" and {p_value}: ▲ a gain, ▼ a loss, {LEVEL_MEANS}"
    return f"{text}. {too_few(lines)}".rstrip()


def _cells(lines: Sequence[ComparisonLine]) -> Iterator[Cell]:
    return (cell for line in lines for cell in line.cells["accuracy"].values())


def _repetitions(line: ComparisonLine, n: int) -> str:
    """What was repeated, and how many times."""
    noun = "draw"
    if line.key.experiment == "uci" or line.key.variant == "seeds":
        noun = "k-means seed"
    elif line.key.variant == "bootstrap":
        noun = "bootstrap draw"
    return f"{n} {noun}" + ("s" if n > 1 else "")
