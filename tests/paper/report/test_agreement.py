"""The paper compared with ours: every number once, rankings, impossible pairs by ceilings."""

import math

import pytest
from scipy.stats import spearmanr

from paper.printed import PAPER_METHODS, TABLE_1, TABLE_2, Pair
from paper.report.agreement import main_lines, matches, order_agreement
from paper.report.compare import compare
from paper.report.doubt import Doubt, doubts


@pytest.fixture(scope="module")
def main(lines):
    return [*main_lines(lines, "newsgroups"), *main_lines(lines, "uci")]


def test_every_number_of_the_paper_stands_beside_one_of_ours(main, stand_in_rows):
    found = matches(main)
    theirs = [
        x for t in (TABLE_1, TABLE_2) for line in t.values() for p in line.values() for x in p
    ]
    assert sorted(match.paper for match in found) == sorted(theirs)
    for match in found:
        assert match.difference == pytest.approx(match.cell.mean - match.paper)
    assert matches(compare(stand_in_rows)) == []


def test_order_agrees_with_scipy(main):
    for line in main:
        for measure, field in (("accuracy", 0), ("nmi_max", 1)):
            own = [line.cells[measure][m].mean for m in PAPER_METHODS]
            table = TABLE_2.get(line.key.dataset) or TABLE_1.get(
                {"5 named": "5", "5": "none"}.get(line.key.groups, line.key.groups)
            )
            found = order_agreement(line, measure)
            if table is None:
                assert found != found  # noqa: PLR0124 - NaN
                continue
            printed = [table[m][field] for m in PAPER_METHODS]
            assert found == pytest.approx(spearmanr(printed, own).statistic)


@pytest.mark.parametrize(
    ("nmi", "verdict"),
    [
        (0.4, "possible"),
        (0.4005, "possible"),
        (0.402, "only a mean of very unequal runs"),
        (0.6, "only a mean of very unequal runs"),
        (0.602, "impossible"),
    ],
)
def test_verdicts_follow_the_ceilings(nmi, verdict):
    assert Doubt("diabetes", "pca", Pair(0.7, nmi), 0.4, 0.6).verdict == verdict


def test_three_of_the_papers_pairs_are_impossible():
    impossible = {doubt.pair for doubt in doubts().values() if doubt.verdict == "impossible"}
    assert impossible == {(0.775, 0.632), (0.788, 0.654), (0.761, 0.613)}
    assert all(doubt.verdict != "possible" for doubt in doubts().values())
    none = {doubt.pair.accuracy for doubt in doubts().values() if math.isnan(doubt.one)}
    assert none == {0.761, 0.808}
    # An accuracy of no clustering can only be that of a mean.
    doubt = Doubt("diabetes", "pca", Pair(0.761, 0.1), math.nan, 0.6)
    assert doubt.verdict == "only a mean of very unequal runs"
