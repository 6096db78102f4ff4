"""Rows on a device answer every question as rows in memory do."""

import numpy as np
import pytest

from sphericalpca.estimators.fit import leading_means
from sphericalpca.problem import Problem, lengths_of_projections
from sphericalpca.rows import Backend, NamespaceMatrix, as_rows, mean_of_rows

strict = pytest.importorskip("array_api_strict")

OPTIONS = {
    "plain": {},
    "not_scaled": {"normalize": False},
    "weighted": {"weight": np.arange(40.0) ** 3},
    "centred": {"mean": np.full(7, 0.3)},
    "blocks": {"block_rows": 11, "weight": np.linspace(0, 2, 40), "mean": np.full(7, -0.1)},
}
QUESTIONS = {
    "value": lambda p, U, D: p.evaluate(U).value,
    "cosines": lambda p, U, D: p.evaluate(U).cosines,
    "gradient": lambda p, U, D: p.evaluate(U).gradient,
    "moment": lambda p, U, D: p.evaluate(U).moment,
    "auxiliary": lambda p, U, D: Problem(p.rows, auxiliary=True).evaluate(U).gradient,
    "hessian": lambda p, U, D: p.hessian_product(U, D),
    "gram": lambda p, U, D: p.gram(),
    "gram with factors": lambda p, U, D: p.gram(np.linspace(0, 1, 40)),
    "covariance": lambda p, U, D: p.covariance_times(D),
    "covariance with factors": lambda p, U, D: p.covariance_times(D, np.linspace(0, 1, 40)),
    "leading values": lambda p, U, D: leading_means(p, U).values,
    "leading cosines": lambda p, U, D: leading_means(p, U).cosines,
    "components": lambda p, U, D: np.asarray(np.from_dlpack(p.rows.components(U))),
    "lengths": lambda p, U, D: lengths_of_projections(p, U),
    "cosines of rows": lambda p, U, D: p.cosines(),
    "passes": lambda p, U, D: (p.evaluate(U), p.rows.passes, p.rows.flops)[1:],
}


@pytest.fixture
def X():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 7)) * rng.uniform(0.1, 10, (40, 1))
    X[5] = 0  # no direction at all
    X[6, :3] = 1e-17  # none in the subspace below but rounding
    return X


def on_device(X):
    return NamespaceMatrix(strict.asarray(X), Backend(strict, strict.Device("CPU_DEVICE")))


@pytest.mark.parametrize("options", OPTIONS)
def test_agrees_with_rows_in_memory(X, options, float_type):
    X, close = X.astype(float_type), 1e-10 if float_type == np.float64 else 1e-4
    U = np.eye(7, 3, dtype=float_type)
    D = np.random.default_rng(2).standard_normal((7, 3)).astype(float_type)
    for name, ask in QUESTIONS.items():
        here, there = (
            ask(Problem(as_rows(data, **OPTIONS[options])), U, D) for data in (X, on_device(X))
        )
        slack = close * (1 + np.abs(here).max())
        np.testing.assert_allclose(there, here, rtol=close, atol=slack, err_msg=name)


def test_mean_agrees(X):
    weight = np.arange(40.0)
    for given in (None, weight):
        np.testing.assert_allclose(mean_of_rows(on_device(X), given), mean_of_rows(X, given))


def test_a_row_that_equals_the_mean_has_no_direction(X):
    X += 1e6
    X[:2] = mean = X[0].copy()
    for data in (X, on_device(X)):
        assert as_rows(data, mean=mean).totals.without_direction == 2


@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (-np.inf, "infinity (-inf)")])
def test_the_first_number_that_is_not_finite_is_found(X, value, name):
    X[30, 1] = X[20, 4] = X[20, 6] = value
    assert on_device(X).first_non_finite() == (20, 4, name)


def test_progress_is_told_of_every_row(X):
    seen = []
    rows = as_rows(on_device(X), block_rows=9, watch=seen.append)
    assert seen == [9, 9, 9, 9, 4]  # measured
    Problem(rows).evaluate(np.eye(7, 2))
    assert seen == 2 * [9, 9, 9, 9, 4]
