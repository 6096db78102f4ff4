"""Is a certified bound ever below a better value?  10,000 small problems, and brute force.

``python -m reliability.bounds`` draws problems of the 20 kinds of `reliability.optima`, certifies a
fit, a random subspace and a coordinate subspace of each, and writes a row for each kind.
Eigenvalues come from random vectors, as those of wide data do (kind "probable").  For every other
problem Lanczos starts from 2 vectors instead of 16 and makes 2 to 7 products, so that it does not
span all of so small a space, and the tail matters.  A violation is a bound below f at some
subspace: at the best of several starts, in float64 and plain NumPy; in three dimensions at the
best of 20,000 lines or planes, too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from copy import copy
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.machine import made_with
from benchmarks.table import ResultTable, Row
from reliability.optima import KINDS, Matrix, SmallProblem
from sphericalpca import SphericalPCA, certificate, spectrum
from sphericalpca.parallel import parallel

__all__ = ["brute_force", "main", "study"]

RESULTS = Path(__file__).parent / "results" / "bounds.csv"
COLUMNS = (
    *("kind", "problems", "bounds", "violations", "closest", "median_gap", "largest_gap"),
    "made_with",
)
PROBLEMS = 10_000
STARTS = 3
THREE = "three dimensions, brute force"


def _directions(count: int = 20_000) -> Matrix:
    """Unit vectors spread evenly over a half-sphere in three dimensions."""
    k = np.arange(count) + 0.5
    z, angle = k / count, np.pi * (1 + np.sqrt(5)) * k
    planar = np.sqrt(1 - z**2)
    return np.column_stack([planar * np.cos(angle), planar * np.sin(angle), z])


DIRECTIONS = _directions()


def brute_force(X: Matrix, w: Matrix, r: int) -> float:
    """The largest f among very many lines (r = 1) or planes (r = 2) in three dimensions."""
    along = (X @ DIRECTIONS.T) ** 2
    squares = along if r == 1 else (X**2).sum(axis=1)[:, None] - along
    return float((w @ np.sqrt(np.maximum(squares, 0.0))).max())


def _three_dimensions(rng: np.random.Generator) -> SmallProblem:
    n = int(rng.integers(3, 12))
    X = rng.standard_normal((n, 3)) * rng.choice([1.0, 1.0, 0.2], size=3)
    return SmallProblem(X, int(rng.integers(1, 3)), weight=rng.uniform(0.1, 2, n))


def _best(problem: SmallProblem, models: Sequence[SphericalPCA]) -> float:
    """The largest value known in float64."""
    best = max(problem.value(model) for model in models)
    if problem.X.shape[1] != 3 or problem.weight is None:
        return best
    X = problem.X / np.linalg.norm(problem.X, axis=1, keepdims=True)
    return max(best, brute_force(X, problem.weight, problem.r))


def _given(model: SphericalPCA, U: Matrix) -> SphericalPCA:
    """The model with another subspace."""
    other = copy(model)
    other.components_ = np.ascontiguousarray(U.T, dtype=model.components_.dtype)
    return other


def _forced(rng: np.random.Generator, *, few: bool) -> ExitStack:
    """Eigenvalues by random vectors, optionally with few vectors and products."""
    stack = ExitStack()
    stack.enter_context(mock.patch.object(certificate, "DIRECT_SIZE", 0))
    if few:
        products = int(rng.integers(2, 8))
        small: dict[str, Any] = {"BLOCK": 2, "SPARE": 1, "SPARE_SHARE": 0.0}
        small |= {"FEW_PRODUCTS": products, "MANY_PRODUCTS": products}
        stack.enter_context(mock.patch.multiple(spectrum, **small))
    return stack


def look(
    problem: SmallProblem, rng: np.random.Generator, *, few: bool
) -> tuple[float, list[float]]:
    """The distance of the lowest of three bounds from the best known value, and the gaps."""
    m, r = problem.X.shape[1], problem.r
    options = {"tol": 1e-6, "max_iter": 500}
    fits = [problem.fit(problem.X, **options)]
    fits += [
        problem.fit(problem.X, init="random", random_state=k, **options) for k in range(STARTS)
    ]
    random = np.linalg.qr(rng.standard_normal((m, r)))[0]
    others = [_given(fits[0], U) for U in (random, np.eye(m)[:, :r])]
    best = _best(problem, [*fits, *others])
    with _forced(rng, few=few):
        found = [
            model.certify(problem.X, sample_weight=problem.weight) for model in (fits[0], *others)
        ]
    assert r == m or all(each.kind == "probable" for each in found)
    return min(each.bound for each in found) / best - 1, [each.gap for each in found]


def study(kind: str, count: int) -> Row:
    """A row for `count` problems of a kind."""
    draw, closest, gaps, violations = KINDS.get(kind, _three_dimensions), np.inf, [], 0
    for seed in range(count):
        rng = np.random.default_rng([seed, *kind.encode()])
        above, found = look(draw(rng), rng, few=seed % 2 == 1)
        closest, violations = min(closest, above), violations + (above < 0)
        gaps += found[:1]
    numbers = (count, 3 * count, violations, closest, float(np.median(gaps)), max(gaps))
    return dict(zip(COLUMNS, (kind, *numbers, made_with()), strict=True))


def main(arguments: Sequence[str] | None = None) -> int:
    """Study all kinds, write a row for each, and print the number of violations."""
    parser = argparse.ArgumentParser("python -m reliability.bounds", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="kinds to study, or all")
    parser.add_argument("--problems", type=int, default=PROBLEMS, help="problems of all kinds")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the table of rows")
    args = parser.parse_args(arguments)
    kinds, violations = [*KINDS, THREE], 0
    for kind in args.kinds or kinds:
        with parallel(1):
            row = study(kind, -(-args.problems // len(kinds)))
        ResultTable(args.out, COLUMNS, ("kind",)).replace([row])
        violations += row["violations"]
        print({name: row[name] for name in COLUMNS[:-1]}, flush=True)
    print(f"{violations} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
