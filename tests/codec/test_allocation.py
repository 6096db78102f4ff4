"""Bits by water-filling, and bytes that carry about as many."""

import numpy as np
import pytest

from sphericalpca.codec.allocation import ideal_bits, importance, pack
from tests.codec.conftest import clustered


def test_bits_make_errors_equal_and_leave_out_what_is_small():
    variance = np.array([8.0, 1.0, 4.0, 1e-9, 0.0])
    bits = ideal_bits(variance, 12)
    assert bits.sum() == pytest.approx(12)
    np.testing.assert_allclose((variance / 4**bits)[:3], (variance / 4**bits)[0])
    assert (bits[3:] == 0).all()
    assert ideal_bits(np.zeros(3), 6) == pytest.approx([2, 2, 2])


def test_every_byte_holds_whole_components_and_about_as_many_bits():
    bits = np.random.default_rng(0).gamma(1.0, 2.0, 60)
    packing = pack(bits, 15)
    carried = np.bincount(packing, weights=bits, minlength=15)
    assert carried.min() > 0
    # A byte is never given more than the emptiest had, and one component.
    assert carried.max() - carried.min() <= bits.max()
    np.testing.assert_array_equal(np.sort(pack(np.zeros(4), 4)), np.arange(4))


def test_errors_count_where_neighbours_differ():
    # Groups far apart along the first columns, noise along the last.
    rng = np.random.default_rng(0)
    X = np.hstack([rng.choice([-1.0, 1.0], (2000, 4)), 0.3 * rng.standard_normal((2000, 4))])
    counts = importance(X / np.linalg.norm(X, axis=1, keepdims=True))
    assert counts.mean() == pytest.approx(1)
    assert counts[:4].max() < counts[4:].min()
    assert (importance(clustered(20, 5)) == 1).all()
    assert (importance(np.tile([[1.0, 0.0]], (500, 1))) == 1).all()
