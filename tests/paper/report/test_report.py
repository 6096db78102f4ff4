"""The whole report: what is written, from how little, and that it is the same each time."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from paper.report import write_report
from sphericalpca.plotting.style import INK, PALETTE

HEADINGS = ("h1", "h2", "h3", "h4")


class Outline(HTMLParser):
    """Ids, links within the page, headings, and everything that would be loaded."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.headings, self.loaded = [], [], [], []
        self.images = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "a":
            self.links.append(given["href"])
        if tag in HEADINGS:
            self.headings.append(int(tag[1]))
        if tag == "svg":
            self.images.append(given)
        self.loaded += [given[name] for name in ("src", "srcset", "data") if name in given]
        if tag == "link":
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def outline(page):
    return Outline(page)


def test_files_are_written(folder):
    pictures = {path.name for path in (folder / "figures").iterdir()}
    assert {
        f"{name}.{kind}" for name in ("toy", "lsa", "uci") for kind in ("svg", "png")
    } <= pictures
    tables = {path.stem for path in (folder / "tables").iterdir()}
    assert {"newsgroups", "uci", "lsa-20", "paper-agreement", "convergence-toy"} <= tables
    assert not [path for path in folder.rglob("*") if path.name.startswith(".")]


def test_same_rows_same_bytes(folder, tmp_path):
    for name in ("rows", "convergence", "solvers", "toy"):
        (tmp_path / f"{name}.csv").write_bytes((folder / f"{name}.csv").read_bytes())
    assert write_report(tmp_path).page == tmp_path / "report.html"
    written = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    assert [path.relative_to(folder) for path in written] == [
        path.relative_to(tmp_path) for path in sorted(tmp_path.rglob("*")) if path.is_file()
    ]
    for path in written:
        assert path.read_bytes() == (tmp_path / path.relative_to(folder)).read_bytes(), path.name


def test_the_page_is_small_and_needs_nothing_else(page, outline):
    assert len(page.encode()) < 1_500_000
    assert all(address.startswith("data:") for address in outline.loaded)
    assert not re.search(r"url\((?!#)|@import|fetch\(|XMLHttpRequest", page)
    assert "default-src 'none'" in page


def test_links_lead_somewhere_and_ids_are_unique(outline):
    assert len(outline.ids) == len(set(outline.ids))
    assert {link.removeprefix("#") for link in outline.links} <= set(outline.ids)


def test_headings_descend_one_at_a_time(outline):
    assert outline.headings[0] == 1
    assert outline.headings.count(1) == 1
    steps = [b - a for a, b in zip(outline.headings, outline.headings[1:], strict=False)]
    assert max(steps) <= 1


def test_every_drawing_has_words_or_is_decoration(outline):
    for image in outline.images:
        assert image.get("aria-hidden") == "true" or (image["role"], bool(image["aria-label"])) == (
            "img",
            True,
        )


def test_nothing_changes_from_day_to_day(page):
    assert not re.search(r"\b20[2-9]\d-\d\d-\d\d\b", page)


def test_versions_and_choices_are_stated(page):
    for words in (
        "scikit-learn 1.9.1",
        "k-means seeds only",
        "Holm",
        "larger of the two entropies",
    ):
        assert words in page


@pytest.mark.parametrize("experiment", ["toy", "newsgroups", "rank", "uci", "lsa"])
def test_one_experiment_is_enough(tmp_path, write_rows, rows, experiment):
    part = rows[(rows["experiment"] == experiment) & ~rows["dataset"].isin(["mfeat", "glass"])]
    text = write_report(write_rows(tmp_path, part)).page.read_text(encoding="utf-8")
    assert f'<section id="{experiment}">' in text
    assert '<section id="convergence">' not in text
    assert "Not in these rows, so left out:" in text
    outline = Outline(text)
    assert {link.removeprefix("#") for link in outline.links} <= set(outline.ids)


def test_points_or_solvers_alone_are_enough(
    tmp_path, write_rows, toy_points, solver_runs, convergence
):
    text = write_report(write_rows(tmp_path / "toy", toy=toy_points)).page.read_text(
        encoding="utf-8"
    )
    assert "toy-canvas" in text
    folder = write_rows(tmp_path / "runs", convergence=convergence, solvers=solver_runs)
    text = write_report(folder).page.read_text(encoding="utf-8")
    assert "toy-canvas" not in text
    assert "figure-convergence-digits" in text


@pytest.mark.parametrize("method", ["spherical-pca", "svd-unit"])
def test_one_method_is_enough(tmp_path, write_rows, rows, method):
    """As in the middle of a run; what is not paired is not tested."""
    part = rows[(rows["method"] == method) & (rows["variant"] != "labels")]
    text = write_report(write_rows(tmp_path, part)).page.read_text(encoding="utf-8")
    assert "What the rows say" in text
    assert not re.search(r"Tested pair by pair|Against SVD|Against LSA|six methods Sph", text)


def test_few_repetitions_are_enough(tmp_path, write_rows, rows):
    part = rows[(rows["repetition"] == 0) & rows["experiment"].isin(["rank", "lsa"])]
    assert write_report(write_rows(tmp_path, part)).page.is_file()


def test_constants_have_real_subscripts(page):
    assert "L_c" not in page
    assert page.count("L<sub>c</sub>") > 4


def test_stand_ins_are_announced_and_have_no_paper_beside_them(tmp_path, write_rows, stand_in_rows):
    text = write_report(write_rows(tmp_path, stand_in_rows)).page.read_text(encoding="utf-8")
    assert "Stand-in data." in text
    assert "docstrings, iris, wine, breast-cancer, digits" in text
    assert "paper ." not in text
    assert "table-paper-agreement" not in text
    assert "paper's number" not in text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").replace(
        "the paper's numbers", ""
    )


def words_of(page):
    """The text of a page, without pictures, scripts and marks, in single spaces."""
    text = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    text = re.sub(r"<[^>]+>", " ", text).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return " ".join(text.split())


def words_from(folder):
    return words_of(write_report(folder).page.read_text(encoding="utf-8"))


def test_nothing_on_a_page_of_stand_ins_is_said_of_the_papers_data(
    tmp_path, write_rows, stand_in_rows
):
    text = words_from(write_rows(tmp_path, stand_in_rows))
    assert "Table 1's protocol, on docstrings" in text
    assert "Up to 200 documents per group" in text
    assert "these rows are not the paper's data, so they say nothing about its claims" in text
    for wrong in (
        *("Table 1: newsgroups", "Newsgroups:", "UCI", "drawn from each group"),
        *("names five groups", "what the paper prints", "numbers beside ours", "does not hold"),
        *("Always both", "how it prepared"),
    ):
        assert wrong not in text, wrong
    assert not list(tmp_path.glob("tables/claims.md"))


def test_a_page_of_the_papers_data_says_so(page):
    text = words_of(page)
    for right in (
        *("Table 1: newsgroups", "Table 2: UCI", "200 documents drawn from each group"),
        *("what the paper prints", "the paper's numbers beside ours", "Always both"),
        *("On text the paper's claim holds", "five groups that the paper names"),
    ):
        assert right in text, right
    assert "nothing about its claims" not in text
    assert "protocol" not in text


def test_two_repetitions_have_no_signs_and_no_intervals(tmp_path, write_rows, stand_in_rows):
    text = words_from(write_rows(tmp_path, stand_in_rows[stand_in_rows["repetition"] < 2]))
    tables = "".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("tables/*.md"))
    assert not re.search(r"[≈▲▼]|\[[^a-z]+\]|p [=<] \.", tables)
    assert "2 draws: too few to test." in text
    assert "level everywhere" not in text


def test_the_papers_own_data_need_no_banner(page):
    assert "Stand-in data." not in page


def test_rows_cannot_break_out_of_the_page(tmp_path, write_rows, rows):
    part = rows[rows["experiment"] == "toy"].assign(versions="<script>alert(1)</script>")
    text = write_report(write_rows(tmp_path, part)).page.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_a_report_that_fails_leaves_the_old_one(tmp_path, write_rows, rows, monkeypatch):
    folder = write_rows(tmp_path, rows[rows["experiment"] == "toy"])
    before = write_report(folder).page.read_bytes()

    def fail(self, other):
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_report(folder)
    assert (folder / "report.html").read_bytes() == before
    assert not [path for path in folder.rglob("*") if path.name.startswith(".")]


def colours(page, rule):
    block = re.search(rf"{re.escape(rule)} {{(.*?)}}", page, flags=re.DOTALL)[1]
    return dict(re.findall(r"--(\w+): (#\w+);", block))


def test_both_ways_into_the_dark_give_the_same_colours(page):
    chosen = colours(page, ':root[data-theme="dark"]')
    assert chosen == colours(page, ":root:not([data-theme])")
    assert set(chosen) == set(colours(page, ":root"))


def test_pictures_keep_their_colours_in_the_light(page):
    light = colours(page, ":root")
    assert [light[f"c{i}"] for i in range(10)] == [color.lower() for color in PALETTE]
    assert light["ink"] == INK


PATH_AND_TAG = 'x/../../../escaped"><script>alert(1)</script>'
PATTERN_AND_FORMULA = "$\\frac{$ \\1 \\g<0>"
LINES_AND_LINKS = "a\nb|c [x](javascript:alert(1)) <b> \x1b[2J\x00"


@pytest.fixture(params=["data", "solver"])
def renamed(request, solver_runs, convergence):
    """The files of the solvers, with another name in one of their columns."""
    some = convergence[request.param].iloc[0]
    tables = {"convergence": convergence, "solvers": solver_runs}
    return lambda name: {
        key: table.assign(**{request.param: table[request.param].replace(some, name)})
        for key, table in tables.items()
    }


@pytest.mark.parametrize("name", [PATH_AND_TAG, PATTERN_AND_FORMULA, LINES_AND_LINKS])
def test_names_in_rows_are_text_and_no_more(tmp_path, write_rows, renamed, name):
    """No file is written outside of the folder, and nothing becomes markup, in any file."""
    folder = tmp_path / "in" / "here"
    write_report(write_rows(folder, **renamed(name)))
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.parent for path in written} == {folder, folder / "figures", folder / "tables"}
    for path in written:
        if path.suffix in {".svg", ".html", ".md"}:
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"<script>alert|<b>|[\x00\x1b]", text), path.name
        if path.suffix == ".md":
            assert not re.search(r"(?<!\\)\]\(", text), path.name
            assert text.count("\n|") == len(re.findall(r"^\|.*\|$", text, re.MULTILINE))
        if path.suffix == ".svg":
            ElementTree.parse(path)  # ends in an error if a name broke it


def test_names_of_groups_are_no_paths(tmp_path, write_rows, rows):
    part = rows[rows["experiment"] == "lsa"].assign(groups="x/../../../escaped")
    folder = tmp_path / "in" / "here"
    write_report(write_rows(folder, part))
    assert (folder / "tables" / "lsa-x-escaped.md").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
