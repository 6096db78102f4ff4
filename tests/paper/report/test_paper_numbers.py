"""The paper's 96 numbers are those of the paper."""

import re
from pathlib import Path

import pytest

from paper.printed import (
    CLASS_SIZES,
    PAPER_METHODS,
    TABLE_1,
    TABLE_2,
    Pair,
    paper_pair,
)

TEX = Path(__file__).parents[4] / "shared" / "paper" / "spherical_pca.tex"


@pytest.fixture(scope="module")
def tex():
    if not TEX.is_file():
        pytest.skip("the paper's source is not there")
    return TEX.read_text(encoding="utf-8")


def printed(tex, first):
    """The twelve numbers of the table line that starts with `first`."""
    line = re.search(rf"^\s*{re.escape(first)}\s*&(.*)\\\\", tex, flags=re.MULTILINE)[1]
    return [float(number) for number in re.findall(r"\d\.\d+", line)]


def test_there_are_96():
    cells = [
        pair for table in (TABLE_1, TABLE_2) for line in table.values() for pair in line.values()
    ]
    assert 2 * len(cells) == 96
    assert all(0 < number < 1 for pair in cells for number in pair)


def test_table_1_is_the_papers(tex):
    for groups, line in TABLE_1.items():
        assert [x for m in PAPER_METHODS for x in line[m]] == printed(tex, groups)


def test_table_2_is_the_papers(tex):
    classes = {"glass": 6, "diabetes": 2, "mfeat": 10, "isolet": 26}
    for dataset, line in TABLE_2.items():
        found = printed(tex, f"{dataset} ({classes[dataset]})")
        assert [x for m in PAPER_METHODS for x in line[m]] == found


def test_the_paper_has_no_line_for_random_groups_or_stand_ins():
    assert set(CLASS_SIZES) <= set(TABLE_2)
    assert all(len(sizes) == 2 for sizes in CLASS_SIZES.values())
    assert paper_pair("newsgroups", "20newsgroups", "5 named", "kmeans") == Pair(0.651, 0.621)
    assert paper_pair("uci", "mfeat-fac", "10", "pca") == TABLE_2["mfeat"]["pca"]
    for where in (
        ("newsgroups", "20newsgroups", "5", "kmeans"),
        ("newsgroups", "docstrings", "10", "kmeans"),
        ("uci", "iris", "3", "kmeans"),
        ("uci", "breast-cancer", "2", "kmeans"),
        ("lsa", "20newsgroups", "20", "spherical-pca"),
        ("uci", "glass", "6", "svd-unit"),
    ):
        assert paper_pair(*where) is None
