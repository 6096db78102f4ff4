"""A product of finite numbers whose kernel raises the flag of an invalid operation.

OpenBLAS 0.3.31 with AVX-512 does that for float32 rows of five numbers times a vector, by what
happens to lie in a register.  No test can count on that, so here every product with the data
raises the flag.
"""

from __future__ import annotations

import numpy as np
import pytest

from sphericalpca import SphericalPCA
from sphericalpca.parallel import parallel
from sphericalpca.products import inner_products, product, times
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.rows.memory import DenseRows


class _Alarming(np.ndarray):
    """Products are right, although NumPy receives a floating-point exception."""

    def __matmul__(self, other):
        _raise_the_flag()
        return np.asarray(self) @ np.asarray(other)

    def __rmatmul__(self, other):
        _raise_the_flag()
        return np.asarray(other) @ np.asarray(self)


def _raise_the_flag():
    return np.float32(np.inf) - np.float32(np.inf)


@pytest.fixture
def rows(rng):
    return rng.standard_normal((23, 5)).astype(np.float32)


def test_the_flag_is_heard(rows):
    with pytest.warns(RuntimeWarning, match="invalid"):
        rows.view(_Alarming) @ rows[0]


def test_a_product_does_not_pass_it_on(rows, rng):
    B = rng.standard_normal((5, 2)).astype(np.float32)
    for multiply in (times, product):
        np.testing.assert_array_equal(multiply(rows.view(_Alarming), B), rows @ B)
    np.testing.assert_allclose(inner_products(rows.view(_Alarming), rows), rows.T @ rows, rtol=1e-6)


@pytest.mark.parametrize(
    ("r", "options", "solver"),
    [
        case
        for k, solver in enumerate(SOLVERS)
        for case in [(1, {"center": k % 2 == 0}, solver), (3, {"center": k % 2 == 1}, solver)]
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_method_passes_it_on(r, options, solver, rows, monkeypatch):
    def answers():
        model = SphericalPCA(r, solver=solver, max_iter=20, random_state=0, **options).fit(rows)
        V = model.transform(rows)
        return V, model.inverse_transform(V), model.score(rows), model.certify(rows).bound

    expected = answers()
    part = DenseRows._part

    def alarming(self, span):
        matrix, shift = part(self, span)
        return matrix.view(_Alarming), shift

    monkeypatch.setattr(DenseRows, "_part", alarming)
    with parallel():
        for found, wanted in zip(answers(), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
