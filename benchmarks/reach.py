"""The goals, one row each: what is measured, its limit, and the verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import goals
from benchmarks.goals import GoalMeasurement, Setting
from benchmarks.peers import COVARIANCE_EIGH, TRUNCATED_SVD
from benchmarks.real import MissingDataError
from benchmarks.table import ResultTable, Row

__all__ = ["GOALS", "Goal", "reach", "reach_table", "verdict"]

COLUMNS = (
    "goal",
    "about",
    "measured",
    "quartile_1",
    "quartile_3",
    "limit",
    "sense",
    "wish",
    "verdict",
    "ours",
    "peer",
    "residual",
    "tol",
    "certificate_gap",
    "note",
    "made_with",
)


@dataclass(frozen=True)
class Goal:
    """A limit to be kept.

    Attributes
    ----------
    name : str
    about : str
    limit : float
    measure : callable
    at_least : bool
        Whether the limit is a lower one.
    wish : float or None
        A harder limit that would be better still.
    """

    name: str
    about: str
    limit: float
    measure: Callable[[Setting], GoalMeasurement]
    at_least: bool = False
    wish: float | None = None


def _text(r: int, tol: float) -> Callable[[Setting], GoalMeasurement]:
    return partial(goals.text_against_svd, r=r, tol=tol)


_DENSE = "dense float32 100,000 x 768 power-law, r = 64: our fit / "
_TEXT = "full-vocabulary newsgroup tf-idf, our fit / TruncatedSVD, "

GOALS: dict[str, Goal] = {
    goal.name: goal
    for goal in (
        Goal(
            "dense_svd",
            _DENSE + "TruncatedSVD",
            0.28,
            partial(goals.dense_against, peer=TRUNCATED_SVD),
        ),
        Goal(
            "dense_eigh",
            _DENSE + "PCA by covariance_eigh",
            2.0,
            partial(goals.dense_against, peer=COVARIANCE_EIGH),
        ),
        Goal(
            "minilm",
            "MiniLM newsgroups, r = 64: our fit / TruncatedSVD",
            0.5,
            goals.minilm_against_svd,
        ),
        Goal("text20", _TEXT + "r = 20", 3.0, _text(20, 1e-4), wish=2.0),
        Goal("text20_loose", _TEXT + "r = 20, tol 1e-3", 1.5, _text(20, 1e-3), wish=1.0),
        Goal("text100", _TEXT + "r = 100", 4.0, _text(100, 1e-4)),
        Goal("text100_loose", _TEXT + "r = 100, tol 1e-3", 2.0, _text(100, 1e-3)),
        Goal(
            "passes_small",
            "passes, start included, 4,000 x 2,000 text, r = 20",
            25,
            partial(goals.passes, full=False),
        ),
        Goal(
            "passes_full",
            "passes, start included, full vocabulary, r = 20",
            32,
            partial(goals.passes, full=True),
        ),
        Goal(
            "pymanopt",
            "dense 4,000 x 500 text, r = 20: ours / the better pymanopt solver, same start",
            0.2,
            goals.against_pymanopt,
        ),
        Goal(
            "algorithm1",
            "digits, r = 10: ours / Algorithm 1 (theory) to f within 1 % of the best",
            0.01,
            goals.against_algorithm_1,
        ),
        Goal(
            "flop_rate",
            "a dense pass: flop rate / that of its two products",
            0.9,
            goals.flop_rate,
            at_least=True,
        ),
        Goal(
            "memory",
            "memory beyond X, dense 100,000 x 768, r = 64 / (n r + m m) float32 numbers",
            3.0,
            goals.memory_of_fit,
        ),
    )
}


def reach_table(folder: Path) -> ResultTable:
    """A row for each goal."""
    return ResultTable(folder / "reach.csv", COLUMNS, ("goal",))


def verdict(goal: Goal, measurement: GoalMeasurement) -> str:
    """Whether the limit is kept; a fast wrong answer keeps none."""
    if not measurement.right:
        return "wrong answer"
    excess = measurement.measured / goal.limit
    excess = 1.0 / excess if goal.at_least and excess > 0 else excess
    return "met" if excess <= 1.0 else f"missed by {max(100 * (excess - 1.0), 1):,.0f} %"


def reach(goal: Goal, setting: Setting) -> Row:
    """Measure a goal; where its data are missing the row says so."""
    row: Row = {
        "goal": goal.name,
        "about": goal.about,
        "limit": goal.limit,
        "sense": "at least" if goal.at_least else "at most",
        "wish": goal.wish,
    }
    try:
        found = goal.measure(setting)
    except MissingDataError as missing:
        return {**row, "verdict": "skipped", "note": str(missing)}
    return {
        **row,
        "measured": found.measured,
        "quartile_1": found.spread[0],
        "quartile_3": found.spread[1],
        # Small data say nothing about a limit.
        "verdict": "not judged" if setting.quick and found.right else verdict(goal, found),
        "ours": found.ours,
        "peer": found.peer,
        "residual": found.residual,
        "tol": found.tol,
        "certificate_gap": found.gap,
        "note": found.note,
    }
