"""What tables and pictures call the lines that they show."""

from __future__ import annotations

from collections.abc import Sequence

from sphericalpca.experiments.report.compare import Line

__all__ = ["groups_of", "stand_in", "table_number"]

TITLES = {"newsgroups": "Table 1", "uci": "Table 2"}


def groups_of(line: Line) -> str:
    """How many groups of which data."""
    groups = f"{line.key.groups} groups"
    return f"{line.key.dataset}, {groups}" if line.stands_in else groups


def stand_in(lines: Sequence[Line]) -> bool:
    """Whether none of the data are those of the paper."""
    return all(line.stands_in for line in lines)


def table_number(lines: Sequence[Line], table: str) -> str:
    """The paper's table, or its protocol where the data are not the paper's."""
    return f"{TITLES[table]}'s protocol" if stand_in(lines) else TITLES[table]
