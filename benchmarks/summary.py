"""The results page, generated only from the rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.cases import CASES
from benchmarks.compare import rows_table
from benchmarks.growth import AXES, fit_exponent, growth_table
from benchmarks.machine import QUICK
from benchmarks.ours import ALTERNATION, OURS_FROM_START
from benchmarks.reach import GOALS, reach_table
from benchmarks.table import Row, number
from sphericalpca.files import write_whole

__all__ = ["readme_table", "write"]

EXPLANATION = """\
Times are medians of rounds in which all methods take turns, quartiles in brackets; a number
without brackets was measured once. "ours / it" is the time of "ours" over the method's. Residuals
and loss gaps are computed in float64 outside the clock: the residual is the relative Riemannian
gradient, the loss gap is (f_best - f) / f_best, where f_best is the best value that any method
reached, improved a little further. The certificate's gap bounds how far f is below the optimum;
it is left out where it would take minutes. Iterative methods start from one random subspace;
"ours" is the whole fit with a start of its own. The peers of scikit-learn have other objectives:
their loss gap says what their subspace is worth for this one.
"""

# Allowed relative excess of the default's loss over exact alternation's from the same start.
LARGEST_EXCESS = 1e-4

SHOWN = {
    "dense_svd": ("100,000 x 768 dense, r = 64", "`TruncatedSVD`"),
    "dense_eigh": ("the same", '`PCA(svd_solver="covariance_eigh")`'),
    "minilm": ("MiniLM embeddings, 18,846 x 384, r = 64", "`TruncatedSVD`"),
    "text20_loose": ("newsgroup tf-idf, 18,846 x 75,875, r = 20, `tol=1e-3`", "`TruncatedSVD`"),
    "text20": ("the same, `tol=1e-4`", "`TruncatedSVD`"),
    "text100_loose": ("the same, r = 100, `tol=1e-3`", "`TruncatedSVD`"),
    "text100": ("the same, r = 100, `tol=1e-4`", "`TruncatedSVD`"),
    "pymanopt": ("text, 4,000 x 500 dense, r = 20", "pymanopt's better solver, same start"),
    "algorithm1": ("digits, r = 10, to 1 % of the best f", "the paper's Algorithm 1"),
}

GOAL_TITLES = (
    *("goal", "what", "measured", "limit", "verdict"),
    *("ours, s", "peer, s", "residual", "certificate's gap", "note"),
)
CASE_TITLES = (
    *("method", "seconds", "ours / it", "passes"),
    *("residual", "loss gap", "certificate's gap", "note"),
)


def write(folder: Path) -> Path:
    """Write summary.md beside the rows."""
    parts = [
        "# Benchmark results\n",
        *_facts(folder),
        *_reach(folder),
        *_cases(folder),
        *_growth(folder),
        *_made_with(folder),
    ]
    path = folder / "summary.md"
    write_whole(path, "\n".join(parts).encode())
    return path


def readme_table(folder: Path) -> str:
    """The goals that compare times, in short, for the front page."""
    there = {row["goal"]: row for row in reach_table(folder).read()}
    cells = [
        [what, peer, f"{number(there[goal], 'measured'):.2g}"]
        for goal, (what, peer) in SHOWN.items()
        if goal in there and there[goal]["measured"] != ""
    ]
    return _markdown(("data", "against", "our time / theirs"), cells)


def _facts(folder: Path) -> Iterable[str]:
    tables = (reach_table(folder), rows_table(folder), growth_table(folder))
    facts = dict.fromkeys(row["made_with"] for table in tables for row in table.read())
    if any(QUICK in line for line in facts):
        yield f"A {QUICK}: it shows that all runs, and nothing else.\n"
    if len(facts) > 1:
        yield "Rows are of several commits or machines: compare within a table only.\n"


def _made_with(folder: Path) -> Iterable[str]:
    """Versions and machines, each with its commits."""
    tables = (reach_table(folder), rows_table(folder), growth_table(folder))
    commits: dict[str, list[str]] = {}
    for line in dict.fromkeys(row["made_with"] for table in tables for row in table.read()):
        first, _, rest = line.partition("; ")
        known = first.startswith("commit ")
        commits.setdefault(rest if known else line, []).extend([first[7:]] if known else [])
    lines = [
        f"- {('Commits ' + ', '.join(found) + ': ') if found else ''}{line}."
        for line, found in commits.items()
    ]
    yield "\n".join(["## Versions and machines\n", *lines]) + "\n"


def _reach(folder: Path) -> Iterable[str]:
    there = {row["goal"]: row for row in reach_table(folder).read()}
    rows = [there[name] for name in GOALS if name in there]
    if not rows:
        return
    judged = [row["verdict"] for row in rows if row["verdict"] not in {"not judged", "skipped"}]
    met = judged.count("met")
    yield f"## Goals\n\n{met} of the {len(judged)} goals that were judged are met.\n"
    yield "![Measured values as shares of their limits](reach.png)\n"
    yield _markdown(GOAL_TITLES, [_goal_cells(row) for row in rows])


def _goal_cells(row: Row) -> list[str]:
    wish = f" (better {_plain(row, 'wish')})" if row["wish"] else ""
    return [
        row["goal"],
        row["about"],
        _with_quartiles(row, "measured"),
        f"{row['sense']} {_plain(row, 'limit')}{wish}",
        row["verdict"],
        _plain(row, "ours"),
        _plain(row, "peer"),
        _small(row, "residual"),
        _small(row, "certificate_gap"),
        row["note"],
    ]


def _cases(folder: Path) -> Iterable[str]:
    rows = rows_table(folder).read()
    if rows:
        yield f"## Cases\n\n{EXPLANATION}"
        yield from _against_alternation(rows)
    for case in CASES:
        mine = [row for row in rows if row["case"] == case and row["method"]]
        left_out = [row["note"] for row in rows if row["case"] == case and not row["method"]]
        if left_out:
            yield f"{case}: {left_out[0]}.\n"
        if mine:
            yield f"![Loss gap against seconds and passes, {case}](gap-{case}.png)\n"
        for r in sorted({int(row["r"]) for row in mine}):
            chosen = [row for row in mine if int(row["r"]) == r]
            yield f"### {_heading(chosen[0])}\n"
            yield _markdown(CASE_TITLES, [_case_cells(row) for row in chosen])


def _against_alternation(rows: list[Row]) -> Iterable[str]:
    """How much worse than exact alternation the default may end, from the same start."""
    losses: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        if row["loss"] != "":
            losses.setdefault((row["case"], row["r"]), {})[row["method"]] = number(row, "loss")
    excess = {
        place: found[OURS_FROM_START.name] / found[ALTERNATION.name] - 1.0
        for place, found in losses.items()
        if {OURS_FROM_START.name, ALTERNATION.name} <= set(found)
    }
    if excess:
        (case, r), worst = max(excess.items(), key=lambda item: item[1])
        verdict = "met" if worst <= LARGEST_EXCESS else "missed"
        yield (
            f"From the same start the default's loss over exact alternation's, less 1, is at most "
            f"{worst:.1e} ({case}, r = {r}) over these {len(excess)} cases; allowed is "
            f"{LARGEST_EXCESS:.0e}: {verdict}.\n"
        )


def _heading(row: Row) -> str:
    size = f"{int(row['n']):,} x {int(row['m']):,}"
    return f"{row['case']}: {row['about']}, {size}, {row['dtype']}, r = {row['r']}"


def _case_cells(row: Row) -> list[str]:
    return [
        row["method"],
        _with_quartiles(row, "seconds"),
        _plain(row, "ratio"),
        _plain(row, "passes"),
        _small(row, "residual"),
        _small(row, "loss_gap"),
        _small(row, "certificate_gap"),
        row["note"],
    ]


def _growth(folder: Path) -> Iterable[str]:
    rows = growth_table(folder).read()
    if not rows:
        return
    yield "## Growth\n\nSeconds and seconds of one pass as powers of the size, by least squares.\n"
    yield "![Seconds against sizes](growth.png)\n"
    cells = []
    for axis in AXES.values():
        mine = [row for row in rows if row["axis"] == axis.name]
        for method in dict.fromkeys(row["method"] for row in mine):
            chosen = [row for row in mine if row["method"] == method]
            sizes = f"{number(chosen[0], 'size'):,.0f} to {number(chosen[-1], 'size'):,.0f}"
            cells.append([axis.name, axis.about, sizes, method, *_exponents(chosen)])
    titles = ("size", "what", "range", "method", "exponent", "exponent of a pass")
    yield _markdown(titles, cells)


def _exponents(rows: list[Row]) -> list[str]:
    sizes = [number(row, "size") for row in rows]
    seconds = [number(row, "seconds") for row in rows]
    passes = [number(row, "passes") for row in rows]
    each = [spent / count for spent, count in zip(seconds, passes, strict=True)]
    return [_exponent(sizes, seconds), "" if any(map(math.isnan, each)) else _exponent(sizes, each)]


def _exponent(sizes: Sequence[float], seconds: Sequence[float]) -> str:
    fitted = fit_exponent(sizes, seconds)
    error = "" if math.isnan(fitted.error) else f" ± {fitted.error:.2f}"
    return f"{fitted.power:.2f}{error}"


def _with_quartiles(row: Row, column: str) -> str:
    if row[column] == "":
        return ""
    low, high = (number(row, name) for name in ("quartile_1", "quartile_3"))
    spread = "" if math.isnan(low) or low == high else f" [{low:.3g}, {high:.3g}]"
    return f"{_plain(row, column)}{spread}"


def _plain(row: Row, column: str) -> str:
    return f"{number(row, column):.3g}" if row[column] != "" else ""


def _small(row: Row, column: str) -> str:
    return f"{number(row, column):.1e}" if row[column] != "" else ""


def _markdown(titles: Sequence[str], cells: Iterable[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
