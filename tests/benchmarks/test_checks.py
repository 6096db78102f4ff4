"""The judge agrees with the package on right answers, and catches wrong ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from benchmarks import checks
from benchmarks.ours import fit_model
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows


def test_measures_are_those_of_the_package_whatever_the_layout(small, random_U, monkeypatch):
    U = random_U(12, 3)
    problem = Problem(as_rows(small))
    expected, found = problem.evaluate(U), checks.measure(small, U)
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert found.residual == pytest.approx(expected.residual, rel=1e-9)
    assert found.loss == pytest.approx(problem.loss(expected.value), rel=1e-12)
    monkeypatch.setattr(checks, "BLOCK_NUMBERS", 7 * small.shape[1])
    longer = np.vstack([small * np.linspace(1, 9, len(small))[:, None], np.zeros((2, 12))])
    for kind in (np.asarray, sparse.csr_array):
        other = checks.measure(kind(longer), U)
        assert other.rows == found.rows == len(small)
        assert other.value == pytest.approx(found.value, rel=1e-12)
        assert other.residual == pytest.approx(found.residual, abs=1e-12)


def test_only_an_answer_that_arrived_is_right_and_none_beats_its_certificate(
    small, random_U, monkeypatch
):
    answer, other = fit_model(small, 3, tol=1e-8).components_.T, random_U(12, 3)
    assert checks.is_right(checks.measure(small, answer), 1e-8)
    near = np.linalg.qr(answer + 1e-3 * other)[0]
    for wrong in (other, near, (1 + 1e-7) * answer):  # the last one by its residual would pass
        assert not checks.is_right(checks.measure(small, wrong), 1e-5)
    bound = checks.certificate(small, answer).bound
    assert bound >= checks.measure(small, answer).value * (1 - 1e-12)
    assert all(checks.measure(small, random_U(12, 3, seed)).value < bound for seed in range(20))
    monkeypatch.setattr(checks, "DIRECT_SIZE", 11)
    assert checks.certificate(small, answer) is None  # it would take minutes
