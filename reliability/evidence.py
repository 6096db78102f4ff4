"""The committed files of rows, the commands that reproduce them, and the code they measure.

Each folder of rows has a ledger, ``measured.csv``, with a line for each file: the hash of the code
that its rows measure, their provenance, and why they are kept if the code has changed
since.  `reliability.release` checks it; `reliability.claims` lists the tables made from the rows.
"""

from __future__ import annotations

import ast
import csv
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["EVIDENCE", "LEDGER", "ROOT", "Evidence", "Line", "code_hash", "read_ledger"]

ROOT = Path(__file__).resolve().parents[1]
LEDGER = "measured.csv"

PACKAGE = "src/sphericalpca"
ROOMS = ("baselines", "estimators", "kernels", "rows", "solvers")
MODULES = (
    *("curvature", "iterate", "linalg", "parallel", "problem"),
    *("products", "rowspace", "saddle"),
)
FIT = (*(f"{PACKAGE}/{room}" for room in ROOMS), *(f"{PACKAGE}/{name}.py" for name in MODULES))
CERTIFICATE = (f"{PACKAGE}/certificate.py", f"{PACKAGE}/spectrum.py")
CERTIFIED = (*FIT, *CERTIFICATE)
EXPERIMENTS = tuple(f"paper/{name}.py" for name in ("draws", "methods", "plan", "trial"))
WHOLE = (PACKAGE,)


@dataclass(frozen=True)
class Evidence:
    """A file of rows, the command that measures it again, and files or folders of the code."""

    rows: str
    command: str
    code: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """A ledger's line for a file; `older` is the reason to keep rows of earlier code, or empty."""

    file: str
    code: str
    made_with: str
    older: str = ""


PAPER = "python -m paper reproduce all --out new"
BENCH = "python -m benchmarks"

EVIDENCE = {
    one.rows: one
    for one in (
        Evidence("paper/results/rows.csv", PAPER, (*FIT, *EXPERIMENTS)),
        Evidence("paper/results/solvers.csv", PAPER, (*FIT, *CERTIFICATE, "paper/solver_runs.py")),
        Evidence("paper/results/convergence.csv", PAPER, (*FIT, "paper/solver_runs.py")),
        Evidence("paper/results/toy.csv", PAPER, (*FIT, "paper/toy.py")),
        Evidence("benchmarks/results/reach.csv", f"{BENCH} reach", (*FIT, *CERTIFICATE)),
        Evidence("benchmarks/results/rows.csv", f"{BENCH} cases", (*FIT, *CERTIFICATE)),
        Evidence("benchmarks/results/traces.csv", f"{BENCH} cases", FIT),
        Evidence("benchmarks/results/growth.csv", f"{BENCH} growth", FIT),
        Evidence("benchmarks/results/outofcore.csv", f"{BENCH}.outofcore --cold", FIT),
        Evidence("benchmarks/results/cluster.csv", f"{BENCH}.cluster", FIT),
        Evidence("benchmarks/results/embeddings.csv", f"{BENCH}.embeddings", FIT),
        Evidence("benchmarks/results/codes.csv", f"{BENCH}.codes", (*FIT, f"{PACKAGE}/codec")),
        Evidence("benchmarks/results/groups.csv", f"{BENCH}.groups", (*FIT, f"{PACKAGE}/groups")),
        Evidence(
            "benchmarks/results/codes_reach.csv",
            f"{BENCH}.codes_reach",
            (*FIT, f"{PACKAGE}/codec"),
        ),
        Evidence(
            "benchmarks/results/groups_reach.csv",
            f"{BENCH}.groups_reach",
            (*FIT, f"{PACKAGE}/groups"),
        ),
        Evidence("benchmarks/results/certificates.csv", f"{BENCH}.certificates", CERTIFIED),
        Evidence("docs/measurements/embeddings.csv", "python -m docs.measurements.embeddings", FIT),
        Evidence("docs/measurements/streams.csv", "python -m docs.measurements.streams", FIT),
        Evidence(
            "docs/measurements/sparse_check.csv", "python -m docs.measurements.sparse_check", FIT
        ),
        Evidence(
            "docs/measurements/topics.csv",
            "python docs/measurements/topics.py",
            (*FIT, f"{PACKAGE}/datasets", "examples/plot_topics.py"),
        ),
        Evidence("reliability/results/bounds.csv", "python -m reliability.bounds", CERTIFIED),
        Evidence("reliability/results/fuzz.csv", "python -m reliability.fuzz TARGET", WHOLE),
        Evidence("reliability/results/hostile.csv", "python -m reliability.hostile", WHOLE),
        Evidence("reliability/results/kill.csv", "python -m reliability.kill", WHOLE),
        Evidence("reliability/results/mutants.csv", "python -m reliability.mutants run", WHOLE),
        Evidence("reliability/results/optima.csv", "python -m reliability.optima", FIT),
        Evidence(
            "reliability/results/sanitize.csv",
            "python -m reliability.sanitize",
            (f"{PACKAGE}/kernels",),
        ),
        Evidence("reliability/results/soak.csv", "python -m reliability.soak --minutes 60", WHOLE),
        Evidence("reliability/results/versions.csv", "make test test-slow", WHOLE),
    )
}


def code_hash(places: tuple[str, ...], root: Path = ROOT) -> str:
    """Hash of the code in these places; for Python without comments, docstrings and layout."""
    total = hashlib.sha256()
    for file in sorted({file for place in places for file in _files(root / place)}):
        total.update(file.relative_to(root).as_posix().encode())
        text = file.read_text(encoding="utf-8")
        total.update((_parsed(text) if file.suffix == ".py" else text).encode())
    return total.hexdigest()[:16]


def read_ledger(folder: Path) -> dict[str, Line]:
    """The lines of a folder's ledger, by name of file; none where there is no ledger."""
    path = folder / LEDGER
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {row["file"]: Line(**row) for row in csv.DictReader(file)}


def _files(place: Path) -> Iterator[Path]:
    """The sources at a place: itself, or those of a folder."""
    inside = place.rglob("*") if place.is_dir() else [place]
    return (file for file in inside if file.is_file() and file.suffix in {".py", ".c", ".h"})


@cache
def _parsed(text: str) -> str:
    """The normalised code of a module, cached because many rows use it."""
    return _meaning(ast.parse(text))


def _meaning(node: Any) -> str:
    """A syntax tree as text, the same for every version of Python, without docstrings."""
    if isinstance(node, list):
        return "[" + ",".join(map(_meaning, node)) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = {name: value for name, value in ast.iter_fields(node) if value not in (None, [])}
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
        fields["body"] = node.body[1:]
    inner = ",".join(f"{name}={_meaning(value)}" for name, value in sorted(fields.items()))
    return f"{type(node).__name__}({inner})"
