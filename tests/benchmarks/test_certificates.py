"""Reach of certificates: rows say what was measured, and whether the limit is kept."""

import numpy as np
from scipy import sparse

from benchmarks import certificates


def test_gap_and_seconds_have_a_row_each(rng):
    X = sparse.csr_array(rng.standard_normal((60, 9)) * np.geomspace(1, 0.01, 9))
    gap, seconds = certificates.text(X, 2, 1000.0, 10.0)
    assert gap["goal"] == "text 60 x 9, r = 2: gap"
    assert gap["met"] == (gap["measured"] <= 3e-4)
    assert 'kind "rigorous", probability 0.0' in gap["note"]
    assert (seconds["limit"], seconds["met"]) == (1000.0, True)


def test_a_version_is_compared_with_another(tmp_path, monkeypatch):
    """Here with itself: both run in separate processes."""
    monkeypatch.setattr(certificates, "ROUNDS", 1)
    monkeypatch.setattr(certificates, "CASES", {"digits, 1,797 x 64": ()})
    before = certificates.ROOT / "src"
    certificates.main(["direct", "--before", f"{before}/.", "--out", str(tmp_path)])
    (row,) = certificates.reach_table(tmp_path).read()
    assert 0.1 < float(row["measured"]) < 10
    assert row["note"].count("e-") == 2  # gaps of both
    assert row["commit"]


def test_time_and_gap_are_printed(capsys, monkeypatch):
    case = "digits, 1,797 x 64"
    certificates.main(["--time", case])
    seconds, gap = map(float, capsys.readouterr().out.split())
    assert seconds > 0
    assert 0 < gap < 1e-6


def test_committed_rows_keep_their_limits():
    rows = certificates.reach_table(certificates.RESULTS).read()
    assert sum(row["goal"].startswith("text 18,846") for row in rows) == 4
    assert {row["goal"] for row in rows if row["met"] != "True"} == set()
