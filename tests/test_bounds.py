"""The study of certificates: a part of its 10,000 problems, and that it can fail."""

import csv

import numpy as np
import pytest

from reliability.bounds import RESULTS, THREE, brute_force, main, study
from reliability.optima import KINDS
from sphericalpca.spectrum import LeadingEigenvalues


@pytest.mark.parametrize("kind", [*KINDS, THREE])
def test_no_bound_is_below_a_better_value(kind):
    row = study(kind, 4)
    assert (row["problems"], row["bounds"], row["violations"]) == (4, 12, 0)
    assert row["closest"] > 0
    assert np.isfinite(row["median_gap"])


def test_eigenvalues_that_are_too_small_are_noticed(monkeypatch):
    def low(self, factor, enough):
        return 0.99 * self.estimate(factor, enough)[0]

    monkeypatch.setattr(LeadingEigenvalues, "bound", low)
    assert study("spiked", 4)["violations"] > 0


def test_brute_force_finds_the_best_line_and_plane():
    X = np.eye(3)[[0, 0, 1]]
    assert brute_force(X, np.ones(3), 1) == pytest.approx(np.sqrt(5), rel=1e-3)
    assert brute_force(X, np.ones(3), 2) == pytest.approx(3, rel=1e-3)


def test_rows_are_written_and_the_verdict_told(tmp_path, capsys):
    assert main(["one-hot", THREE, "--problems", "21", "--out", str(tmp_path / "bounds.csv")]) == 0
    assert capsys.readouterr().out.endswith("0 violations\n")
    assert len((tmp_path / "bounds.csv").read_text().splitlines()) == 3


def test_the_committed_study_has_no_violation():
    with RESULTS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["kind"] for row in rows} <= {*KINDS, THREE}
    assert {row["problems"] for row in rows} == {"477"}
    assert {row["violations"] for row in rows} == {"0"}
