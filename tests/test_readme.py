"""What the README shows is what happens."""

from __future__ import annotations

import contextlib
import csv
import io
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_digits

from benchmarks.readme import results_table
from paper.report.compare import compare
from paper.report.findings import headlines
from paper.report.read import read_results
from sphericalpca.cli.app import app
from sphericalpca.datasets import load_docstrings
from sphericalpca.metrics import paired_difference

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
WORDS = " ".join(TEXT.split())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Every Python block in order, in one session: the names left, what was printed."""
    names: dict[str, object] = {}
    printed = io.StringIO()
    folder = tmp_path_factory.mktemp("readme")
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        for block in _blocks():
            exec(block, names)
    return names, printed.getvalue().split()


def _blocks():
    return re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_the_numbers_and_claims_in_the_comments_hold(run):
    names, printed = run
    claimed = re.findall(r"print\(.*\)\s+# ([\d.e-]+):", "".join(_blocks()))
    assert len(claimed) == 3
    # A gap near rounding of the data is not the same to the last digit everywhere.
    for claim, found in zip(claimed, printed, strict=True):
        assert float(found) == pytest.approx(float(claim), rel=0.05)
    assert names["V"].shape == (1797, 10)


def test_the_commands_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("vectors.npy", load_digits().data.astype(np.float32))
    for name, part in (("texts.csv", slice(0, None, 5)), ("new.csv", slice(1, None, 50))):
        with Path(name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(
                [["text"], *([text] for text in load_docstrings().texts[part])]
            )
    commands = re.findall(r"^sphericalpca .*", TEXT, re.MULTILINE)
    assert len(commands) == 7
    for command in commands:
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        assert result.exit_code == 0, result.output
    for written in ("groups/groups.csv", "groups/index.html", "new-groups.csv", "found.csv"):
        assert (tmp_path / written).is_file()
    assert (tmp_path / "evaluation" / "evaluation.html").is_file()


def test_the_table_is_the_one_that_the_rows_give():
    shown = re.search(r"<!-- results -->\n(.*?)<!-- end of results -->", TEXT, re.S)[1]
    assert shown == results_table(ROOT)
    ours, *_ = re.findall(r"\| Group the same posts as MiniLM vectors \(NMI\) \| (\S+) \|", shown)
    assert "**" not in ours, "losses are shown"


def test_what_is_said_of_the_paper_is_what_its_report_says():
    results = read_results(ROOT / "paper" / "results")
    found = " ".join(line.text for line in headlines(results, compare(results.rows)))
    near, labels = re.search(
        r"48 in Table 1, (\d+) lie within \.05 of ours \((\d+) with the other", WORDS
    ).groups()
    assert f"numbers of Table 1 beside ours, {near} lie within 0.05 with words" in found
    assert f"and {labels} lie within 0.05 with words chosen by the labels" in found
    assert "of the 48 in Table 2, none" in WORDS
    assert "numbers of Table 2 beside ours, 0 lie within 0.05" in found
    readings = " and ".join(f"with words chosen by the {name}" for name in ("documents", "labels"))
    assert f"accuracy and NMI in all 5 rows {readings}" in found
    means = re.findall(r"Against SVD \+ unit rows: (.*?)\. ", found)
    assert "behind" not in means[0]


def test_on_the_named_newsgroups_unit_rows_are_most_of_the_margin():
    where = ("newsgroups", "5 named")
    rows = _rows("paper/results/rows.csv")
    rows = [row for row in rows if (row["experiment"], row["groups"]) == where]
    assert {row["clusterings"] for row in rows} == {"5"}
    assert len({row["repetition"] for row in rows}) == 40

    def accuracies(variant, method):
        chosen = [row for row in rows if (row["variant"], row["method"]) == (variant, method)]
        return np.array([float(row["accuracy"]) for row in chosen])

    def gain(variant, rival):
        return paired_difference(accuracies(variant, "spherical-pca"), accuracies(variant, rival))

    for variant in ("main", "labels"):
        assert gain(variant, "svd-unit").low > 0
        assert gain(variant, "spherical-kmeans").low < 0 < gain(variant, "spherical-kmeans").high
    assert gain("main", "pca-unit").low < 0 < gain("main", "pca-unit").high
    shown = re.search(r"`PCA` \+ unit rows is behind \((\.\d+) against (\.\d+)\)", WORDS)
    means = [accuracies("labels", name).mean() for name in ("pca-unit", "spherical-pca")]
    assert list(shown.groups()) == [f"{mean:.3f}".lstrip("0") for mean in means]


def test_on_embeddings_it_ties_with_an_svd():
    (row,) = (row for row in _rows("docs/measurements/embeddings.csv") if row["r"] == "64")
    assert abs(float(row["Spherical PCA"]) - float(row["SVD + unit rows"])) < 0.005
    assert float(row["svd_ratio"]) > 0.9999


def _rows(path):
    with (ROOT / path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_it_opens_with_three_sentences_and_a_picture_and_links_lead_somewhere():
    assert len(TEXT.splitlines()) <= 150
    _, opening, picture, caption, *_ = TEXT.split("\n\n")
    assert len(re.findall(r"\.(?:\*\*)?\s", opening + " ")) == 3
    assert picture.startswith("![")
    shown = re.search(r"k-means reaches ([\d.]+)% .*? and ([\d.]+)%", " ".join(caption.split()))
    rows = _rows("docs/measurements/topics.csv")
    assert list(shown.groups()) == [f"{100 * float(row['right']):.1f}" for row in rows]
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", TEXT)
    assert links
    for link in links:
        assert (ROOT / link).exists(), link
