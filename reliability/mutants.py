"""Mutation tests: small faults are put into the code, one at a time, and the tests run.

``python -m reliability.mutants run --suite NAME`` writes a row for each mutant: which test detected
it, in which tier, after how many seconds, or that none did.  It can be stopped and run again:
mutants with a row are skipped.  ``list`` shows the mutants, ``compare BEFORE AFTER`` two suites.

A mutant changes one operator, number or sign, or drops one statement, in code that computes: no
messages, annotations or defaults.  The same ones are drawn every time, as many from each room.
Each is tried with ``pytest -x``, the mirrored tests first, then the rest of `make test`, then
`make test-slow`, for five minutes in all; before that the same tests must pass without a mutant.
`EQUIVALENT` has those that change no answer (speed, patience, the length of a message), and why.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

from benchmarks.machine import made_with
from benchmarks.table import ResultTable, Row
from reliability.mirror import PACKAGE, ROOT, mirrored_tests

__all__ = ["EQUIVALENT", "Mutant", "draw", "main"]

RESULTS = Path(__file__).parent / "results" / "mutants.csv"
COLUMNS = ("suite", "mutant", "room", "verdict", "tier", "noticed_by", "seconds", "made_with")
# Files besides the package that tests read.
COPIED = ("src", "tests", "paper", "benchmarks", "reliability", "docs", "examples", "constraints")
ROOMS = {
    "problem": ("problem.py",),
    "linalg": ("linalg.py",),
    "products": ("products.py",),
    "solvers": ("solvers", "iterate.py"),
    "rows": ("rows",),
    "estimators": ("estimators",),
    "certificate": ("certificate.py",),
    "modelfile": ("modelfile.py",),
    "convergence": ("convergence.py",),
}
PER_ROOM = 8
SEED = 16
CAP = 300.0  # seconds for a mutant
ENOUGH = 0.95  # share of the formerly detected mutants that `make test` alone must detect
# Exit codes of pytest if a selection is empty, and if conftest.py cannot be imported.
NO_TESTS, UNUSABLE = 5, 4

# Names of mutants that change no result, with the reason.
EQUIVALENT = {
    "linalg.py:37.12: 1024 -> (2048)": "twice as many squares are within the rounding promised",
    "products.py:26.16: 4000000 -> (8000000)": "from where on threads are used: the same sums",
    "products.py:86.55: 1 -> (2)": "pieces of very wide matrices have two rows instead of one",
    "products.py:110.25: A.size * columns > SMALL_PRODUCT -> (A.size * columns <= SMALL_PRODUCT)": (
        "which products use threads: the same sums"
    ),
    "solvers/linearized.py:227.38: 2.0 -> (4.0)": "a common factor, and only the direction matters",
    "solvers/solve.py:76.11: 1.5 * (n + m) * columns * rows.dtype.itemsize <= rows.room -> "
    "(1.5 * (n + m) * columns * rows.dtype.itemsize < rows.room)": "the room is never equal to it",
    "rows/cluster/client.py:109.44: POLL_INTERVAL / 64 -> (POLL_INTERVAL * 64)": "only a pause",
    "rows/memory.py:194.40: self._X.nnz / wanted / threads -> (self._X.nnz / wanted * threads)": (
        "another number of blocks, for speed"
    ),
    "rows/memory.py:142.15: self._mean is None -> (self._mean is not None)": (
        "which blocks are kept: time and memory"
    ),
    "rows/memory.py:242.33: 1 -> (2)": "one piece of a matrix without numbers, either way",
    "estimators/fitted.py:193.74: False -> (True)": "no parameter has parameters of its own",
    "certificate.py:122.71: 1 -> (2)": "a round of patience less, where six are given",
    "certificate.py:164.12: 1.0 / float(weight.sum()) -> (1.0 * float(weight.sum()))": (
        "scales the objective only, and any minimiser gives a valid bound"
    ),
    "certificate.py:167.48: 1e-300 -> (2e-300)": "only keeps a root away from zero",
    "modelfile.py:55.34: 200 -> (400)": "how much of another library's message is shown",
}

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
# Where nothing is computed.
UNTOUCHED = (ast.Raise, ast.JoinedStr, ast.Assert, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Mutant:
    """One change of one file of the package: `source` is the whole file with the change in it."""

    room: str
    path: str
    change: str
    source: bytes

    @property
    def name(self) -> str:
        """The name of the mutant in rows."""
        return f"{self.path}:{self.change}"

    @property
    def file(self) -> Path:
        """The file that is changed."""
        return ROOT / PACKAGE / self.path


def draw() -> list[Mutant]:
    """Draw the mutants to try, always the same ones for the same code."""
    drawn: list[Mutant] = []
    for room, places in ROOMS.items():
        sites = [(path, *site) for path in _files(places) for site in _sites(path)]
        chosen = random.Random(f"{SEED} {room}").sample(range(len(sites)), PER_ROOM)
        drawn += [_mutant(room, *sites[k]) for k in sorted(chosen)]
    return drawn


def _files(places: Sequence[str]) -> Iterator[Path]:
    for place in places:
        path = ROOT / PACKAGE / place
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def _sites(path: Path) -> Iterator[tuple[Any, str]]:
    """Nodes of a file, and the text that takes their place."""
    for top in ast.parse(path.read_bytes()).body:
        if isinstance(top, ast.Assign) and isinstance(top.value, ast.Constant):
            yield from _changes(top.value)
        elif isinstance(top, (ast.FunctionDef, ast.ClassDef)):
            for function in ast.walk(top):
                if isinstance(function, ast.FunctionDef):
                    for statement in function.body:
                        yield from _below(statement)


def _below(node: ast.AST) -> Iterator[tuple[Any, str]]:
    """The places in a statement, without the functions inside it, which come separately."""
    if isinstance(node, (*UNTOUCHED, ast.FunctionDef, ast.ClassDef)):
        return
    yield from _changes(node)
    hidden = node.annotation if isinstance(node, ast.AnnAssign) else None
    for child in ast.iter_child_nodes(node):
        if child is not hidden:
            yield from _below(child)


def _changes(node: Any) -> Iterator[tuple[Any, str]]:
    """The change of this node itself, if there is one."""
    other: ast.AST | None = None
    match node:
        case ast.BinOp(left, op, right) if type(op) in SWAPS:
            other = ast.BinOp(left, _swapped(op), right)
        case ast.Compare(left, [op, *ops], comparators) if type(op) in SWAPS:
            other = ast.Compare(left, [_swapped(op), *ops], comparators)
        case ast.BoolOp(op, values):
            other = ast.BoolOp(_swapped(op), values)
        case ast.UnaryOp(_, operand):
            other = operand
        case ast.Constant(value) if isinstance(value, (bool, int, float)):
            other = ast.Constant(_another(value))
        case ast.AugAssign() | ast.Expr(value=ast.Call()):
            yield node, "pass"
    if other is not None:
        yield node, f"({ast.unparse(other)})"


def _another(value: float) -> float:
    if isinstance(value, bool):
        return not value
    return value + 1 if value in (0, 1) else 2 * value


def _swapped(op: ast.AST) -> Any:
    return SWAPS[type(op)]()


def _mutant(room: str, path: Path, node: Any, text: str) -> Mutant:
    """The file with other text where the node was."""
    lines = path.read_bytes().splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    source = b"".join(lines)
    begin = starts[node.lineno - 1] + node.col_offset
    end = starts[node.end_lineno - 1] + node.end_col_offset
    change = f"{node.lineno}.{node.col_offset}: {_short(ast.unparse(node))} -> {_short(text)}"
    name = path.relative_to(ROOT / PACKAGE).as_posix()
    return Mutant(room, name, change, source[:begin] + text.encode() + source[end:])


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 70 else f"{text[:67]}..."


@dataclass
class Trial:
    """A mutant in a copy of the tree, and its state."""

    mutant: Mutant
    seconds: float = 0.0
    tier: str = ""
    noticed_by: str = ""

    def look(self, stages: Sequence[tuple[str, Sequence[str]]]) -> Trial:
        """Run stages of tests until one fails or the time is over."""
        with tempfile.TemporaryDirectory() as folder:
            tree = _copy(Path(folder) / "tree")
            (tree / PACKAGE / self.mutant.path).write_bytes(self.mutant.source)
            for tier, selection in stages:
                began = time.monotonic()
                self.noticed_by = _first_failure(tree, selection, CAP - self.seconds)
                self.seconds += time.monotonic() - began
                if self.noticed_by or self.seconds >= CAP:
                    self.tier = tier if self.noticed_by else ""
                    break
        return self

    def row(self, suite: str) -> Row:
        """The row of this trial."""
        known = (suite, self.mutant.name, self.mutant.room)
        unnoticed = "time over" if self.seconds >= CAP else "survived"
        verdict = "noticed" if self.noticed_by else unnoticed
        found = (verdict, self.tier, self.noticed_by, round(self.seconds, 1), made_with())
        return dict(zip(COLUMNS, (*known, *found), strict=True))


def _copy(tree: Path) -> Path:
    """Files that the tests read."""
    skipped = ignore_patterns("__pycache__", ".venv")
    for name in COPIED:
        copytree(ROOT / name, tree / name, ignore=skipped)
    for path in ROOT.iterdir():
        if path.is_file():
            (tree / path.name).write_bytes(path.read_bytes())
    return tree


def _first_failure(tree: Path, selection: Sequence[str], seconds: float) -> str:
    """The test that failed first; empty if none did in this time."""
    options = ("-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", "--no-cov")
    limits = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "SCIPY_ARRAY_API": "1"}
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, *selection],
        cwd=tree,
        env={**os.environ, **limits, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = run.communicate(timeout=max(seconds, 1.0))
    except subprocess.TimeoutExpired:
        return ""
    finally:
        _end(run)
    if run.returncode in (0, NO_TESTS):
        return ""
    failed = [line for line in printed.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if failed:
        return failed[0].split(" ", 1)[1].split(" - ")[0]
    return "conftest.py" if run.returncode == UNUSABLE else "a test without end"


def _end(run: subprocess.Popen[str]) -> None:
    """End a run with all its processes."""
    try:
        os.killpg(run.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    run.communicate()


def _near(mutant: Mutant) -> list[tuple[str, Sequence[str]]]:
    mirrored = mirrored_tests(f"{PACKAGE}{mutant.path}")
    return [("test", [*ENDLESS, "-m", "not slow", test]) for test in mirrored]


# A mirrored test that takes this long is assumed never to end.
ENDLESS = ("-o", "faulthandler_timeout=100", "-o", "faulthandler_exit_on_timeout=true")
# Tests that look at everything come first.
ORDER = ("tests/estimators", "tests/test_extremes.py", "tests/solvers", "tests/rows", "tests")
FAR: list[tuple[str, Sequence[str]]] = [
    ("test", ["-n", "2", "-m", "not slow", *ORDER]),
    ("slow", ["-n", "2", "-m", "slow", *ORDER]),
]


def run(suite: str, table: ResultTable) -> None:
    """Try mutants without a row of this suite: nearest tests for two at a time, then the rest."""
    done = {row["mutant"] for row in table.read() if row["suite"] == suite}
    left = [m for m in draw() if m.name not in EQUIVALENT and m.name not in done]
    _check_without(left)
    missed = []
    with ThreadPoolExecutor(2) as pool:
        for trial in pool.map(lambda mutant: Trial(mutant).look(_near(mutant)), left):
            if trial.noticed_by or trial.seconds >= CAP:
                _keep(trial, suite, table)
            else:
                missed.append(trial)
    for trial in missed:
        _keep(trial.look(FAR), suite, table)


def _check_without(mutants: Sequence[Mutant]) -> None:
    """Raise an error if tests fail without a mutant: all mutants would count as detected."""
    near = dict.fromkeys(t for m in mutants for t in mirrored_tests(f"{PACKAGE}{m.path}"))
    with tempfile.TemporaryDirectory() as folder:
        selection = ["-n", "2", "-m", "not slow", *near]
        failed = _first_failure(_copy(Path(folder) / "tree"), selection, CAP) if near else ""
    if failed:
        sys.exit(f"{failed} fails without a mutant: repair it first.")


def _keep(trial: Trial, suite: str, table: ResultTable) -> None:
    row = trial.row(suite)
    table.replace([row])
    print(
        f"{row['verdict']:8} {row['seconds']:5} s {row['mutant']}  {row['noticed_by']}", flush=True
    )


def compare(before: str, after: str, table: ResultTable) -> int:
    """Compare what two suites detected; 1 if the second lacks rows, or misses any of the first."""
    rows = {(row["suite"], row["mutant"]): row for row in table.read()}
    names = [name for suite, name in rows if suite == before]
    lost = [name for name in names if (after, name) not in rows]
    rows |= {(after, name): dict.fromkeys(COLUMNS, "") for name in lost}
    noticed = {s: {n for n in names if rows[s, n]["verdict"] == "noticed"} for s in (before, after)}
    fast = {n for n in names if rows[after, n]["tier"] == "test"}
    kept = len(noticed[before] & fast) / max(len(noticed[before]), 1)
    counts = ", ".join(f"{suite} noticed {len(found)}" for suite, found in noticed.items())
    print(f"{len(names)} mutants; {counts}")
    print(f"`make test` of {after} alone: {len(fast)}, {kept:.1%} of what {before} noticed")
    missed = sorted(noticed[before] - noticed[after])
    print(*(f"missed by {after}: {name}" for name in [*lost, *missed]), sep="\n")
    return int(bool(lost or missed or kept < ENOUGH))


def main(arguments: Sequence[str] | None = None) -> int:
    """List the mutants, try those that have no row yet, or compare two suites."""
    parser = argparse.ArgumentParser("python -m reliability.mutants", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("list")
    actions.add_parser("run").add_argument(
        "--suite", required=True, help="what rows call the suite"
    )
    two = actions.add_parser("compare")
    two.add_argument("before")
    two.add_argument("after")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the table of rows")
    args = parser.parse_args(arguments)
    table = ResultTable(args.out, COLUMNS, ("suite", "mutant"))
    if args.action == "list":
        print(*(mutant.name for mutant in draw()), sep="\n")
    elif args.action == "run":
        run(args.suite, table)
    else:
        return compare(args.before, args.after, table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
