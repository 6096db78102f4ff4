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

from sphericalpca import open_rows
from sphericalpca.cli.app import app

README = Path(__file__).parents[1] / "README.md"


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
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_the_numbers_in_the_comments_are_those_printed(run):
    claimed = re.findall(r"print\(.*\)\s+# ([\d.e-]+):", "".join(_blocks()))
    assert len(claimed) == 3
    # A gap near rounding of the data is not the same to the last digit everywhere.
    for claim, found in zip(claimed, run[1], strict=True):
        assert float(found) == pytest.approx(float(claim), rel=0.05)


def test_the_claims_beside_expressions_hold(run):
    names, _ = run
    assert names["V"].shape == (1797, 10)
    theory = names["analyse"](names["paper"].history_, names["paper"].constants_)
    assert theory.applies
    assert theory.sufficient_decrease.all()
    cats, stocks = set(names["found"][:2]), set(names["found"][2:])
    assert len(cats) == len(stocks) == 1
    assert cats != stocks


def test_files_and_streams(run):
    names, _ = run
    X = names["X"]
    assert names["model"].score(X) == pytest.approx(names["model"].mean_cosine_, rel=1e-5)
    assert names["stream"].score(X) == pytest.approx(names["model"].mean_cosine_, rel=5e-3)


def test_the_commands_on_files_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = load_digits().data
    np.save("digits.npy", X.astype(np.float32))
    commands = re.findall(r"^sphericalpca (?:fit|transform) .*", README.read_text(), re.M)
    assert len(commands) == 2
    for command in commands:
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        assert result.exit_code == 0, result.output
    assert open_rows("small.parquet").shape == (len(X), 10)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "digits.npy",
        "digits.safetensors",
        "small.parquet",
    ]


def test_python_and_the_commands_do_not_write_the_same_files():
    text = README.read_text(encoding="utf-8")
    written = re.findall(r"-o (\S+)", text)
    saved = re.findall(r'save\("([^"]+)"', text)
    assert len(written) == len(set(written)) >= 4
    assert saved
    assert not {"vectors.npy", *written} & set(saved)


def test_the_commands_for_embeddings_run(tmp_path, monkeypatch):
    pytest.importorskip("faiss")
    monkeypatch.chdir(tmp_path)
    np.save("vectors.npy", load_digits().data.astype(np.float32))
    commands = re.findall(r"^sphericalpca (?:choose|evaluate|export) .*", README.read_text(), re.M)
    assert len(commands) == 3
    for command in commands:
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        assert result.exit_code == 0, result.output
    assert (tmp_path / "reducer.faiss").is_file()
    assert (tmp_path / "evaluation" / "evaluation.html").is_file()


def test_the_recalls_are_those_that_the_benchmark_measured(monkeypatch):
    monkeypatch.syspath_prepend(str(README.parent))
    from benchmarks.embeddings import embeddings_table, recall_markdown  # noqa: PLC0415

    results, text = README.parent / "benchmarks" / "results", README.read_text(encoding="utf-8")
    assert re.search(r"<!-- recall -->\n(.*?)<!-- end of recall -->", text, re.S)[1] == (
        recall_markdown(results)
    )
    rows = [row for row in embeddings_table(results).read() if row["part"] == "recall"]
    found = {(row["method"], row["r"]): float(row["recall"]) for row in rows}
    lost = [100 * (found["refit", r] - found["pca-dot", r]) for r in ("64", "128", "192")]
    least, most = re.search(
        r"dot product, which .*?, loses (\d+) to (\d+) points", text, re.S
    ).groups()
    assert (round(min(lost)), round(max(lost))) == (int(least), int(most))
    for row in rows:
        assert {f"{int(row['n']):,}", f"{int(row['queries']):,}", row["m"]} <= set(text.split())


def test_the_table_is_the_one_that_the_rows_give():
    from paper.report import summary_markdown  # noqa: PLC0415
    from paper.report.read import read_results  # noqa: PLC0415

    shown = re.search(
        r"<!-- summary -->\n(.*?)<!-- end of summary -->", README.read_text(encoding="utf-8"), re.S
    )[1]
    assert shown == summary_markdown(read_results(README.parent / "paper" / "results").rows)


def test_what_holds_and_what_does_not_is_what_the_report_finds():
    from paper.report.content import gather  # noqa: PLC0415
    from paper.report.read import read_results  # noqa: PLC0415

    results = read_results(README.parent / "paper" / "results")
    found = " ".join(headline.text for headline in gather(results).headlines)
    text = " ".join(README.read_text(encoding="utf-8").split())
    ahead, count, level = re.search(
        r"ahead of \"SVD \+ unit rows\" in (\d+) of the (\d+) comparisons, and level in (\d+)\.",
        text,
    ).groups()
    assert f"ahead in {ahead}, level in {level} and behind in 0 of {count} comparisons" in found
    near, pairs = re.search(r"Only (\d+) of the paper's (\d+) numbers come out", text).groups()
    assert f"Of {pairs} that stand beside ours, {near} lie within 0.05" in found


def test_the_toys_numbers_are_those_of_the_rows():
    text = " ".join(README.read_text(encoding="utf-8").split())
    shown = re.search(
        r"k-means is right on ([\d.]+) % of the raw points, ([\d.]+) % of the unit rows, and "
        r"([\d.]+) % after Spherical PCA to two dimensions\. Here \"SVD, then unit rows\" gives "
        r"the same ([\d.]+) %",
        text,
    ).groups()
    found = dict.fromkeys(("kmeans-raw", "kmeans", "spherical-pca", "svd-unit"), ())
    with (README.parent / "paper" / "results" / "rows.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["experiment"] == "toy":
                found[row["method"]] += (float(row["accuracy"]),)
    assert all(len(values) == 100 for values in found.values())
    assert list(shown) == [f"{100 * sum(v) / len(v):.1f}" for v in found.values()]


def _rows(path):
    with (README.parent / path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _share(value):
    return f"{value:.3f}".lstrip("0")


def _alternatives():
    """The lines of the table, by the numbers of each column that has some."""
    text = README.read_text(encoding="utf-8")
    shown = re.search(r"<!-- alternatives -->\n(.*?)<!-- end of alternatives -->", text, re.S)[1]
    lines = [line.strip("| ").replace("*", "").split(" | ") for line in shown.splitlines()[2:]]
    return {name: numbers for name, *numbers in lines}


def test_the_accuracies_of_the_alternatives_are_those_of_the_rows():
    names = {
        "Spherical PCA": "spherical-pca",
        "`TruncatedSVD`, then unit rows": "svd-unit",
        "`PCA` (centred)": "pca",
        "spherical k-means (no vectors)": "spherical-kmeans",
    }
    rows = [row for row in _rows("paper/results/rows.csv") if row["variant"] == "main"]
    for name, method in names.items():
        means = []
        for groups in ("5 named", "10", "20"):
            wanted = {"experiment": "newsgroups", "method": method, "groups": groups}
            found = [float(row["accuracy"]) for row in rows if wanted.items() <= row.items()]
            assert len(found) == 10
            means.append(_share(np.mean(found)))
        assert _alternatives()[name][0] == " / ".join(means), name


def test_the_neighbours_that_alternatives_keep_are_those_measured():
    names = {
        "Spherical PCA": "Spherical PCA",
        "`TruncatedSVD`, then unit rows": "SVD + unit rows",
        "`PCA` (centred)": "PCA + unit rows",
    }
    rows = {row["r"]: row for row in _rows("docs/measurements/embeddings.csv")}
    for name, method in names.items():
        found = " / ".join(_share(float(rows[r][method])) for r in ("64", "128"))
        assert _alternatives()[name][1] == found, name


def test_the_times_of_the_alternatives_are_those_measured():
    ours = {row["goal"]: row["measured"] for row in _rows("benchmarks/results/reach.csv")}
    goals = {
        "`TruncatedSVD`, then unit rows": ("dense_svd", "text20"),
        "`PCA` (centred)": ("dense_eigh",),
        "pymanopt, same objective": ("pymanopt",),
    }
    for name, measured in goals.items():
        shown = re.findall(r"[\d.]+", _alternatives()[name][2])
        assert shown == [f"{1 / float(ours[goal]):#.2g}" for goal in measured], name


def test_the_time_of_pymanopt_in_one_precision_is_the_one_measured():
    (row,) = (r for r in _rows("benchmarks/results/reach.csv") if r["goal"] == "pymanopt")
    ours = float(re.search(r"([\d.]+) with all in float64", row["note"])[1])
    text = " ".join(README.read_text(encoding="utf-8").split())
    assert f"with both in float64 it is {1 / ours:.1f} " in text


def test_what_commands_need_besides_is_told_beside_them():
    text = README.read_text(encoding="utf-8")
    for command, extra in (
        ("export ", "faiss"),
        ("evaluate ", "pages"),
        ("transform ", "files"),
    ):
        before, block = re.search(
            rf"([^\n]*\n[^\n]*):\n\n```\n((?:sphericalpca .*\n)*sphericalpca {command})", text
        ).groups()
        assert f"'.[{extra}]'" in before, block


def test_the_claim_beside_the_picture_is_what_the_tables_say():
    claim = " ".join(README.read_text(encoding="utf-8").split("\n\n")[3].split())
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


def test_the_pictures_numbers_are_those_of_the_script_that_drew_it():
    text = " ".join(README.read_text(encoding="utf-8").split())
    shown = re.search(r"three dimensions .*?: k-means is right on ([\d.]+) % and ([\d.]+) %", text)
    rows = _rows("docs/measurements/topics.csv")
    assert list(shown.groups()) == [f"{100 * float(row['right']):.1f}" for row in rows]


def test_pictures_and_pages_linked_are_there():
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README.read_text(encoding="utf-8"))
    assert links
    for link in links:
        assert (README.parent / link).exists(), link


def test_it_says_what_it_is_for_in_five_lines_and_a_picture():
    opening = README.read_text(encoding="utf-8").split("\n\n")[1]
    assert len(opening.splitlines()) <= 5
    assert README.read_text(encoding="utf-8").split("\n\n")[2].startswith("![")


def test_the_times_are_those_that_the_benchmark_measured(monkeypatch):
    monkeypatch.syspath_prepend(str(README.parent))
    from benchmarks.summary import readme_table  # noqa: PLC0415

    shown = re.search(
        r"<!-- speed -->\n(.*?)<!-- end of speed -->", README.read_text(encoding="utf-8"), re.S
    )[1]
    assert shown == readme_table(README.parent / "benchmarks" / "results")
