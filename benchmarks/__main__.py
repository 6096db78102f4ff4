"""Run the benchmark: ``python -m benchmarks [reach|cases|growth|all|report]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks import compare, growth, plots, reach, summary
from benchmarks.cases import CASES, Case, quick_case
from benchmarks.contest import Effort
from benchmarks.goals import Setting
from benchmarks.growth import AXES, Axis
from benchmarks.machine import made_with
from benchmarks.reach import GOALS, Goal
from benchmarks.real import MissingDataError
from benchmarks.table import Row

__all__ = ["main"]

SUITES: dict[str, list[str]] = {"reach": [*GOALS], "cases": [*CASES], "growth": [*AXES]}

RESULTS = Path(__file__).parent / "results"
QUICK_RESULTS = Path("build") / "benchmarks"

# Slow methods are stopped after this many seconds, and timed once if they take long.
CAP, PATIENCE, QUICK_CAP = 4.0, 1.5, 0.5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the given parts; 1 if a result of ours was wrong, 2 for an unknown name."""
    args = _parser().parse_args(arguments)
    folder = args.out or (QUICK_RESULTS if args.quick else RESULTS)
    suites = [args.what] if args.what in SUITES else list(SUITES) * (args.what == "all")
    known = [name for suite in suites for name in SUITES[suite]]
    unknown = [name for name in args.only if name not in known]
    if unknown:
        print(f"unknown name {unknown[0]!r}: known are {', '.join(known)}", file=sys.stderr)
        return 2
    print(made_with(quick=args.quick))
    print(f"rows and pictures go to {folder}", flush=True)
    rows: list[Row] = []
    for suite in suites:
        chosen = [name for name in SUITES[suite] if name in args.only or not args.only]
        rows += _run_suite(suite, chosen, args, folder)
    for path in (*plots.draw(folder), summary.write(folder)):
        print(f"wrote {path}")
    return int(any(_is_wrong(row) for row in rows))


def _parser() -> argparse.ArgumentParser:
    names = "\n".join(f"  {suite}: {', '.join(parts)}" for suite, parts in SUITES.items())
    parser = argparse.ArgumentParser(
        "python -m benchmarks",
        description=__doc__,
        epilog=f"names for --only:\n{names}\n\nall takes about 25 minutes on two cores, reach 5.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = [*SUITES, "all", "report"]
    parser.add_argument("what", nargs="?", default="all", choices=what, help="default: all")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="a goal, case or axis"
    )
    parser.add_argument("--repeats", type=_positive, default=5, help="timed rounds; default: 5")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help=f"where rows and pictures go; default: benchmarks/results, {QUICK_RESULTS} if --quick",
    )
    parser.add_argument("--quick", action="store_true", help="small data, as a smoke test")
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"rounds must be at least 1, not {value}")
    return value


def _run_suite(
    suite: str, chosen: Iterable[str], args: argparse.Namespace, folder: Path
) -> list[Row]:
    rows: list[Row] = []
    for name in chosen:
        if suite == "reach":
            rows += _run_goal(GOALS[name], args, folder)
        elif suite == "cases":
            rows += _run_case(CASES[name], args, folder)
        else:
            rows += _run_axis(AXES[name], args, folder)
    return rows


def _run_goal(goal: Goal, args: argparse.Namespace, folder: Path) -> list[Row]:
    row = reach.reach(goal, Setting(args.repeats, args.quick))
    if row["verdict"] == "skipped":
        reach.reach_table(folder).add_missing(_stamped([row], args))
        print(f"{goal.name}: skipped, {row['note']}", flush=True)
        return []
    reach.reach_table(folder).replace(_stamped([row], args))
    print(
        f"{goal.name}: {row['measured']:.4g}, {row['sense']} {goal.limit:g}: "
        f"{row['verdict']}; {row['note']}",
        flush=True,
    )
    return [row]


def _run_case(case: Case, args: argparse.Namespace, folder: Path) -> list[Row]:
    case = quick_case(case) if args.quick else case
    try:
        X = case.load()
    except MissingDataError as missing:
        rows = _stamped(compare.skipped(case, str(missing)), args)
        compare.rows_table(folder).add_missing(rows)
        print(f"{case.name}: skipped, {missing}", flush=True)
        return []
    limits = (QUICK_CAP, QUICK_CAP / 2) if args.quick else (CAP, PATIENCE)
    effort = Effort(args.repeats, *limits)
    found: list[Row] = []
    for r in case.components:
        rows, points = compare.compare(case, X, r, effort)
        # Curves first: a case is complete when it has rows.
        compare.trace_table(folder).replace(points)
        compare.rows_table(folder).replace(_stamped(rows, args))
        print(f"{case.name}, {X.shape[0]:,} x {X.shape[1]:,}, r = {r}")
        for row in rows:
            print(f"  {_line(row)}", flush=True)
        found += rows
    return found


def _line(row: Row) -> str:
    if "seconds" not in row:
        return f"{row['method']}: left out, {row['note']}"
    return (
        f"{row['method']}: {row['seconds']:.3g} s, ratio {row['ratio']:.3g}, "
        f"residual {row['residual']:.1e}, loss gap {row['loss_gap']:.1e}"
        f"{', ' * bool(row['note'])}{row['note']}"
    )


def _run_axis(axis: Axis, args: argparse.Namespace, folder: Path) -> list[Row]:
    sizes = axis.sizes[:2] if args.quick else axis.sizes
    rows = growth.grow(axis, Effort(args.repeats), sizes)
    growth.growth_table(folder).replace(_stamped(rows, args))
    for method in dict.fromkeys(row["method"] for row in rows):
        mine = [row for row in rows if row["method"] == method]
        power = growth.fit_exponent([r["size"] for r in mine], [r["seconds"] for r in mine]).power
        print(f"{method}: seconds grow as {axis.name}^{power:.2f}", flush=True)
    return rows


def _stamped(rows: list[Row], args: argparse.Namespace) -> list[Row]:
    return [{**row, "made_with": made_with(quick=args.quick)} for row in rows]


def _is_wrong(row: Row) -> bool:
    return row.get("verdict") == "wrong answer" or (
        row.get("method", "").startswith("ours") and str(row.get("note", "")).startswith("wrong")
    )


if __name__ == "__main__":
    sys.exit(main())
