"""The whole report: what is written, from how little, and that it is the same each time."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from paper.plan import EXPERIMENTS
from paper.report import write_report

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


def test_files_are_written_with_the_same_bytes_each_time(folder, rows, write_rows, tmp_path):
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {f"figures/{name}.{kind}" for name in ("toy", "lsa") for kind in ("svg", "png")} <= names
    assert {f"tables/{name}.md" for name in ("uci", "lsa-20", "paper-agreement")} <= names
    assert not [name for name in names if "/." in f"/{name}"]
    found = []
    for name in ("one", "two"):
        place = write_rows(tmp_path / name, rows[rows["experiment"].isin(["toy", "rank"])])
        assert write_report(place).page == place / "report.html"
        files = [path for path in place.rglob("*") if path.is_file()]
        found.append({path.relative_to(place): path.read_bytes() for path in files})
    assert found[0] == found[1]


def test_the_page_is_small_and_needs_nothing_else(page, outline):
    assert len(page.encode()) < 1_500_000
    assert all(address.startswith("data:") for address in outline.loaded)
    assert not re.search(r"url\((?!#)|@import|fetch\(|XMLHttpRequest", page)
    assert "default-src 'none'" in page
    assert not re.search(r"\b20[2-9]\d-\d\d-\d\d\b", page), "nothing changes from day to day"


def test_the_page_is_well_made(page, outline):
    assert len(outline.ids) == len(set(outline.ids))
    assert {link.removeprefix("#") for link in outline.links} <= set(outline.ids)
    assert outline.headings[0] == outline.headings.count(1) == 1
    steps = [b - a for a, b in zip(outline.headings, outline.headings[1:], strict=False)]
    assert max(steps) <= 1, "headings descend one at a time"
    for image in outline.images:
        assert image.get("aria-hidden") == "true" or (
            image["role"] == "img" and image["aria-label"]
        )
    for words in (
        "scikit-learn 1.9.1",
        "k-means seeds only",
        "Holm",
        "larger of the two entropies",
    ):
        assert words in page
    assert "L_c" not in page
    assert page.count("L<sub>c</sub>") > 4


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_one_experiment_is_enough(tmp_path, write_rows, rows, experiment):
    part = rows[(rows["experiment"] == experiment) & ~rows["dataset"].isin(["mfeat", "glass"])]
    if experiment in {"rank", "lsa"}:
        part = part[part["repetition"] == 0]  # and so is one repetition
    text = write_report(write_rows(tmp_path, part)).page.read_text(encoding="utf-8")
    assert f'<section id="{experiment}">' in text
    assert '<section id="convergence">' not in text
    assert "Not in these rows, so left out:" in text
    outline = Outline(text)
    assert {link.removeprefix("#") for link in outline.links} <= set(outline.ids)


@pytest.mark.usefixtures("undrawn")
def test_nothing_on_a_page_of_stand_ins_is_said_of_the_papers_data(
    tmp_path, write_rows, stand_in_rows
):
    page = write_report(write_rows(tmp_path, stand_in_rows)).page.read_text(encoding="utf-8")
    assert "table-paper-agreement" not in page
    text = words_of(page)
    for right in (
        *("Stand-in data.", "docstrings, iris, wine, breast-cancer, digits"),
        *("Table 1's protocol, on docstrings", "Up to 200 documents per group"),
        "these rows are not the paper's data, so they say nothing about its claims",
    ):
        assert right in text, right
    for wrong in (
        *("Table 1: newsgroups", "Newsgroups:", "UCI", "drawn from each group", "paper ."),
        *("names five groups", "what the paper prints", "numbers beside ours", "does not hold"),
        *("Always both", "how it prepared"),
    ):
        assert wrong not in text, wrong
    assert "paper's number" not in text.replace("the paper's numbers", "")
    assert not list(tmp_path.glob("tables/claims.md"))


def words_of(page):
    """The text of a page, without pictures, scripts and marks, in single spaces."""
    text = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    text = re.sub(r"<[^>]+>", " ", text).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return " ".join(text.split())


PATH_AND_TAG = 'x/../../../escaped"><script>alert(1)</script>'
PATTERN_AND_FORMULA = "$\\frac{$ \\1 \\g<0>"
LINES_AND_LINKS = "a\nb|c [x](javascript:alert(1)) <b> \x1b[2J\x00"


def test_names_in_rows_are_text_and_no_more(tmp_path, write_rows, rows, solver_runs, convergence):
    """No file is written outside of the folder, and nothing becomes markup, in any file."""
    folder, tag = tmp_path / "in" / "here", "<script>alert(1)</script>"
    one, two, *_ = convergence["solver"].unique()
    names = {one: PATTERN_AND_FORMULA, two: LINES_AND_LINKS}
    convergence, solvers = (
        table.replace({"solver": names, "data": {"toy": PATH_AND_TAG}})
        for table in (convergence, solver_runs)
    )
    lsa = rows[rows["experiment"] == "lsa"].assign(groups="x/../../../escaped", made_with=tag)
    write_report(write_rows(folder, lsa, convergence=convergence, solvers=solvers))
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.parent for path in written} == {folder, folder / "figures", folder / "tables"}
    assert (folder / "tables" / "lsa-x-escaped.md").is_file()
    assert "&lt;script&gt;alert" in (folder / "report.html").read_text(encoding="utf-8")
    for path in written:
        if path.suffix in {".svg", ".html", ".md"}:
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"<script>alert|<b>|[\x00\x1b]", text), path.name
        if path.suffix == ".md":
            assert not re.search(r"(?<!\\)\]\(", text), path.name
            assert text.count("\n|") == len(re.findall(r"^\|.*\|$", text, re.MULTILINE))
        if path.suffix == ".svg":
            ElementTree.parse(path)  # ends in an error if a name broke it
