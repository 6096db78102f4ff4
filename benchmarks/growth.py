"""How time grows with rows, features, components and non-zeros."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks import generated
from benchmarks.contest import Effort, Result, contest
from benchmarks.ours import OURS
from benchmarks.peers import TRUNCATED_SVD
from benchmarks.table import ResultTable, Row
from benchmarks.task import Task, random_subspace
from sphericalpca.rows import Matrix

__all__ = ["AXES", "Axis", "Exponent", "fit_exponent", "grow", "growth_table"]

COLUMNS = (
    "axis",
    "size",
    "n",
    "m",
    "r",
    "nnz",
    "method",
    "seconds",
    "quartile_1",
    "quartile_3",
    "passes",
    "residual",
    "made_with",
)

ENTRANTS = (OURS, TRUNCATED_SVD)


@dataclass(frozen=True)
class Axis:
    """One size that grows while the others are fixed.

    Attributes
    ----------
    name : str
    about : str
    draw : callable
        From the size to the data and the number of components.
    sizes : tuple of int
    """

    name: str
    about: str
    draw: Callable[[int], tuple[Matrix, int]]
    sizes: tuple[int, ...]


def _text(words: int) -> tuple[Matrix, int]:
    return generated.zipf_text(20_000, 30_000, words), 20


AXES: dict[str, Axis] = {
    axis.name: axis
    for axis in (
        Axis(
            "n",
            "rows; power-law, 300 features, r = 20",
            lambda n: (generated.power_law(n, 300), 20),
            (20_000, 40_000, 80_000, 160_000, 320_000),
        ),
        Axis(
            "m",
            "features; power-law, 10,000 rows, r = 20",
            lambda m: (generated.power_law(10_000, m), 20),
            (100, 200, 400, 800),
        ),
        Axis(
            "r",
            "components; power-law, 20,000 x 300",
            lambda r: (generated.power_law(20_000, 300), r),
            (5, 10, 20, 40, 80),
        ),
        Axis("nnz", "words a row; Zipf-sparse, 20,000 x 30,000, r = 20", _text, (15, 30, 60, 120)),
    )
}


def growth_table(folder: Path) -> ResultTable:
    """A row for each axis, size and method."""
    return ResultTable(folder / "growth.csv", COLUMNS, ("axis",))


def grow(axis: Axis, effort: Effort, sizes: Sequence[int]) -> list[Row]:
    """Time the fit at every size of an axis."""
    return [row for size in sizes for row in _at_size(axis, size, effort)]


def _at_size(axis: Axis, size: int, effort: Effort) -> list[Row]:
    X, r = axis.draw(size)
    nnz = X.nnz if sparse.issparse(X) else X.size
    facts = {"axis": axis.name, "n": X.shape[0], "m": X.shape[1], "r": r, "nnz": nnz}
    # Words are drawn at random, so the actual numbers of non-zeros are compared.
    facts |= {"size": nnz if axis.name == "nnz" else size}
    results = contest(X, Task(random_subspace(X.shape[1], r)), ENTRANTS, effort)
    return [
        {**facts, "method": method.name, **_measures(result)} for method, result in results.items()
    ]


def _measures(result: Result) -> Row:
    low, high = result.timing.quartiles
    return {
        "seconds": result.timing.median,
        "quartile_1": low,
        "quartile_3": high,
        "passes": result.fit.passes,
        "residual": result.found.residual,
    }


@dataclass(frozen=True)
class Exponent:
    """seconds = factor * size^power, by least squares in logarithms.

    `error` is the standard error of the power, NaN for two points.
    """

    power: float
    factor: float
    error: float


def fit_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> Exponent:
    """The power law nearest to the points."""
    x, y = np.log(np.asarray(sizes, float)), np.log(np.asarray(seconds, float))
    power, level = np.polyfit(x, y, 1)
    freedom = len(x) - 2
    spread = float(((x - x.mean()) ** 2).sum())
    rest = float(((y - level - power * x) ** 2).sum())
    error = np.sqrt(rest / freedom / spread) if freedom > 0 else np.nan
    return Exponent(float(power), float(np.exp(level)), float(error))
