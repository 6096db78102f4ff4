"""How often does a fit end below the best subspace?  300 small problems of 20 kinds.

``python -m reliability.optima`` fits each problem as users do, by default and with ``n_init=10``,
and compares the value with the best of 60 random starts in float64, which is attained by some
subspace: a fit can be above it, too.  ``--suite NAME`` names the rows, so that versions of the
solvers can be compared on the same problems; those with rows are skipped.  Seeds are fixed.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from benchmarks.machine import made_with
from benchmarks.table import ResultTable, Row
from sphericalpca import SphericalPCA

__all__ = ["KINDS", "SmallProblem", "compare", "main"]

RESULTS = Path(__file__).parent / "results" / "optima.csv"
COLUMNS = (
    *("suite", "kind", "seed", "rows", "columns", "n_components", "best", "default", "ten_starts"),
    *("default_short", "ten_short", "stop_reason", "svd_ratio", "seconds", "made_with"),
)
SEEDS = 15
STARTS = 60
SHORT = 1e-4  # relative shortfall that counts

Matrix = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator], "SmallProblem"]


@dataclass(frozen=True)
class SmallProblem:
    """Rows, the number of components, weights, and options of the estimator."""

    X: Any
    r: int
    weight: Matrix | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def fit(self, X: Any, **options: Any) -> SphericalPCA:
        """A model of the rows, given as X."""
        model = SphericalPCA(self.r, **{"random_state": 0, **self.options, **options})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, sample_weight=self.weight)
        return model

    def value(self, model: SphericalPCA) -> float:
        """The value at the model's subspace, in float64 and plain NumPy."""
        X = np.asarray(self.X.toarray() if sparse.issparse(self.X) else self.X, dtype=np.float64)
        w = np.ones(len(X)) if self.weight is None else self.weight
        if self.options.get("center"):
            X = X - np.average(X, axis=0, weights=w)
        if self.options.get("normalize", True):
            length = np.linalg.norm(X, axis=1, keepdims=True)
            X = np.divide(X, length, out=np.zeros_like(X), where=length > 0)
        Q = np.linalg.qr(np.asarray(model.components_, dtype=np.float64).T)[0]
        return float(w @ np.linalg.norm(X @ Q, axis=1))

    def best(self) -> float:
        """The best of many random starts, in float64."""
        X = self.X.astype(np.float64)
        starts = range(STARTS)
        options = {"init": "random", "tol": 1e-7, "max_iter": 2000, "solver": "anderson"}
        return max(self.value(self.fit(X, random_state=k, **options)) for k in starts)


def _clusters(rng: np.random.Generator, n: int, m: int, k: int, noise: float) -> Matrix:
    centres = rng.standard_normal((k, m))
    return centres[rng.integers(k, size=n)] + noise * rng.standard_normal((n, m))


def _gaussian(rng: np.random.Generator) -> SmallProblem:
    n, m = int(rng.integers(30, 120)), int(rng.integers(4, 20))
    return SmallProblem(rng.standard_normal((n, m)), int(rng.integers(1, m)))


def _spiked(rng: np.random.Generator) -> SmallProblem:
    r, m = int(rng.integers(1, 6)), int(rng.integers(8, 30))
    low = rng.standard_normal((80, r)) @ rng.standard_normal((r, m))
    return SmallProblem(low + 0.5 * rng.standard_normal((80, m)), r)


def _text(rng: np.random.Generator) -> SmallProblem:
    """Few words of many, by Zipf's law, in topics."""
    m, k = int(rng.integers(40, 120)), int(rng.integers(2, 8))
    share = rng.permuted(np.tile(1 / np.arange(1, m + 1), (k, 1)), axis=1)
    counts = [rng.multinomial(12, p / p.sum()) for p in share[rng.integers(k, size=150)]]
    return SmallProblem(sparse.csr_array(np.sqrt(np.array(counts, dtype=np.float64))), k)


def _one_hot(rng: np.random.Generator) -> SmallProblem:
    m = int(rng.integers(4, 12))
    counts = rng.integers(1, 12, size=m)
    return SmallProblem(np.repeat(np.eye(m), counts, axis=0), int(rng.integers(1, m)))


def _mirrored(rng: np.random.Generator) -> SmallProblem:
    """Every row and its mirror image: the SVD prefers no side."""
    m = int(rng.integers(3, 8))
    half = _clusters(rng, 12, m, 4, 0.05)
    mirror = np.where(np.arange(m) < max(1, m // 3), -1.0, 1.0)
    return SmallProblem(np.vstack([half, half * mirror]), int(rng.integers(1, m)))


def _pairs(rng: np.random.Generator) -> SmallProblem:
    """Axes of many copies, and two rows that lean to either side of another one."""
    m = int(rng.integers(3, 7))
    lean = rng.uniform(0.05, 0.3)
    copies = [np.tile(axis, (int(rng.integers(2, 5)), 1)) for axis in np.eye(m)[: m - 1]]
    two = np.zeros((2, m))
    two[:, m - 2], two[:, m - 1] = (lean, -lean), np.sqrt(1 - lean**2)
    return SmallProblem(np.vstack([*copies, two]), int(rng.integers(1, m)))


def _signed(rng: np.random.Generator) -> SmallProblem:
    m = int(rng.integers(4, 12))
    return SmallProblem(rng.choice([-1.0, 1.0], size=(40, m)), int(rng.integers(1, m)))


def _weighted(rng: np.random.Generator) -> SmallProblem:
    X = _clusters(rng, 60, int(rng.integers(5, 15)), 5, 0.4)
    return SmallProblem(X, int(rng.integers(1, 5)), weight=10 ** rng.uniform(-3, 3, len(X)))


def _centred_sparse(rng: np.random.Generator) -> SmallProblem:
    m = int(rng.integers(10, 40))
    X = rng.gamma(1.0, size=(80, m)) * (rng.random((80, m)) < 0.15)
    return SmallProblem(sparse.csr_array(X), int(rng.integers(1, 8)), options={"center": True})


def _degenerate(rng: np.random.Generator) -> SmallProblem:
    """Equal singular values: the SVD's own subspace is arbitrary."""
    m = int(rng.integers(4, 10))
    Q = np.linalg.qr(rng.standard_normal((m, m)))[0]
    return SmallProblem(np.vstack([Q, Q[rng.permutation(m)[: m // 2]]]), int(rng.integers(1, m)))


def _low_rank(rng: np.random.Generator) -> SmallProblem:
    k, m = int(rng.integers(2, 6)), int(rng.integers(8, 20))
    X = rng.standard_normal((50, k)) @ rng.standard_normal((k, m))
    return SmallProblem(X[rng.integers(50, size=80)], int(rng.integers(1, k + 1)))


def _wide(rng: np.random.Generator) -> SmallProblem:
    n = int(rng.integers(8, 30))
    return SmallProblem(
        rng.standard_normal((n, int(rng.integers(60, 200)))), int(rng.integers(1, 6))
    )


def _single(rng: np.random.Generator) -> SmallProblem:
    X = _clusters(rng, 100, int(rng.integers(6, 20)), 6, 0.5)
    return SmallProblem(X.astype(np.float32), int(rng.integers(1, 6)))


def _line(rng: np.random.Generator) -> SmallProblem:
    """One component: as many optima as there are ways to choose signs."""
    return SmallProblem(
        rng.standard_normal((int(rng.integers(10, 60)), int(rng.integers(3, 12)))), 1
    )


def _raw(rng: np.random.Generator) -> SmallProblem:
    X = _clusters(rng, 80, int(rng.integers(5, 15)), 5, 0.5) * rng.lognormal(0, 1.5, (80, 1))
    return SmallProblem(X, int(rng.integers(1, 5)), options={"normalize": False})


def _planes(rng: np.random.Generator) -> SmallProblem:
    m, k = int(rng.integers(6, 15)), int(rng.integers(2, 4))
    parts = [rng.standard_normal((25, 2)) @ rng.standard_normal((2, m)) for _ in range(k)]
    return SmallProblem(np.vstack(parts), int(rng.integers(2, 2 * k)))


def _orthogonal_groups(rng: np.random.Generator) -> SmallProblem:
    """Tight groups around axes: one more of them than there are components."""
    m = int(rng.integers(4, 9))
    X = np.repeat(np.eye(m), rng.integers(5, 12, size=m), axis=0)
    return SmallProblem(X + 0.05 * rng.standard_normal(X.shape), m - 1)


def _circulant(rng: np.random.Generator) -> SmallProblem:
    m = int(rng.integers(5, 14))
    first = rng.standard_normal(m) * 0.7 ** np.arange(m)
    return SmallProblem(np.array([np.roll(first, k) for k in range(m)]), int(rng.integers(1, m)))


def _binary(rng: np.random.Generator) -> SmallProblem:
    m = int(rng.integers(10, 30))
    X = (rng.random((70, m)) < 0.2).astype(np.float64)
    X[np.arange(70), rng.integers(m, size=70)] = 1.0
    return SmallProblem(sparse.csr_array(X), int(rng.integers(1, 8)))


def _embeddings(rng: np.random.Generator) -> SmallProblem:
    """A common direction, and a spectrum that falls slowly."""
    m = int(rng.integers(15, 40))
    X = rng.standard_normal((120, m)) * np.arange(1, m + 1) ** -0.5
    return SmallProblem(X + 0.7 * rng.standard_normal(m) / np.sqrt(m), int(rng.integers(1, 10)))


KINDS: dict[str, Draw] = {
    "gaussian": _gaussian,
    "spiked": _spiked,
    "text": _text,
    "one-hot": _one_hot,
    "mirrored": _mirrored,
    "leaning pairs": _pairs,
    "signed": _signed,
    "weighted": _weighted,
    "centred sparse": _centred_sparse,
    "degenerate": _degenerate,
    "low rank": _low_rank,
    "wide": _wide,
    "float32": _single,
    "line": _line,
    "raw lengths": _raw,
    "planes": _planes,
    "orthogonal groups": _orthogonal_groups,
    "circulant": _circulant,
    "binary": _binary,
    "embeddings": _embeddings,
}


def look(kind: str, seed: int, suite: str) -> Row:
    """A row: what the default and ten starts reach, beside the best of many."""
    problem = KINDS[kind](np.random.default_rng([seed, *kind.encode()]))
    best, began = problem.best(), time.perf_counter()
    one = problem.fit(problem.X)
    seconds = time.perf_counter() - began
    default, ten = problem.value(one), problem.value(problem.fit(problem.X, n_init=10))
    top = max(best, default, ten)
    sizes = (*problem.X.shape, problem.r)
    found = (best, default, ten, 1 - default / top, 1 - ten / top)
    ended = (one.stop_reason_, one.svd_ratio_, round(seconds, 4), made_with())
    return dict(zip(COLUMNS, (suite, kind, seed, *sizes, *found, *ended), strict=True))


def compare(rows: Sequence[Row]) -> None:
    """Print how many fits of each suite end below the best known value by more than `SHORT`."""
    tops: dict[tuple[str, str], float] = {}
    for row in rows:
        place = row["kind"], row["seed"]
        values = (float(row[name]) for name in ("best", "default", "ten_starts"))
        tops[place] = max(tops.get(place, 0.0), *values)
    for suite in dict.fromkeys(row["suite"] for row in rows):
        mine = [row for row in rows if row["suite"] == suite]
        for name in ("default", "ten_starts"):
            short = [r for r in mine if float(r[name]) < (1 - SHORT) * tops[r["kind"], r["seed"]]]
            kinds = Counter(row["kind"] for row in short)
            by_kind = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
            print(f"{suite}, {name}: {len(short)} of {len(mine)} short ({by_kind})")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the problems that have no row of this suite, and print the comparison."""
    parser = argparse.ArgumentParser("python -m reliability.optima", description=__doc__)
    parser.add_argument("--suite", required=True, help="what rows call this version of the solvers")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="problems of each kind")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the table of rows")
    args = parser.parse_args(arguments)
    table = ResultTable(args.out, COLUMNS, ("suite", "kind", "seed"))
    done = {(row["kind"], int(row["seed"])) for row in table.read() if row["suite"] == args.suite}
    for kind in KINDS:
        left = [seed for seed in range(args.seeds) if (kind, seed) not in done]
        table.replace([look(kind, seed, args.suite) for seed in left])
    compare(table.read())
    return 0


if __name__ == "__main__":
    sys.exit(main())
