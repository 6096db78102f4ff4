"""Renames of the solver contract; like `tools/renames.py`, and removed with it."""

from __future__ import annotations

import renames

TESTS = ("tests", "reliability", "benchmarks")
PICTURES = (*TESTS, "src")
FROM_SOLVERS = r"from sphericalpca\.solvers import"
FROM_REGISTRY = "from sphericalpca.registry.solvers import SOLVERS"

RULES_H3: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]] = [
    # One registry of solvers.
    (rf"^{FROM_SOLVERS} SOLVERS$", FROM_REGISTRY, TESTS, ()),
    (
        rf"^{FROM_SOLVERS} SOLVERS, (.*)$",
        rf"{FROM_REGISTRY}\nfrom sphericalpca.solvers import \1",
        TESTS,
        (),
    ),
    # Modules that are one idea.
    (r"\bsphericalpca\.solvers\.curvature\b", "sphericalpca.curvature", TESTS, ()),
    (r"\bsphericalpca\.solvers\.span\b", "sphericalpca.solvers.subspace", TESTS, ()),
    (r"\bsphericalpca\.solvers\.state\b", "sphericalpca.solvers.base", (*TESTS, "docs"), ()),
    (r"\bsphericalpca\.plotting\.files\b", "sphericalpca.plotting.style", PICTURES, ()),
    (r"\bdimensions\.(svd|ladder)\b", "dimensions.subspaces", TESTS, ()),
]

if __name__ == "__main__":
    renames.RULES = RULES_H3
    renames.main()
