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

from benchmarks.embeddings import embeddings_table, recall_markdown
from benchmarks.summary import readme_table
from paper.report import summary_markdown
from paper.report.compare import compare
from paper.report.findings import headlines
from paper.report.read import read_results
from sphericalpca import open_rows
from sphericalpca.cli.app import app

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
    theory = names["analyse"](names["paper"].history_, names["paper"].constants_)
    assert theory.applies
    assert theory.sufficient_decrease.all()
    cats, stocks = set(names["found"][:2]), set(names["found"][2:])
    assert len(cats) == len(stocks) == 1
    assert cats != stocks
    X, mean_cosine = names["X"], names["model"].mean_cosine_
    assert names["model"].score(X) == pytest.approx(mean_cosine, rel=1e-5)
    assert names["stream"].score(X) == pytest.approx(mean_cosine, rel=5e-3)


def test_the_commands_run_and_write_other_files_than_python(tmp_path, monkeypatch):
    pytest.importorskip("faiss")
    monkeypatch.chdir(tmp_path)
    X = load_digits().data.astype(np.float32)
    np.save("digits.npy", X)
    np.save("vectors.npy", X)
    commands = re.findall(
        r"^sphericalpca (?:fit|transform|choose|evaluate|export) .*", TEXT, re.MULTILINE
    )
    assert len(commands) == 5
    for command in commands:
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        assert result.exit_code == 0, result.output
    assert open_rows("small.parquet").shape == (len(X), 10)
    assert (tmp_path / "reducer.faiss").is_file()
    assert (tmp_path / "evaluation" / "evaluation.html").is_file()
    written = re.findall(r"-o (\S+)", TEXT)
    saved = re.findall(r'save\("([^"]+)"', TEXT)
    assert len(written) == len(set(written)) >= 4
    assert saved
    assert not {"vectors.npy", *written} & set(saved)


def test_the_recalls_are_those_that_the_benchmark_measured():
    results = ROOT / "benchmarks" / "results"
    assert _shown("recall") == recall_markdown(results)
    rows = [row for row in embeddings_table(results).read() if row["part"] == "recall"]
    found = {(row["method"], row["r"]): float(row["recall"]) for row in rows}
    lost = [100 * (found["refit", r] - found["pca-dot", r]) for r in ("64", "128", "192")]
    least, most = re.search(r"dot product, which .*?, loses (\d+) to (\d+) points", WORDS).groups()
    assert (round(min(lost)), round(max(lost))) == (int(least), int(most))
    for row in rows:
        assert {f"{int(row['n']):,}", f"{int(row['queries']):,}", row["m"]} <= set(TEXT.split())


def test_the_tables_are_those_that_the_rows_give():
    results = read_results(ROOT / "paper" / "results")
    assert _shown("summary") == summary_markdown(results.rows)
    assert _shown("speed") == readme_table(ROOT / "benchmarks" / "results")
    found = " ".join(line.text for line in headlines(results, compare(results.rows)))
    ahead, count, level = re.search(
        r"ahead of \"SVD \+ unit rows\" in (\d+) of the (\d+) comparisons, and level in (\d+)\.",
        WORDS,
    ).groups()
    assert f"ahead in {ahead}, level in {level} and behind in 0 of {count} comparisons" in found
    near, pairs = re.search(r"Only (\d+) of the paper's (\d+) numbers come out", WORDS).groups()
    assert f"Of {pairs} that stand beside ours, {near} lie within 0.05" in found


def test_the_toys_numbers_are_those_of_the_rows():
    shown = re.search(
        r"k-means is right on ([\d.]+) % of the raw points, ([\d.]+) % of the unit rows, and "
        r"([\d.]+) % after Spherical PCA to two dimensions\. Here \"SVD, then unit rows\" gives "
        r"the same ([\d.]+) %",
        WORDS,
    ).groups()
    found = dict.fromkeys(("kmeans-raw", "kmeans", "spherical-pca", "svd-unit"), ())
    for row in _rows("paper/results/rows.csv"):
        if row["experiment"] == "toy":
            found[row["method"]] += (float(row["accuracy"]),)
    assert all(len(values) == 100 for values in found.values())
    assert list(shown) == [f"{100 * sum(v) / len(v):.1f}" for v in found.values()]


def _rows(path):
    with (ROOT / path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _share(value):
    return f"{value:.3f}".lstrip("0")


def _shown(name):
    return re.search(rf"<!-- {name} -->\n(.*?)<!-- end of {name} -->", TEXT, re.S)[1]


def _alternatives():
    """The lines of the table, by the numbers of each column that has some."""
    lines = _shown("alternatives").splitlines()[2:]
    cells = [line.strip("| ").replace("*", "").split(" | ") for line in lines]
    return {name: numbers for name, *numbers in cells}


def test_the_numbers_of_the_alternatives_are_those_measured():
    shown = _alternatives()
    names = {
        "Spherical PCA": ("spherical-pca", "Spherical PCA"),
        "`TruncatedSVD`, then unit rows": ("svd-unit", "SVD + unit rows"),
        "`PCA` (centred)": ("pca", "PCA + unit rows"),
        "spherical k-means (no vectors)": ("spherical-kmeans", None),
    }
    rows = [row for row in _rows("paper/results/rows.csv") if row["variant"] == "main"]
    embeddings = {row["r"]: row for row in _rows("docs/measurements/embeddings.csv")}
    for name, (method, label) in names.items():
        means = []
        for groups in ("5 named", "10", "20"):
            wanted = {"experiment": "newsgroups", "method": method, "groups": groups}
            found = [float(row["accuracy"]) for row in rows if wanted.items() <= row.items()]
            assert len(found) == 10
            means.append(_share(np.mean(found)))
        assert shown[name][0] == " / ".join(means), name
        if label:
            kept = " / ".join(_share(float(embeddings[r][label])) for r in ("64", "128"))
            assert shown[name][1] == kept, name
    reach = {row["goal"]: row for row in _rows("benchmarks/results/reach.csv")}
    for name, goals in {
        "`TruncatedSVD`, then unit rows": ("dense_svd", "text20"),
        "`PCA` (centred)": ("dense_eigh",),
        "pymanopt, same objective": ("pymanopt",),
    }.items():
        times = re.findall(r"[\d.]+", shown[name][2])
        assert times == [f"{1 / float(reach[goal]['measured']):#.2g}" for goal in goals], name
    ours = float(re.search(r"([\d.]+) with all in float64", reach["pymanopt"]["note"])[1])
    assert f"with both in float64 it is {1 / ours:.1f} " in WORDS


def test_what_commands_need_besides_is_told_beside_them():
    for command, extra in (("export ", "faiss"), ("evaluate ", "pages"), ("transform ", "files")):
        before, block = re.search(
            rf"([^\n]*\n[^\n]*):\n\n```\n((?:sphericalpca .*\n)*sphericalpca {command})", TEXT
        ).groups()
        assert f"'.[{extra}]'" in before, block


def test_the_claim_beside_the_picture_is_what_the_tables_say():
    claim = " ".join(TEXT.split("\n\n")[3].split())
    ours, svd, dense, text = re.search(
        r"five newsgroups k-means is right on ([\d.]+) % after Spherical PCA, and on ([\d.]+) % "
        r"after an SVD with unit rows\. .* takes ([\d.]+) of the time .* takes ([\d.]+) times as "
        r"long",
        claim,
    ).groups()
    shown = _alternatives()
    for name, value in (("Spherical PCA", ours), ("`TruncatedSVD`, then unit rows", svd)):
        assert float(shown[name][0].split(" / ")[0]) == pytest.approx(float(value) / 100)
    kept = [shown[name][1].split(" / ") for name in list(shown)[:2]]
    assert [float(one) for one in kept[0]] == pytest.approx([*map(float, kept[1])], abs=0.005)
    measured = {row["goal"]: row["measured"] for row in _rows("benchmarks/results/reach.csv")}
    assert [dense, text] == [f"{float(measured[goal]):.2g}" for goal in ("minilm", "text20")]


def test_it_opens_with_five_lines_and_a_picture_and_links_lead_somewhere():
    _, opening, picture, *_ = TEXT.split("\n\n")
    assert len(opening.splitlines()) <= 5
    assert picture.startswith("![")
    shown = re.search(r"three dimensions .*?: k-means is right on ([\d.]+) % and ([\d.]+) %", WORDS)
    rows = _rows("docs/measurements/topics.csv")
    assert list(shown.groups()) == [f"{100 * float(row['right']):.1f}" for row in rows]
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", TEXT)
    assert links
    for link in links:
        assert (ROOT / link).exists(), link
