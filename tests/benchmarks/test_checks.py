"""The judge agrees with the package on right answers, and catches wrong ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from benchmarks import checks
from benchmarks.ours import fit_model
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows


@pytest.fixture
def answer(small):
    return fit_model(small, 3, tol=1e-8).components_.T


def test_value_residual_and_loss_are_those_of_the_package(small, random_U):
    U = random_U(12, 3)
    problem = Problem(as_rows(small))
    expected, found = problem.evaluate(U), checks.measure(small, U)
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert found.residual == pytest.approx(expected.residual, rel=1e-9)
    assert found.loss == pytest.approx(problem.loss(expected.value), rel=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_layout_lengths_blocks_and_zero_rows_do_not_matter(small, answer, kind, monkeypatch):
    monkeypatch.setattr(checks, "BLOCK_NUMBERS", 7 * small.shape[1])
    longer = np.vstack([small * np.linspace(1, 9, len(small))[:, None], np.zeros((2, 12))])
    plain, other = checks.measure(small, answer), checks.measure(kind(longer), answer)
    assert other.rows == plain.rows == len(small)
    assert other.value == pytest.approx(plain.value, rel=1e-12)
    assert other.residual == pytest.approx(plain.residual, abs=1e-12)


def test_an_answer_that_arrived_is_right(small, answer):
    assert checks.is_right(checks.measure(small, answer), 1e-8)


@pytest.mark.parametrize("spoil", ["other subspace", "nearby", "not orthonormal"])
def test_a_wrong_answer_is_caught(small, answer, random_U, spoil):
    wrong = {
        "other subspace": random_U(12, 3),
        "nearby": np.linalg.qr(answer + 1e-3 * random_U(12, 3))[0],
        "not orthonormal": (1 + 1e-7) * answer,  # its residual alone would pass
    }[spoil]
    assert not checks.is_right(checks.measure(small, wrong), 1e-5)


def test_no_subspace_beats_the_certificate(small, answer, random_U):
    bound = checks.certificate(small, answer).bound
    assert bound >= checks.measure(small, answer).value * (1 - 1e-12)
    assert all(checks.measure(small, random_U(12, 3, seed)).value < bound for seed in range(20))


def test_no_certificate_where_it_would_take_minutes(monkeypatch, small, answer):
    monkeypatch.setattr(checks, "DIRECT_SIZE", 11)
    assert checks.certificate(small, answer) is None
