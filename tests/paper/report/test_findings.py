"""Sentences follow from the rows: they change when the rows change, both ways."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from paper.printed import TABLE_1
from paper.report.compare import compare
from paper.report.findings import claims, findings, headlines, verdict
from paper.report.findings.claims import on_text
from paper.report.read import Results

BASE = np.linspace(0.5, 0.6, 10)
SIX = ("kmeans", "mua", "pca", "r1-pca", "k-svd", "spherical-pca")
TEXT_ROW = ("newsgroups", "20newsgroups", "10", "main")
NONE = pd.DataFrame()


def results(rows, solvers=None):
    solvers = pd.DataFrame(columns=["data", "solver"]) if solvers is None else solvers
    return Results(rows, NONE, solvers, NONE)


def sentences(rows, section, solvers=None, lines=None):
    found = findings(results(rows, solvers), compare(rows) if lines is None else lines)
    return " ".join(finding.text for finding in found if finding.section == section)


def verdicts(rows, solvers=None):
    lines = compare(rows) if solvers is None else []
    return {claim.text[:30]: claim.verdict for claim in claims(results(rows, solvers), lines)}


def table(exact_rows, gain, rival="svd-unit", where=TEXT_ROW):
    """Spherical PCA ahead of the five by .1 and of `rival` by `gain`."""
    accuracies = dict.fromkeys(SIX, BASE) | {"spherical-pca": BASE + 0.1}
    noise = np.where(np.arange(10) % 2, 0.001, -0.001)
    return exact_rows(where, {**accuracies, rival: BASE + 0.1 - gain + noise})


@pytest.mark.parametrize(("gain", "word"), [(0.05, "ahead"), (0.0, "level"), (-0.05, "behind")])
def test_against_the_svd(exact_rows, gain, word):
    rows = table(exact_rows, gain)
    text = sentences(rows, "newsgroups")
    sentence = re.search(r"Against SVD \+ unit rows, Spherical PCA is (.*?)\.", text)[1]
    assert sentence.startswith(f"by accuracy {word} at 10 groups")
    assert not any(other in sentence for other in {"ahead", "level", "behind"} - {word})
    assert f"{word} in 2" in headlines(results(rows), compare(rows))[0].text


def test_a_better_method_of_ours_is_named(exact_rows):
    better = sentences(table(exact_rows, -0.05, "spherical-kmeans"), "newsgroups")
    assert "Better than Spherical PCA: Spherical k-means at 10 groups" in better
    worse = sentences(table(exact_rows, 0.05, "spherical-kmeans"), "newsgroups")
    assert "No baseline beyond the paper" in worse
    assert "Worse than Spherical PCA: Spherical k-means (accuracy and NMI at 10 groups)." in worse
    assert "Worse than" not in better


def test_always_both_higher(exact_rows):
    rows = table(exact_rows, 0.05)
    text = sentences(rows, "newsgroups")
    assert "always has both holds in the mean" in text
    assert "shared" not in text
    assert verdicts(rows)["Spherical PCA can always achie"] == "holds"
    lost = rows.assign(nmi_max=rows["nmi_max"].where(rows["method"] != "k-svd", 0.9))
    text = sentences(lost, "newsgroups")
    assert "always has both does not hold. Higher are K-SVD at 10 groups by NMI (.900" in text
    assert "the highest mean NMI in no row." in text
    assert "(difference +.050)" in text
    assert verdicts(lost)["Spherical PCA can always achie"] == "does not hold"
    both = pd.concat([rows, lost.assign(groups="20")])
    assert verdicts(both)["Spherical PCA can always achie"] == "holds in part"
    level = exact_rows(TEXT_ROW, dict.fromkeys(SIX, BASE))
    text = sentences(level, "newsgroups")
    assert "highest mean accuracy in the one row (shared with others)" in text
    assert "always has both does not hold." in text
    assert verdicts(level)["Spherical PCA can always achie"] == "does not hold"
    assert "(shared with others)" in headlines(results(level), compare(level))[0].text
    two = pd.concat([level, level.assign(groups="20")])
    assert "all 2 rows (2 of them shared with others)" in sentences(two, "newsgroups")


def test_comparisons_are_counted_once(rows, lines):
    def counts(pattern, text):
        return [int(n) for n in re.search(pattern, text).groups()]

    def tallied(pattern, text):
        """The counts of a tally, by outcome, and the total that it gives."""
        said, total = re.search(pattern + r"(.*?) of (\d+) (?:comparisons|settings)", text).groups()
        found = re.findall(r"(ahead|level|behind|not significantly different) in (\d+)", said)
        return {word: int(number) for word, number in found}, int(total)

    found, total = tallied(r"by pair .*?PCA is ", sentences(rows, "newsgroups", lines=lines))
    assert total == sum(found.values()) == 5 * 2 * 5
    text = sentences(rows, "lsa", lines=lines)
    found, total = tallied("by V-measure, ", text)
    assert total == sum(found.values()) == 20
    assert found["behind"] > 0
    assert "ahead at r = 10, 50 and 100, level at r = 20, behind at r = 4 (" in text
    text = next(h.text for h in headlines(results(rows), lines) if h.section == "lsa")
    for name in ("k-means seeds", "bootstrap draws"):
        found, total = tallied(f"over {name} it is, by V-measure, ", text)
        assert total == sum(found.values()) == 10
    text = sentences(rows, "findings", lines=lines)
    pattern = r"All 96 numbers of the paper stand beside ours: (\d+) lie within 0.05, ours are "
    pattern += r"higher by more in (\d+) and lower by more in (\d+)"
    assert sum(counts(pattern, text)) == 96
    assert "3 are impossible" in text


def test_uci_claim_holds_only_where_ahead_is_not_rarer_than_behind(exact_rows):
    where = ("uci", "glass", "6", "unit")
    assert verdicts(table(exact_rows, 0.0, where=where)).popitem()[1] == "holds"
    worse = exact_rows(where, dict.fromkeys(SIX, BASE) | {"spherical-pca": BASE - 0.1})
    assert verdicts(worse).popitem()[1] == "does not hold"


def toy(exact_rows, raw, ours=0.99):
    noise = np.where(np.arange(30) % 3, 0.002, -0.002)
    views = {"kmeans-raw": raw + noise, "kmeans": ours - 0.02 + noise[::-1]}
    views |= {"svd-unit": np.full(30, ours), "spherical-pca": np.full(30, ours)}
    return exact_rows(("toy", "toy", "2", "main"), views, r=2)


@pytest.mark.parametrize(
    ("raw", "words", "verdict"),
    [
        (0.91, "but it is not poor", "holds in part"),
        (0.6, "and it is poor", "holds"),
        (0.99, "claim that raw points do worse fails", "holds in part"),
        (0.995, "a loss of", "holds in part"),
    ],
)
def test_the_toys_claim(exact_rows, raw, words, verdict):
    rows = toy(exact_rows, raw)
    assert words in sentences(rows, "toy")
    assert verdicts(rows).popitem()[1] == verdict
    assert "SVD + unit rows give 99.0 %: the same in every draw" in sentences(rows, "toy")
    assert "is level with it" in headlines(results(rows), compare(rows))[0].text
    few = rows[rows["repetition"] < 4]
    assert verdicts(few) == {}, "it needs a test"
    assert "paper" not in sentences(few, "toy")


def test_theory_of_the_runs(rows, solver_runs):
    text = sentences(rows, "convergence", solver_runs, [])
    assert "P1) held at all 400 steps" in text
    assert "the constants are below L_c = 472.3" in text
    assert verdicts(rows, solver_runs)["With constants above L_c, ever"] == "holds"
    broken = solver_runs.assign(p1_held=solver_runs["p1_held"] - 3)
    broken["largest_subgradient_ratio"] *= 3
    text = sentences(rows, "convergence", broken, [])
    assert "held at 397 of 400 steps, and the subgradient broke its bound" in text
    assert verdicts(rows, broken)["With constants above L_c, ever"] == "does not hold"


@pytest.mark.parametrize(
    ("fit", "claimed", "below"),
    [
        ({"rate": "sublinear", "exponent": 1.0}, "holds", "holds"),
        ({"rate": "linear", "rho": 0.9}, "better than claimed", "holds"),
        ({"rate": "sublinear", "exponent": -1.0}, "does not hold", "does not hold"),
    ],
)
def test_rates_decide_the_papers_claim(rows, solver_runs, fit, claimed, below):
    found = verdicts(rows, solver_runs.assign(**fit))
    assert found["[…] it converges fast with a s"] == claimed
    assert found["With λ = μ = 75, as in the aut"] == below


def test_the_authors_constant_does_not_speak_for_the_theory(rows, solver_runs):
    """The run with 75 stands still: its own card says so and why, the rate's card does not."""
    runs = solver_runs.copy()
    runs.loc[runs["solver"] == "Algorithm 1, 75", ["rate", "exponent"]] = ("sublinear", -1.0)
    cards = {claim.text[:12]: claim for claim in claims(results(rows, runs), [])}
    assert cards["[…] it conve"].verdict == "holds"
    assert cards["With λ = μ ="].verdict == "does not hold"
    assert "overshoots" in cards["With λ = μ ="].evidence
    assert "by estimate" not in sentences(rows, "convergence", solver_runs, [])
    text = sentences(rows, "convergence", solver_runs.assign(rigorous=0), [])
    assert "says, by estimate, that no subspace is better" in text
    unknown = sentences(rows, "convergence", solver_runs.assign(gap=np.nan), [])
    assert "certificate" not in unknown


def test_stand_ins_are_not_held_against_the_paper(exact_rows, stand_in_rows):
    lines = compare(stand_in_rows)
    assert sentences(stand_in_rows, "findings", lines=lines) == ""
    assert "Spherical PCA" in sentences(stand_in_rows, "uci", lines=lines)
    assert claims(results(stand_in_rows), lines) == []
    assert verdict(lines) == ""
    own = table(exact_rows, 0.0)
    assert "claim" in sentences(own, "newsgroups")
    other = own.assign(dataset="docstrings")
    assert "claim" not in sentences(other, "newsgroups")
    assert headlines(results(other), compare(other))[0].label == "docstrings."
    found = verdicts(pd.concat([stand_in_rows, toy(exact_rows, 0.6)]))
    assert list(found.values()) == ["holds"], "the toy's claim stays"


def test_the_verdict_follows_claim_and_numbers(exact_rows):
    def said(rows):
        return verdict(compare(rows))

    printed = {method: TABLE_1["10"][method] for method in SIX}
    close = exact_rows(
        TEXT_ROW,
        {method: np.full(10, pair.accuracy) for method, pair in printed.items()},
        nmi={method: np.full(10, pair.nmi) for method, pair in printed.items()},
    )
    assert said(close) == "On text the paper's claim holds, and its numbers reproduce."
    far = close.assign(accuracy=close["accuracy"] - 0.2, nmi_max=close["nmi_max"] - 0.2)
    assert said(far) == "On text the paper's claim holds; its numbers do not reproduce."
    half = close.assign(accuracy=close["accuracy"] - 0.2)
    assert "its numbers reproduce in part" in said(half)
    lost = far.assign(nmi_max=far["nmi_max"].where(far["method"] != "k-svd", 0.9))
    assert said(lost) == (
        "On text the paper's claim does not hold, and its numbers do not reproduce."
    )


def test_the_verdict_names_the_claim_with_unit_rows_for_all(rows):
    text = verdict(compare(rows))
    assert "; with unit rows for its other reducers too, it " in text
    fair = next(c for c in on_text(compare(rows)) if "unit rows" in c.text)
    assert f"too, it {fair.verdict}. Its numbers" in text


def test_quotes_are_the_papers(rows, lines, solver_runs):
    path = Path(__file__).parents[4] / "shared" / "paper" / "spherical_pca.tex"
    if not path.is_file():
        pytest.skip("the paper's source is not there")
    text = " ".join(path.read_text(encoding="utf-8").replace("$K$", "K").split()).casefold()
    for claim in claims(results(rows, solver_runs), lines):
        if claim.quoted:
            parts = [part.strip(" .,").casefold() for part in claim.text.split("[…]")]
            assert all(part in text for part in parts), claim.text


def test_nothing_is_said_of_nothing():
    empty = pd.DataFrame(columns=["experiment", "dataset", "groups", "variant", "r", "method"])
    assert compare(empty) == []
    assert findings(results(empty), []) == []
    assert headlines(results(empty), []) == []
    assert claims(results(empty), []) == []


def test_a_claim_on_text_needs_both_readings(exact_rows):
    """Where one reading says otherwise, nothing is claimed of both."""
    other = (*TEXT_ROW[:3], "labels")
    for gain, word in ((0.05, "in both readings ahead in 2 of 2"), (-0.05, "disagree")):
        rows = pd.concat([table(exact_rows, 0.05), table(exact_rows, gain, where=other)])
        text = next(h.text for h in headlines(results(rows), compare(rows)))
        assert word in text
        assert word in sentences(rows, "readings")
        assert ("disagree" in text) == (gain < 0)
    lost = table(exact_rows, 0.05, where=other)
    lost["accuracy"] = lost["accuracy"].where(lost["method"] != "k-svd", 0.9)
    rows = pd.concat([table(exact_rows, 0.05), lost])
    assert verdicts(rows)["Spherical PCA can always achie"] == "holds in part"
    found = {claim.text[:13]: claim for claim in claims(results(rows), compare(rows))}
    assert "the one row with words chosen by the documents and no row with" in (
        found["Spherical PCA"].evidence
    )


def test_the_advantage_over_reducers_with_unit_rows_is_judged_in_both(exact_rows):
    other = (*TEXT_ROW[:3], "labels")
    text = "The advantage remains when the"
    for gains, expected in (
        ((0.05, 0.05), "holds"),
        ((0.05, 0.0), "does not hold"),
        ((-0.05, -0.05), "does not hold"),
    ):
        parts = zip((TEXT_ROW, other), gains, strict=True)
        rows = pd.concat([table(exact_rows, gain, "pca-unit", where) for where, gain in parts])
        assert verdicts(rows)[text] == expected
    one = table(exact_rows, 0.05, "pca-unit")
    evidence = [c.evidence for c in claims(results(one), compare(one)) if text in c.text]
    assert evidence[0].startswith("By accuracy and NMI it is, with words chosen by the documents,")


def test_the_nearer_reading_is_that_of_the_baselines(exact_rows):
    """Spherical PCA has no say in it."""
    printed = {method: TABLE_1["10"][method] for method in SIX}

    def rows(off, ours_off, variant):
        shifts = dict.fromkeys(SIX, off) | {"spherical-pca": ours_off}
        accuracy = {m: np.full(10, pair.accuracy + shifts[m]) for m, pair in printed.items()}
        nmi = {m: np.full(10, pair.nmi) for m, pair in printed.items()}
        return exact_rows((*TEXT_ROW[:3], variant), accuracy, nmi=nmi)

    for near, far in (("main", "labels"), ("labels", "main")):
        both = pd.concat([rows(0.01, 0.15, near), rows(0.1, 0.0, far)])
        text = sentences(both, "readings")
        name = {"main": "documents", "labels": "labels"}[near]
        assert f"printed numbers with words chosen by the {name} than" in text
    assert "nearer" not in sentences(rows(0.0, 0.0, "main"), "readings")


def test_other_starts_and_constants_are_told_from_their_rows(rows, lines):
    text = sentences(rows, "starts", lines=lines)
    assert "random start is higher in 0 of 10 draws, lower in 1 (to 0.001 %)" in text
    assert "best of 10 starts is the same in all 10 draws (to 0.001 %)" in text
    text = sentences(rows, "constants", lines=lines)
    assert text.count("with 2 of 4 pairs of constants; of those that the theory covers, the") == 2
    part = rows[rows["variant"] != "1.01 and 1.01"]
    assert "theory" not in sentences(part, "constants", lines=lines)
    text = sentences(rows, "embeddings", lines=lines)
    assert "Against SVD + unit rows, Spherical PCA is by accuracy" in text
    short = {h.section: h.text for h in headlines(results(rows), lines)}
    assert "Against PCA + unit rows it is" in short["embeddings"]
    pairs = "2 of 4 pairs"
    assert (
        f"with {pairs} on the toy and {pairs} on newsgroups, 5 named groups."
        in (short["constants"])
    )
    few = rows[rows["repetition"] < 2]
    short = {h.section: h.text for h in headlines(results(few), compare(few))}
    assert short["embeddings"] == "2 draws: too few to test."
    assert sentences(few, "starts").startswith("2 draws: too few to test.")
