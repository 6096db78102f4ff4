"""The goals, one row each: what is measured, its limit, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import goals, textgoals
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
    """A limit to meet.

    Attributes
    ----------
    name : str
    about : str
    limit : float
    measure : callable
    at_least : bool
        Whether the limit is a lower one.
    wish : float or None
        A stricter limit.
    """

    name: str
    about: str
    limit: float
    measure: Callable[[Setting], GoalMeasurement]
    at_least: bool = False
    wish: float | None = None


def _text(r: int, tol: float) -> Callable[[Setting], GoalMeasurement]:
    return partial(goals.text_against_svd, r=r, tol=tol)


def _plain(r: int, tol: float) -> Callable[[Setting], GoalMeasurement]:
    return partial(textgoals.text_without_kernels, r=r, tol=tol)


def _corners() -> Iterator[Goal]:
    """No more than 3 times the time and 2 times the memory of TruncatedSVD, r = 20."""
    for data, about in CORNERS.items():
        for what, limit in (("seconds", 3.0), ("resident", 2.0)):
            name = f"{data}_{'time' if what == 'seconds' else 'memory'}"
            measure = partial(textgoals.corner, data=data, what=what)
            word = "time" if what == "seconds" else "memory"
            yield Goal(name, f"{about}, r = 20: {word} of our fit / TruncatedSVD's", limit, measure)


_DENSE = "dense float32 100,000 x 768 power-law, r = 64: our fit / "
_PRODUCTS = "a pass over full-vocabulary newsgroup tf-idf: compiled kernels / scipy on threads, "
_UNTIL = "full-vocabulary newsgroup tf-idf, until TruncatedSVD's mean cosine / its fit, "
_MILLION = "1,000,000 generated texts of 60 words x 200,000 words, r = 50, tol 1e-3: "
CORNERS = {
    "hashed": "20,000 texts x 2^20 hashed columns, uniform",
    "hashed_zipf": "20,000 texts x 2^20 hashed columns, Zipf",
    "wide_noise": "300 x 200,000 dense noise",
    "dense_row": "20,000 x 50,000 sparse noise and a dense row",
    "small_text": "4,000 x 2,000 text",
}
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
            1.5,
            partial(goals.dense_against, peer=COVARIANCE_EIGH),
            wish=1.0,
        ),
        Goal(
            "minilm",
            "MiniLM newsgroups, r = 64: our fit / TruncatedSVD",
            0.5,
            partial(goals.minilm_against, peer=TRUNCATED_SVD),
        ),
        Goal(
            "minilm_eigh",
            "MiniLM newsgroups, r = 64: our fit / PCA by covariance_eigh",
            2.5,
            partial(goals.minilm_against, peer=COVARIANCE_EIGH),
            wish=1.2,
        ),
        Goal(
            "pass20",
            _PRODUCTS + "r = 20",
            0.35,
            partial(textgoals.pass_against_scipy, r=20),
            wish=0.25,
        ),
        Goal(
            "pass100",
            _PRODUCTS + "r = 100",
            0.3,
            partial(textgoals.pass_against_scipy, r=100),
            wish=0.22,
        ),
        Goal("text20", _TEXT + "r = 20", 0.9, _text(20, 1e-4), wish=0.6),
        Goal("text20_loose", _TEXT + "r = 20, tol 1e-3", 0.6, _text(20, 1e-3), wish=0.4),
        Goal("text100", _TEXT + "r = 100", 1.2, _text(100, 1e-4), wish=0.8),
        Goal("text100_loose", _TEXT + "r = 100, tol 1e-3", 0.8, _text(100, 1e-3), wish=0.5),
        Goal("scipy20", _TEXT + "r = 20, no compiled kernels", 1.7, _plain(20, 1e-4)),
        Goal(
            "scipy20_loose", _TEXT + "r = 20, tol 1e-3, no compiled kernels", 1.1, _plain(20, 1e-3)
        ),
        Goal(
            "as_good20", _UNTIL + "r = 20", 0.4, partial(textgoals.until_as_good, r=20), wish=0.25
        ),
        Goal(
            "as_good100",
            _UNTIL + "r = 100",
            0.4,
            partial(textgoals.until_as_good, r=100),
            wish=0.25,
        ),
        Goal(
            "text4000",
            "4,000 x 2,000 text, r = 20: our fit / TruncatedSVD",
            2.0,
            goals.small_text_against_svd,
            wish=1.0,
        ),
        Goal(
            "million_time",
            _MILLION + "time of our fit / TruncatedSVD's",
            0.7,
            partial(textgoals.corner, data="million", what="seconds", r=50, tol=1e-3),
            wish=0.5,
        ),
        Goal(
            "million_memory",
            _MILLION + "memory of our fit / TruncatedSVD's",
            1.3,
            partial(textgoals.corner, data="million", what="resident", r=50, tol=1e-3),
            wish=1.0,
        ),
        Goal(
            "choice",
            'solver="auto" / the best solver, the worst of ten shapes',
            1.25,
            textgoals.choice,
        ),
        *_corners(),
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
    """Whether the limit is met; a fast wrong result meets none."""
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
        # Small data do not test a limit.
        "verdict": "not judged" if setting.quick and found.right else verdict(goal, found),
        "ours": found.ours,
        "peer": found.peer,
        "residual": found.residual,
        "tol": found.tol,
        "certificate_gap": found.gap,
        "note": found.note,
    }
