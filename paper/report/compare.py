"""From rows to lines of a table: means, spreads, and comparisons with each rival."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from paper.methods import METHODS
from paper.report.bootstrap import bootstrap_difference
from paper.report.enough import LEVEL, can_show, has_interval, is_equivalent
from paper.report.read import MEASURES, STAND_INS
from sphericalpca.linalg import Array
from sphericalpca.metrics import PairedDifference, holm, paired_difference

__all__ = [
    "BY_DIMENSION",
    "NEGLIGIBLE",
    "OURS",
    "Cell",
    "ComparisonLine",
    "Key",
    "Outcome",
    "compare",
    "lines_of",
    "methods_of",
]

OURS = "spherical-pca"

# A mean difference below half a point is never called ahead or behind: where the data are
# fixed and only seeds of k-means vary, the spread can be zero, and a difference of a single
# sample would count as significant.
NEGLIGIBLE = 0.005

# The variant whose repetitions are replicates of one sample.
BOOTSTRAP = "bootstrap"

# How Spherical PCA compares with a rival: "level" if equivalence tests show it, "open" if
# neither a difference nor equivalence is significant, "untested" if there are too few pairs.
Outcome = Literal["ahead", "behind", "level", "open", "untested"]

# In experiments that vary the dimension, it is part of a line's name.
BY_DIMENSION = ("rank", "lsa")


class Key(NamedTuple):
    """What identifies a line of a table; `r` is 0 if it follows from the other fields."""

    experiment: str
    dataset: str
    groups: str
    variant: str
    r: int


@dataclass(frozen=True)
class Cell:
    """One method in one line, judged by one measure.

    Attributes
    ----------
    mean, sd : float
    n : int
        Number of repetitions; each is the mean over its seeds of k-means.
    gain : PairedDifference or None
        Spherical PCA minus this method, paired by repetition; its ends are NaN where the
        pairs are too few for an interval.
    p : float
        The p-value of `gain`, by Wilcoxon's test, Holm-corrected over the rivals in the line; NaN
        if nothing is tested, and for replicates, where only the interval decides.
    tested : bool
        Whether the pairs are enough to show a difference.
    best : bool
        Whether no other method of the line has a higher mean, to three decimals.
    borrowed : bool
        Whether the method does not apply and the min-max variant replaces it.
    replicates : bool
        Whether the values are bootstrap replicates: their spread is the standard error.
    """

    mean: float
    sd: float
    n: int
    gain: PairedDifference | None = None
    p: float = np.nan
    tested: bool = True
    best: bool = False
    borrowed: bool = False
    replicates: bool = False

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean (Student's t); NaN where the values are too few."""
        if not has_interval(self.n):
            return np.nan, np.nan
        error = self.sd if self.replicates else self.sd / math.sqrt(self.n)
        half = float(stats.t.ppf(0.975, self.n - 1)) * error
        return self.mean - half, self.mean + half

    @property
    def outcome(self) -> Outcome:
        """How Spherical PCA compares with this method."""
        if self.gain is None or not self.tested:
            return "untested"
        shown = not self.gain.low <= 0 <= self.gain.high and not self.p > LEVEL
        if shown and abs(self.gain.mean) >= NEGLIGIBLE:
            return "ahead" if self.gain.mean > 0 else "behind"
        return "level" if is_equivalent(self.gain) else "open"


@dataclass(frozen=True)
class ComparisonLine:
    """All methods on one kind of draw.

    Attributes
    ----------
    key : Key
    rows : DataFrame
        The rows that the line summarises.
    cells : dict from measure to method to Cell
    """

    key: Key
    rows: pd.DataFrame
    cells: dict[str, dict[str, Cell]]

    @property
    def stands_in(self) -> bool:
        """Whether the data are not the paper's, so that nothing follows for its claims."""
        return self.key.dataset in STAND_INS

    @cached_property
    def seconds(self) -> dict[str, float]:
        """Mean CPU seconds of each method's representation."""
        measured = self.rows.dropna(subset=["accuracy"]).groupby("method")["seconds"].mean()
        return {str(method): float(mean) for method, mean in measured.items()}

    def fact(self, column: str, method: str = OURS) -> float:
        """The mean of another column, NaN where nothing was noted."""
        return float(self.rows.loc[self.rows["method"] == method, column].mean())


def compare(rows: pd.DataFrame) -> list[ComparisonLine]:
    """Summarise the rows, line by line, in the order of the rows.

    Parameters
    ----------
    rows : DataFrame
        As in `Results`.

    Returns
    -------
    list of ComparisonLine
    """
    dimension = rows["r"].where(rows["experiment"].isin(BY_DIMENSION), 0).astype(int)
    columns = [*Key._fields[:-1], "dimension"]
    parts = rows.assign(dimension=dimension).groupby(columns, sort=False)
    lines = [
        ComparisonLine(Key(*key), part, {measure: _cells(part, measure) for measure in MEASURES})
        for key, part in parts
    ]
    return [_with_borrowed(line, lines) for line in lines]


def lines_of(lines: list[ComparisonLine], experiment: str, **fields: str) -> list[ComparisonLine]:
    """The lines of one experiment whose key has the given fields."""
    return [
        line
        for line in lines
        if line.key.experiment == experiment
        and all(getattr(line.key, name) == value for name, value in fields.items())
    ]


def methods_of(lines: list[ComparisonLine]) -> list[str]:
    """The methods that occur: the paper's first, then the others, in a fixed order."""
    present = {method for line in lines for method in line.cells["accuracy"]}
    return sorted(present, key=lambda method: (not METHODS[method].in_paper, _place(method)))


def _place(method: str) -> int:
    return list(METHODS).index(method)


def _cells(part: pd.DataFrame, measure: str) -> dict[str, Cell]:
    """A cell per method that has values; methods that do not apply are left out."""
    replicates = part["variant"].iloc[0] == BOOTSTRAP
    table = part.pivot(index="repetition", columns="method", values=measure)
    columns = {str(method): table[method].to_numpy(float) for method in table.columns}
    columns = {method: x for method, x in columns.items() if np.isfinite(x).any()}
    cells = {method: _plain_cell(values, replicates) for method, values in columns.items()}
    if OURS in cells:
        cells |= _tested(columns, cells)
    return _mark_best(cells)


def _plain_cell(values: Array, replicates: bool) -> Cell:
    values = values[np.isfinite(values)]
    spread = float(values.std(ddof=1)) if len(values) > 1 else np.nan
    return Cell(float(values.mean()), spread, len(values), replicates=replicates)


def _tested(columns: dict[str, Array], cells: dict[str, Cell]) -> dict[str, Cell]:
    """The rivals' cells, with the gain of Spherical PCA over each."""
    replicates = cells[OURS].replicates
    gains = dict(_gains(columns, bootstrap_difference if replicates else paired_difference))
    p_values = [gain.p_value for gain in gains.values()]
    corrected = p_values if replicates else holm(p_values)
    found = {}
    for (rival, gain), p in zip(gains.items(), corrected, strict=True):
        tested = can_show(gain.n, rivals=len(gains), replicates=replicates)
        shown = gain if has_interval(gain.n) else replace(gain, low=np.nan, high=np.nan)
        p_shown = float(p) if tested else np.nan
        found[rival] = replace(cells[rival], gain=shown, p=p_shown, tested=tested)
    return found


def _gains(
    columns: dict[str, Array], difference: Callable[..., PairedDifference]
) -> Iterator[tuple[str, PairedDifference]]:
    ours = columns[OURS]
    for rival, theirs in columns.items():
        both = np.isfinite(ours) & np.isfinite(theirs)
        if rival != OURS and both.any():
            yield rival, difference(ours[both], theirs[both])


def _mark_best(cells: dict[str, Cell]) -> dict[str, Cell]:
    top = max((round(cell.mean, 3) for cell in cells.values()), default=np.nan)
    return {
        method: replace(cell, best=round(cell.mean, 3) == top) for method, cell in cells.items()
    }


def _with_borrowed(line: ComparisonLine, lines: list[ComparisonLine]) -> ComparisonLine:
    """If a method does not apply, its cell of the min-max variant is used, untested."""
    twins = [other for other in lines if other.key == line.key._replace(variant="minmax")]
    if line.key.experiment != "uci" or not twins:
        return line
    absent = set(line.rows["method"]) - set(line.cells["accuracy"])
    cells = {
        measure: own
        | {
            method: replace(cell, gain=None, p=np.nan, best=False, borrowed=True)
            for method, cell in twins[0].cells[measure].items()
            if method in absent
        }
        for measure, own in line.cells.items()
    }
    return replace(line, cells=cells)
