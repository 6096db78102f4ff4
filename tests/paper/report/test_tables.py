"""Tables: numbers as printed, both ways of writing them, the paper's beside ours."""

import re

import numpy as np
import pytest

from paper.methods import METHODS
from paper.printed import TABLE_1, TABLE_2
from paper.report import summary_markdown
from paper.report.agreement import lines_by_reading
from paper.report.tables.constants import constants_table, sweeps
from paper.report.tables.entries import plain_number, probability
from paper.report.tables.markdown import to_markdown
from paper.report.tables.paper import doubt_table
from sphericalpca.pages.tables import NONE, NOTHING, Entry, Row, Table, share, shift


def number(text):
    return float(text.replace("\N{MINUS SIGN}", "-").replace("±", ""))


def test_numbers_read_back_as_they_were():
    for value in (0.7424, 0.0, 1.0, 0.9996, -0.12, -0.0001, 0.0005, -1.0):
        assert number(share(value)) == pytest.approx(value, abs=0.00051)
        assert number(shift(value)) == pytest.approx(value, abs=0.00051)
        assert not share(value).startswith("0")
        assert shift(value)[0] in "+±\N{MINUS SIGN}"
    for value in (472.31, 1.4e-7, 0.0132, 123456.0, 20.01236, 0.0, 3e12, 1e-300):
        assert number(plain_number(value).replace(",", "")) == pytest.approx(value, rel=0.006)
    for p in (1.0, 0.05, 0.002):
        assert number(probability(p).removeprefix("p = ")) == pytest.approx(p, abs=0.0006)
    assert probability(0.0004) == probability(1e-9) == "p < .001"
    assert {share(np.nan), shift(np.inf), plain_number(np.nan), probability(np.nan)} == {NONE}


def test_every_line_has_as_many_cells(content):
    for table in content.tables.values():
        for row in table.rows:
            assert len(row.entries) == len(table.columns), table.name
        if table.over:
            assert sum(width for _, width in table.over) == len(table.columns)
        lines = [line for line in to_markdown(table).splitlines() if line.startswith("|")]
        cells = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
        assert len(cells) == 1, table.name
        assert len(lines) == 2 + len(table.rows)
        assert lines[0].count("|") - 1 == len(set(lines[0].split("|"))) - 1, "names repeat"


def test_markdown_escapes_bars_and_marks_the_best():
    row = Row("a|b", "", (Entry(".5", "±.1", ("paper .6", "-.1"), best=True, sign="▼"),))
    text = to_markdown(Table("t", "Title", "Caption.", "Head", ("c",), (row,)))
    assert r"| a\|b | **.5** ★ ±.1 ▼<br>paper .6<br>-.1 |" in text
    assert text.endswith("Caption.\n")


@pytest.mark.parametrize(("name", "printed"), [("newsgroups", TABLE_1), ("uci", TABLE_2)])
def test_every_printed_number_stands_beside_ours_with_the_difference(content, name, printed):
    table = content.tables[name]
    seen = []
    for row in table.rows:
        for entry in row.entries[:6]:
            papers = [line for line in entry.below if line.startswith("paper ")]
            if papers:
                paper = number(papers[0].removeprefix("paper "))
                difference = number(entry.below[entry.below.index(papers[0]) + 1])
                assert difference == pytest.approx(number(entry.text) - paper, abs=0.0011)
                seen.append(paper)
        assert all(not line.startswith("paper") for e in row.entries[6:] for line in e.below)
    theirs = [x for line in printed.values() for pair in line.values() for x in pair]
    assert sorted(seen) == pytest.approx(sorted(theirs))


def test_signs_and_stars_follow_the_cells(content, lines):
    line = next(ln for ln in lines if ln.key[:4] == ("uci", "glass", "6", "unit"))
    table = content.tables["uci"]
    for label, entry in zip(table.columns, table.rows[0].entries, strict=True):
        cell = next(c for m, c in line.cells["accuracy"].items() if METHODS[m].label == label)
        assert entry.best == cell.best
        expected = {"ahead": "▼", "behind": "▲", "level": "≈", "open": "", "untested": ""}[
            cell.outcome
        ]
        assert entry.sign == expected
        assert bool(entry.meaning) == bool(entry.sign)
    assert table.columns[table.accent] == "Spherical PCA"


def test_lsa_tables_have_differences_intervals_and_seconds(content, lines):
    for name in ("lsa-20", "lsa-4"):
        for row in content.tables[name].rows:
            for lsa, ours, gain in zip(*(row.entries[i:9:3] for i in range(3)), strict=True):
                assert number(gain.text) == pytest.approx(
                    number(ours.text) - number(lsa.text), abs=0.0011
                )
    table = content.tables["lsa-20"]
    line = next(ln for ln in lines if ln.key == ("lsa", "20newsgroups", "20", "seeds", 4))
    assert ("CPU seconds", 2) in table.over
    shown = [number(entry.text) for entry in table.rows[0].entries[9:11]]
    expected = [line.seconds[method] for method in ("svd-unit", "spherical-pca")]
    assert shown == pytest.approx(expected, rel=0.06)
    below = [row.entries[2].below for row in table.rows]
    p_values = [sum(line.startswith("p") for line in lines) for lines in below]
    assert p_values == [1] * 5 + [0] * 5, "replicates have no p"
    assert all(lines[0].startswith("[") for lines in below)


def test_solver_tables_say_what_the_theory_says(content):
    rows = {row.head: [entry.text for entry in row.entries] for row in doubt_table().rows}
    assert {head for head, texts in rows.items() if texts[2] == "none has it"} == {"PCA", "R1-PCA"}
    table = content.tables["convergence-toy"]
    rows = {row.head: [entry.text for entry in row.entries] for row in table.rows}
    applies, held = (table.columns.index(name) for name in ("Theory applies", "P1 held"))
    theory = rows["Algorithm 1 with the theory's constants"]
    assert (theory[applies], theory[held]) == ("yes", "400 of 400")
    assert rows["Algorithm 1 with the authors' 75"][applies] == "no"
    assert rows["exact alternation"][applies] == NONE


def test_summary_shows_table_1_and_the_papers_spherical_pca(rows, exact_rows):
    assert summary_markdown(rows[rows["experiment"] == "uci"]) == ""
    lines = summary_markdown(rows).splitlines()
    assert len(lines) == 2 + 5
    assert lines[2].startswith("| 5 named groups |")
    assert lines[2].endswith("| .838 / .695 |")
    assert lines[3].endswith(f"| {NONE} |")
    assert len({line.count("|") for line in lines}) == 1
    for line in lines[2:]:
        cells = [cell.strip() for cell in line.split("|")[2:8]]
        assert cells[4].count("**") == 4, "Spherical PCA has both means highest in these rows"
        assert "**" not in "".join(cells[:4] + cells[5:])
    where = ("newsgroups", "20newsgroups", "10", "main")
    means = {"kmeans": 0.5, "spherical-pca": 0.6, "spherical-kmeans": 0.7, "k-svd": 0.65}
    rows = exact_rows(where, {method: [mean, mean] for method, mean in means.items()})
    assert summary_markdown(rows).count("**.700**") == 2
    rows = rows[rows["method"] != "spherical-kmeans"]
    assert "**" not in summary_markdown(rows), "K-SVD is best, and has no column"


def test_both_readings_stand_side_by_side_and_constants_in_a_grid(content, lines):
    table = content.tables["newsgroups-both"]
    assert [row.head for row in table.rows[::2]] == [
        *("MUA + unit rows", "PCA + unit rows", "R1-PCA + unit rows", "K-SVD + unit rows"),
        *("SVD + unit rows", "Spherical k-means"),
    ]
    by_reading = lines_by_reading(lines)
    for reading, place in (("main", 0), ("labels", 1)):
        gain = by_reading[reading][0].cells["accuracy"]["pca-unit"].gain
        shown = table.rows[2].entries[0].below[0].split(" / ")[place]
        assert number(shown) == pytest.approx(gain.mean, abs=0.00051)
    assert {row.head for row in content.tables["newsgroups-readings"].rows} == {
        "words chosen by the documents",
        "words chosen by the labels",
    }
    table = content.tables["constants-text"]
    assert [row.head for row in table.rows] == ["0.1", "1.01"]
    assert [[entry.best for entry in row.entries] for row in table.rows] == [[False, True]] * 2
    assert "5 k-means seeds" in content.tables["starts"].caption
    assert "embeddings-paired" in content.tables


def test_dashes_are_explained_and_only_where_there_are_some(content):
    dashed = {
        name: any(entry.text == NONE for row in table.rows for entry in row.entries)
        for name, table in content.tables.items()
    }
    assert {True, False} == set(dashed.values())
    for name, table in content.tables.items():
        assert (f"{NONE} does not apply" in table.caption) == dashed[name]


def test_a_gap_in_the_grid_is_left_empty(rows):
    part = rows[(rows["dataset"] == "toy") & (rows["variant"] != "1.01 and 0.1")]
    (sweep,) = sweeps(part)
    assert constants_table(sweep, name="x").rows[1].entries[0] == NOTHING
    assert sweeps(part[part["variant"] != "default solver"]) == []
