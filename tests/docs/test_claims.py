"""Sentences about results in the docs agree with the numbers in the committed rows."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

pytest.importorskip("pandas")

from paper.report.compare import compare, lines_of
from paper.report.read import read_results
from reliability.optima import SHORT
from reliability.soak import FLAT, verdict

ROOT = Path(__file__).parents[2]


def text_of(page):
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


def read(path):
    with (ROOT / path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def lines():
    return compare(read_results(ROOT / "paper" / "results").rows)


@pytest.fixture(scope="module")
def embeddings():
    rows = read("docs/measurements/embeddings.csv")
    return {int(row["r"]): {name: float(value) for name, value in row.items()} for row in rows}


def cell(line, measure="accuracy", rival="svd-unit"):
    return line.cells[measure][rival]


def test_the_ratio_tells_whether_the_method_matters(lines):
    assert "above 0.9999** the SVD is enough" in text_of("docs/guide/is-and-is-not.rst")
    lines = [line for line in lines if "svd-unit" in line.cells["accuracy"]]
    near = [cell(line) for line in lines if line.fact("svd_ratio") > 0.9999]
    far = [cell(line) for line in lines if line.fact("svd_ratio") < 0.999]
    assert len(near) > 20
    assert sum(one.outcome in {"level", "open"} for one in near) > 0.9 * len(near)
    assert sum(one.outcome == "level" for one in near) > 0.5 * len(near)
    assert sum(one.outcome == "ahead" for one in far) > 0.3 * len(far)
    assert sum(one.outcome == "behind" for one in far) > 0  # and the page does not promise wins


def test_text_is_ahead_and_tables_are_level_or_not_shown(lines):
    shown = text_of("docs/guide/text.rst")
    assert 'with "SVD + unit rows" it is ahead in every row, whichever way words' in shown
    text = lines_of(lines, "newsgroups", variant="main")
    tables = lines_of(lines, "uci", variant="unit")
    both = [*text, *lines_of(lines, "newsgroups", variant="labels")]
    for measure in ("accuracy", "nmi_max"):
        assert {cell(line, measure).outcome for line in both} == {"ahead"}
        for rival in ("pca-unit", "spherical-kmeans"):
            many = [line for line in both if line.key.groups in {"10", "15", "20"}]
            assert {cell(line, measure, rival).outcome for line in many} == {"ahead"}
    assert "spherical k-means it is ahead from 10 groups on" in shown
    paper = [line for line in tables if not line.key.dataset.startswith("mfeat-")]
    assert {cell(line).outcome for line in paper} == {"level", "open"}
    assert all(0.985 < line.fact("svd_ratio") < 0.996 for line in text)
    assert all(line.fact("svd_ratio") > 0.9999 for line in paper)


def test_the_recipe_gains_from_ten_dimensions_on_loses_at_four_and_costs_more(lines):
    assert "at r = 4 on all 20 groups" in text_of("docs/guide/is-and-is-not.rst")
    seeds = lines_of(lines, "lsa", groups="20", variant="seeds")
    found = {line.key.r: cell(line, "nmi_arithmetic").outcome for line in seeds}
    assert found.pop(4) == "behind"
    assert set(found.values()) == {"ahead"}
    redrawn = lines_of(lines, "lsa", variant="bootstrap")
    outcomes = ("nmi_arithmetic", [10, 50]), ("ari", [10, 20, 50])
    for measure, ahead in outcomes:
        higher = [ln.key for ln in redrawn if cell(ln, measure).outcome == "ahead"]
        assert [(key.groups, key.r) for key in higher] == [("20", r) for r in ahead]
        assert all(cell(ln, measure).outcome != "behind" for ln in redrawn)
    shown = text_of("docs/guide/text.rst")
    assert "significant on 20 groups at r = 10 and 50" in shown
    assert "adjusted Rand index at r = 10, 20 and 50" in shown
    shown = re.search(r"takes (\d+) to (\d+) times as long as LSA", text_of("docs/guide/text.rst"))
    ratios = [
        line.seconds["spherical-pca"] / line.seconds["svd-unit"] for line in lines_of(lines, "lsa")
    ]
    assert (round(min(ratios)), round(max(ratios))) == tuple(map(int, shown.groups()))


def test_spherical_kmeans_is_behind_with_many_groups_and_ahead_without_headers(lines):
    shown = text_of("docs/guide/is-and-is-not.rst")
    assert "it is behind at 10, 15 and 20 newsgroups and level or not significantly" in shown
    assert "without headers and quotes it is ahead at 15 and 20" in shown
    many = {"10", "15", "20"}
    ours = {"main": (many, set()), "labels": (many, set()), "stripped": (None, {"15", "20"})}
    for variant, (ahead, behind) in ours.items():
        part = lines_of(lines, "newsgroups", variant=variant)
        found = {ln.key.groups: cell(ln, rival="spherical-kmeans").outcome for ln in part}
        if ahead is not None:
            assert {groups for groups, outcome in found.items() if outcome == "ahead"} == ahead
        assert {groups for groups, outcome in found.items() if outcome == "behind"} == behind


def test_the_paper_methods_have_lower_means_on_text_and_centring_hardly_matters(lines):
    assert "has the highest means in all rows" in text_of("docs/guide/text.rst")
    assert "clusters of texts were about equally accurate" in text_of("docs/guide/model.rst")
    rivals = ("kmeans", "mua", "pca", "r1-pca", "k-svd")
    for line in lines_of(lines, "newsgroups", variant="main"):
        for measure in ("accuracy", "nmi_max"):
            ours = cell(line, measure, "spherical-pca").mean
            assert all(cell(line, measure, name).mean < ours for name in rivals)
        ours, centred = (cell(line, rival=f"spherical-pca{end}").mean for end in ("", "-centred"))
        assert abs(ours - centred) < 0.025


def test_the_toys_numbers(lines):
    shown = re.search(
        r"the means are ([\d.]+), ([\d.]+) and ([\d.]+) %",
        re.sub(r"\s+#\s", " ", text_of("examples/plot_toy.py")),
    ).groups()
    (line,) = lines_of(lines, "toy")
    methods = ("kmeans-raw", "kmeans", "spherical-pca")
    assert list(shown) == [f"{100 * cell(line, rival=name).mean:.1f}" for name in methods]


def test_embeddings_from_64_dimensions_on_have_the_same_neighbours(embeddings):
    for r, row in embeddings.items():
        ours, svd = row["Spherical PCA"], row["SVD + unit rows"]
        assert abs(ours - svd) < 0.006  # neither is better, at any dimension
        assert (row["shared"] > 0.97) == (r >= 64)
        assert r > 16 or row["shared"] < 0.8
        for rival in ("SVD, inner product", "PCA, inner product", "first coordinates"):
            assert row[rival] < ours
        assert (row["PCA + unit rows"] < ours) == (r >= 64)


def test_what_streams_lose():
    shown = text_of("docs/scaling.md")
    rows = {(row["r"], row["way"]): row for row in read("docs/measurements/streams.csv")}

    def percent(r, way, column="below"):
        return f"{100 * float(rows[str(r), way][column]):.3f} %"

    for r in (10, 64):
        first, *later = (percent(r, f"partial_fit, pass {k}") for k in (1, 2, 3))
        worst = percent(r, "partial_fit, pass 1", "worst")
        assert f"| {r} | {first} ({worst}) | {' | '.join(later)} |" in shown
    for way in ("SVD + unit rows", "IncrementalPCA, uncentred"):
        few, many = (100 * float(rows[str(r), way]["below"]) for r in (10, 64))
        assert f"is {few:.2f} % and {many:.{2 if many > 0.1 else 3}f} % below" in shown


def test_how_many_dimensions_and_bytes_keep_the_neighbours():
    shown = text_of("docs/guide/bytes.rst")
    (choice,) = (
        row for row in read("benchmarks/results/embeddings.csv") if row["part"] == "choose"
    )
    r = int(choice["r"])
    assert f"{r} of 384 dimensions in float32 keep 90% of the neighbours in {4 * r} bytes" in shown
    assert float(choice["low"]) > 0.9
    codes = {
        int(row["bytes"]): row
        for row in read("benchmarks/results/codes.csv")
        if (row["data"], row["method"]) == ("minilm", "ours")
    }
    assert "while codes of 96 bytes keep more" in shown
    assert float(codes[96]["recall"]) > float(choice["recall"])
    assert "half of the 384 dimensions keep 90%" in text_of("docs/guide/dimensions.rst")
    assert abs(r - 192) < 10

    def kept(size, rows=codes, column="recall"):
        return f"{float(rows[size][column]):.3f}".removeprefix("0")

    first = f"32 bytes keep {kept(32)} of the neighbours by code alone and"
    assert f"{first} {kept(32, column='reranked')} after 40 candidates" in shown
    assert f"64 bytes keep {kept(64)}, 128 bytes {kept(128)}." in shown


def test_what_codes_lose_in_faiss_and_keep_on_other_subspaces():
    shown = text_of("docs/guide/bytes.rst")
    rows = [row for row in read("benchmarks/results/codes.csv") if row["data"] == "minilm"]
    found = {(row["method"], row["bytes"]): float(row["recall"]) for row in rows}
    pairs = [
        f"from {found['ours', size]:.3f} to {found['ours, exported to faiss', size]:.3f} in {size}"
        for size in ("16", "32", "64")
    ]
    said = shown.replace(" .", " 0.")
    assert all(pair in said for pair in pairs), pairs
    gaps = [float(row["behind_ours"]) for row in rows if row["method"].startswith("coder on")]
    assert "up to .006 more or less" in shown
    assert max(map(abs, gaps)) < 0.0065


def test_how_repeatable_groups_are():
    shown = text_of("docs/guide/text.rst")
    rows = [row for row in read("benchmarks/results/groups.csv") if row["data"] == "docstrings"]

    def agreement(method):
        mine = [float(row["agreement"]) for row in rows if row["method"] == method]
        return f"{sum(mine) / len(mine):.2f}".lstrip("0")

    ours, plain = agreement("ours"), agreement("spherical k-means, 10 starts")
    assert f"is {ours}, compared with {plain} for spherical k-means with ten starts" in shown


def test_right_answers():
    shown, rows = text_of("docs/reliability.md"), read("reliability/results/optima.csv")
    tops = {}
    for row in rows:
        values = (float(row[name]) for name in ("best", "default", "ten_starts"))
        tops[row["kind"], row["seed"]] = max(tops.get((row["kind"], row["seed"]), 0.0), *values)
    for suite in dict.fromkeys(row["suite"] for row in rows):
        mine = [row for row in rows if row["suite"] == suite]
        short = [
            sum(float(r[name]) < (1 - SHORT) * tops[r["kind"], r["seed"]] for r in mine)
            for name in ("default", "ten_starts")
        ]
        assert f"| {suite.removeprefix('version ')} | {short[0]} | {short[1]} |" in shown
    (check,) = read("docs/measurements/sparse_check.csv")
    assert float(check["share"]) < 0.03
    took = f"{float(check['check_ms']):.0f} of {float(check['fit_ms']):,.0f} ms"
    assert (
        f"takes {100 * float(check['share']):.1f} % of a fit on newsgroup tf-idf: {took}" in shown
    )


def test_memory_and_speed_of_a_fit():
    rows = {row["goal"]: row for row in read("benchmarks/results/reach.csv")}
    shown = re.search(r"takes about (\d+) MB beside the data", text_of("docs/guide/big-data.rst"))
    assert "100,000 x 768" in rows["memory"]["about"]
    resident = float(re.search(r"resident ([\d.]+) MB", rows["memory"]["note"])[1])
    assert resident == pytest.approx(float(shown[1]), abs=2)
    assert "less time than ``TruncatedSVD`` with 20 components, and as long with 100" in text_of(
        "docs/results/benchmarks.rst"
    )
    measured = {goal: float(rows[goal]["measured"]) for goal in ("text20", "text100")}
    assert max(float(rows[goal]["measured"]) for goal in ("dense_svd", "minilm")) < 1
    assert measured["text20"] < 0.9 < measured["text100"] < 1.25


# The page about reliability


def test_what_was_killed():
    shown = text_of("docs/reliability.md")
    rows = read("reliability/results/kill.csv")
    for row in rows:
        counts = (row[name] for name in ("rounds", "killed", "whole_after_kill", "faults"))
        assert f"| {row['command']} | {' | '.join(counts)} |" in shown
        assert int(row["rounds"]) >= 50
    assert f"| {sum(int(row['rounds']) for row in rows)} rounds |" in shown


def test_the_kernels_under_sanitizers():
    (row,) = read("reliability/results/sanitize.csv")
    assert f"{row['passed']} tests, without a report" in text_of("docs/reliability.md")
    assert f"under sanitizers | {row['passed']} tests" in text_of("docs/reliability.md")
    assert (row["failed"], row["reports"]) == ("0", "0")


def test_what_was_fuzzed_and_drawn():
    shown = text_of("docs/reliability.md")
    runs = sum(int(row["runs"]) for row in read("reliability/results/fuzz.csv"))
    assert runs > 1_000_000
    assert f"| {runs:,} runs |" in shown
    assert f"There were {runs:,} runs" in shown
    drawn = read("reliability/results/hostile.csv")
    examples = sum(int(row["passed"]) + int(row["failed"]) for row in drawn)
    assert f"| {examples:,} examples |" in shown
    assert {row["failed"] for row in drawn} == {"0"}
    minutes = sum(float(row["seconds"]) for row in drawn) / 60
    assert round(minutes) == 7
    assert f"{examples:,} in seven minutes of one core" in shown


def test_what_was_soaked():
    shown = text_of("docs/reliability.md")
    rows = [
        {name: float(row[name]) for name in ("rounds", "memory_kb", "files", "threads")}
        for row in read("reliability/results/soak.csv")
    ]
    assert f"| {rows[-1]['rounds']:,.0f} tasks, one process |" in shown
    found = verdict(rows)
    assert f"memory grew by {100 * found['memory']:.1f} %" in shown
    assert (found["files"], found["threads"]) == (0, 0)
    assert abs(found["memory"]) < FLAT


def test_what_the_suite_said_with_other_versions():
    shown = re.findall(r"([\d,]+) passed", text_of("docs/reliability.md"))
    lines = " ".join(" ".join(row.values()) for row in read("reliability/results/versions.csv"))
    assert shown
    for count in shown:
        assert f"{count.replace(',', '')} passed" in lines
