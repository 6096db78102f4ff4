"""The paper's toy: where the points lie, and that a seed fixes them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sphericalpca.datasets import make_toy


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.integers(0, 2**31 - 1))
def test_groups_lie_in_their_wedges_and_a_seed_fixes_them(n, seed):
    X, labels = make_toy(n, random_state=seed)
    np.testing.assert_array_equal(labels, np.repeat([0, 1], n))
    for group, (kept, flattened) in enumerate([(0, 1), (1, 0)]):
        points = X[labels == group]
        assert (points[:, flattened] == 0).all()
        assert (points[:, 2] >= points[:, kept]).all()
    assert X.shape == (2 * n, 3)
    assert ((X >= 0) & (X < 20)).all()
    for a, b in zip(make_toy(n, random_state=seed), (X, labels), strict=True):
        np.testing.assert_array_equal(a, b)


def test_wedges_are_filled():
    """About half of each group is lifted onto the edge, the rest lies inside."""
    X, labels = make_toy(4000, random_state=0)
    for group in (0, 1):
        points = X[labels == group]
        on_the_edge = points[:, 2] == points[:, group]
        assert 0.45 < on_the_edge.mean() < 0.55
        # A uniform coordinate, and the larger of two: means 10 and 40/3.
        np.testing.assert_allclose(points[:, group].mean(), 10, atol=0.4)
        np.testing.assert_allclose(points[:, 2].mean(), 40 / 3, atol=0.4)


def test_another_seed_and_a_state_that_moves_on_give_other_data():
    state = np.random.RandomState(0)
    one, other, moved = (make_toy(5, random_state=seed)[0] for seed in (state, 1, state))
    assert (one != other).any()
    assert (one != moved).any()


@pytest.mark.parametrize("n", [0, -3, 2.5, "7", None])
def test_bad_size_is_named(n):
    with pytest.raises(ValueError, match=r"n_per_group=.* must be a positive integer"):
        make_toy(n)
