"""Names of tables, pictures and their lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from paper.report.compare import ComparisonLine

__all__ = ["file_name", "groups_of", "stand_in", "table_number"]

TITLES = {"newsgroups": "Table 1", "uci": "Table 2", "embeddings": "Table 4"}


def file_name(*parts: str) -> str:
    """A safe name for a file and for ids on the page.

    Rows may come from an untrusted source, and "../x" is a parent folder.
    """
    return re.sub(r"[^0-9A-Za-z]+", "-", "-".join(parts)).strip("-")


def groups_of(line: ComparisonLine) -> str:
    """The number of groups, and the data if they are not the paper's."""
    groups = f"{line.key.groups} groups"
    return f"{line.key.dataset}, {groups}" if line.stands_in else groups


def stand_in(lines: Sequence[ComparisonLine]) -> bool:
    """Whether none of the data are those of the paper."""
    return all(line.stands_in for line in lines)


def table_number(lines: Sequence[ComparisonLine], table: str) -> str:
    """The paper's table, or its protocol where the data are not the paper's."""
    return f"{TITLES[table]}'s protocol" if stand_in(lines) else TITLES[table]
