"""The study of local optima: its problems are fixed, and its values are those of plain numpy."""

import numpy as np
import pytest
from scipy import sparse

from reliability.optima import KINDS, look


def test_there_are_twenty_kinds_of_problems_drawn_the_same_every_time():
    assert len(KINDS) == 20
    for draw in KINDS.values():
        one, other = (draw(np.random.default_rng(3)) for _ in range(2))
        dense = [p.X.toarray() if sparse.issparse(p.X) else p.X for p in (one, other)]
        np.testing.assert_array_equal(*dense)
        assert 1 <= one.r <= min(one.X.shape)


@pytest.mark.parametrize("kind", ["weighted", "centred sparse"])
def test_the_value_of_a_fit_is_its_own(kind):
    problem = KINDS[kind](np.random.default_rng(0))
    model = problem.fit(problem.X, tol=1e-8)
    total = problem.X.shape[0] if problem.weight is None else problem.weight.sum()
    assert problem.value(model) == pytest.approx(model.mean_cosine_ * total, rel=1e-6)


def test_a_row_compares_with_the_best_known():
    row = look("one-hot", 0, "test")
    assert 0 <= row["ten_short"] < 1e-4
    assert row["best"] >= row["ten_starts"] * (1 - 1e-6)
