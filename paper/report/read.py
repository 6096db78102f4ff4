"""The flat files of the experiments, read and checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from paper import journal
from paper.methods import METHODS
from sphericalpca.exceptions import DataError, printable

__all__ = ["MEASURES", "STAND_INS", "Results", "read_results"]

# Measures of a clustering, and their names on the page.
MEASURES = {
    "accuracy": "accuracy",
    "nmi_max": "NMI",
    "nmi_arithmetic": "NMI, arithmetic mean",
    "ari": "adjusted Rand",
}

# Data that ship with the dependencies and replace the paper's if these are missing.
STAND_INS = frozenset({"docstrings", "iris", "wine", "breast-cancer", "digits"})

# Columns that hold words even where they look like numbers.
WORDS = (
    *("experiment", "dataset", "groups", "variant", "method", "parameters", "note", "made_with"),
    *("data", "solver", "start", "rate", "stop_reason"),
)

# What the report needs of the files that are written in one step.
COLUMNS = {
    "convergence.csv": ["data", "solver", "passes", "objective", "delta_U", "delta_V"],
    "solvers.csv": [
        *("data", "solver", "lipschitz", "lam", "mu", "applies", "p1_held", "p1_steps"),
        *("largest_subgradient_ratio", "rate", "rho", "exponent", "iterations", "passes"),
        *("objective", "residual", "gap", "rigorous"),
    ],
    "toy.csv": [
        *("x", "y", "z", "group", "kmeans", "spherical", "v1", "v2"),
        *("u11", "u12", "u21", "u22", "u31", "u32"),
    ],
}


@dataclass(frozen=True)
class Results:
    """What was measured; a frame is empty where its file is missing.

    Attributes
    ----------
    rows : DataFrame, one line per clustering
    convergence : DataFrame, one line per iteration of a solver
    solvers : DataFrame, one line per run of a solver
    toy : DataFrame, one line per point of the toy draw shown
    """

    rows: pd.DataFrame
    convergence: pd.DataFrame
    solvers: pd.DataFrame
    toy: pd.DataFrame

    @property
    def stand_ins(self) -> list[str]:
        """The data sets that are not the paper's, in the order of the rows."""
        return [name for name in self.rows["dataset"].unique() if name in STAND_INS]

    def starts(self, data: str) -> dict[str, str]:
        """Where each solver starts on one data set, as far as it was noted."""
        if "start" not in self.solvers:
            return {}
        part = self.solvers[self.solvers["data"] == data].dropna(subset=["start"])
        return dict(zip(part["solver"], part["start"], strict=True))

    def stand_ins_of(self, experiment: str) -> list[str]:
        """The data sets of one experiment, where none of them is the paper's."""
        names = list(self.rows.loc[self.rows["experiment"] == experiment, "dataset"].unique())
        return names if set(names) <= STAND_INS else []

    @property
    def made_with(self) -> list[str]:
        """The versions the rows were computed with."""
        return sorted(self.rows["made_with"].dropna().unique())


def read_results(folder: Path) -> Results:
    """Read whatever of the four files is in `folder`.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    Results

    Raises
    ------
    DataError
        Where there is nothing to report, or a file breaks a rule.
    """
    rows = _read_rows(folder / "rows.csv")
    convergence, solvers, toy = (_read(folder / name) for name in COLUMNS)
    if rows.empty and convergence.empty and toy.empty:
        raise DataError(
            f"{folder} has no rows.csv, convergence.csv or toy.csv with a line in it, so there "
            "is nothing to report",
            remedy="run `python -m paper reproduce` first",
        )
    _check_rows(rows, folder / "rows.csv")
    return Results(rows, convergence, solvers, toy)


def _read_rows(path: Path) -> pd.DataFrame:
    """The rows as the runner reads them: complete lines, and of repeated ones the last."""
    rows = journal.Journal(path).rows.values()
    frame = pd.DataFrame(list(rows), columns=list(journal.COLUMNS), dtype=object)
    frame = frame.where(frame != "")
    for name in frame.columns.difference(WORDS):
        frame[name] = _numbers(frame[name], path)
    return _with_printable_words(frame)


def _with_printable_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows may be untrusted: their text goes to pages, pictures and the terminal."""
    for name in frame.columns.intersection(WORDS):
        frame[name] = frame[name].map(printable, na_action="ignore")
    return frame


def _numbers(column: pd.Series[Any], path: Path) -> pd.Series[Any]:
    try:
        return pd.to_numeric(column)
    except ValueError as error:
        raise DataError(
            f"{path} has a {column.name} that is not a number ({printable(error, 200)})",
            remedy="remove the line; `python -m paper reproduce` measures it again",
        ) from None


def _read(path: Path) -> pd.DataFrame:
    columns = COLUMNS[path.name]
    if not path.is_file() or path.stat().st_size == 0:
        return pd.DataFrame(columns=columns)
    frame = pd.read_csv(path, dtype=dict.fromkeys(WORDS, str))
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise DataError(
            f"{path} has no column {', '.join(missing)}",
            remedy="write it again with this version of `python -m paper reproduce`",
        )
    return _with_printable_words(frame)


def _check_rows(rows: pd.DataFrame, path: Path) -> None:
    unknown = sorted(set(rows["method"]) - set(METHODS))
    if unknown:
        raise DataError(
            f"{path} names methods that are not known: {', '.join(unknown)}",
            f"must name some of {', '.join(METHODS)}",
        )
    for measure in MEASURES:
        wrong = rows.loc[rows[measure].abs() > 1, measure]
        if not wrong.empty:
            raise DataError(f"{path} has {measure} {wrong.iloc[0]}", "it must be at most 1")
