"""Levels of all bytes."""

import numpy as np

from sphericalpca.codec.quantiser import ZERO, Quantiser
from tests.codec.conftest import clustered


def trained(n=2000, r=10, n_bytes=4):
    V = clustered(n, r)
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    packing = np.arange(r) % n_bytes
    rng = np.random.default_rng(0)
    return V, Quantiser.train(V, np.ones(n), np.ones(r), packing, rng)


def test_tables_add_up_to_inner_products_with_what_is_not_yet_scaled(kernels):
    V, quantiser = trained()
    codes = quantiser.encode(V[:50])
    tables = quantiser.tables(V[:5])
    places = np.arange(4)
    sums = tables[:, places, codes].sum(axis=2)
    squares = quantiser.squares[places, codes].sum(axis=1)
    np.testing.assert_allclose(
        sums / np.sqrt(squares), V[:5] @ quantiser.decode(codes).T, atol=1e-6
    )


def test_a_level_is_its_own_code_and_zero_has_one_that_is_no_level(kernels):
    _, quantiser = trained()
    levels = quantiser.levels[:ZERO].astype(np.float64)
    np.testing.assert_array_equal(quantiser.encode(levels), np.tile(np.arange(255)[:, None], 4))
    assert quantiser.counts.tolist() == [255, 256, 256, 256]
    zero = quantiser.encode(np.zeros((1, 10)))
    assert zero.tolist() == [[ZERO, 0, 0, 0]]
    assert not quantiser.decode(zero).any()
