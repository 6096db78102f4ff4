"""What does an exact pass cost beside its two bare matrix products?

A pass is the oracle of every solver: ``Y = XU``, unit rows V of Y, ``X'V``.  This times
it in alternation with the bare products ``X @ U`` and ``X.T @ V`` in one process, and
prints the ratio of the medians.  Run: ``python benchmarks/bench_pass.py``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from sphericalpca.linalg import Array, orthonormal
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows

LIMIT = 1.15


def seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def measure(n: int, m: int, r: int, repeats: int, *, fortran: bool) -> tuple[float, float]:
    """Median seconds of a pass and of the two products, taken in turns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, m), dtype=np.float32)
    X = np.asfortranarray(X) if fortran else X
    U: Array = orthonormal(rng.standard_normal((m, r))).astype(np.float32)
    V = X @ U
    problem = Problem(as_rows(X))
    passes, products = [], []
    for _ in range(repeats):
        products.append(seconds(lambda: X @ U) + seconds(lambda: X.T @ V))
        passes.append(seconds(lambda: problem.evaluate(U)))
    return float(np.median(passes)), float(np.median(products))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=768)
    parser.add_argument("--components", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=15)
    args = parser.parse_args()
    print(f"dense float32 {args.rows:,} x {args.features}, r = {args.components}")
    for fortran in (False, True):
        one, two = measure(args.rows, args.features, args.components, args.repeats, fortran=fortran)
        print(
            f"{'column' if fortran else 'row'}-major: pass {one:.4f} s, two products {two:.4f} s, "
            f"ratio {one / two:.3f} (limit {LIMIT})"
        )


if __name__ == "__main__":
    main()
