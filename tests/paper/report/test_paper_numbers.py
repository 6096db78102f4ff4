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


@pytest.mark.parametrize("groups", TABLE_1)
def test_table_1_is_the_papers(tex, groups):
    assert [x for m in PAPER_METHODS for x in TABLE_1[groups][m]] == printed(tex, groups)


@pytest.mark.parametrize("dataset", TABLE_2)
def test_table_2_is_the_papers(tex, dataset):
    classes = {"glass": 6, "diabetes": 2, "mfeat": 10, "isolet": 26}[dataset]
    found = printed(tex, f"{dataset} ({classes})")
    assert [x for m in PAPER_METHODS for x in TABLE_2[dataset][m]] == found


def test_two_classes_are_those_with_sizes():
    assert set(CLASS_SIZES) <= set(TABLE_2)
    assert all(len(sizes) == 2 for sizes in CLASS_SIZES.values())


def test_the_paper_has_no_line_for_random_groups_or_stand_ins():
    assert paper_pair("newsgroups", "20newsgroups", "5 named", "kmeans") == Pair(0.651, 0.621)
    assert paper_pair("newsgroups", "20newsgroups", "5", "kmeans") is None
    assert paper_pair("newsgroups", "docstrings", "10", "kmeans") is None
    assert paper_pair("uci", "iris", "3", "kmeans") is None
    assert paper_pair("uci", "breast-cancer", "2", "kmeans") is None
    assert paper_pair("lsa", "20newsgroups", "20", "spherical-pca") is None
    assert paper_pair("uci", "glass", "6", "svd-unit") is None


def test_views_of_mfeat_stand_beside_mfeat():
    assert paper_pair("uci", "mfeat-fac", "10", "pca") == TABLE_2["mfeat"]["pca"]
