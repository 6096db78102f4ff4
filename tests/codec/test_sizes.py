"""How many bytes keep the neighbours."""

import numpy as np
import pytest

from sphericalpca import ParameterError, ShortfallWarning
from sphericalpca.codec import choose_bytes
from tests.codec.conftest import clustered


def test_the_fewest_bytes_that_reach_the_target_and_one_less_does_not():
    X = clustered(1500, 24).astype(np.float32)
    choice = choose_bytes(X, recall=0.6, k=5, queries=200, random_state=0, sizes=(20,))
    codes = {point.n_bytes: point for point in choice.curve if point.kind == "codes"}
    assert codes[choice.n_bytes].low >= 0.6
    assert choice.n_bytes == 1 or codes[choice.n_bytes - 1].low < 0.6
    assert 20 in codes
    others = {point.kind: point for point in choice.curve if point.kind != "codes"}
    assert {kind: point.n_bytes for kind, point in others.items()} == {
        "float32": 96,
        "float16": 48,
        "int8": 24,
    }
    assert others["float16"].recall >= others["int8"].recall > 0.9
    for point in choice.curve:
        assert point.low <= point.recall <= point.high
        assert point.recall <= point.reranked + 1e-12
    assert choice.to_dict()["n_bytes"] == choice.n_bytes


def test_sizes_that_are_clipped_are_one_point_with_the_bytes_of_their_codes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3)) @ rng.standard_normal((3, 24))
    with pytest.warns(ShortfallWarning, match=r"^3 bytes keep 0\.\d+ \(0\.\d+ to "):
        choice = choose_bytes(X, recall=0.9999, queries=50, sizes=(8, 20), random_state=0)
    assert choice.n_bytes == 3
    assert [point.n_bytes for point in choice.curve if point.kind == "codes"] == [3]


def test_a_target_out_of_reach_is_said_and_one_that_is_none_refused():
    X = clustered(400, 3)
    with pytest.warns(ShortfallWarning, match="bytes keep"):
        assert choose_bytes(X, recall=0.9999, queries=50, random_state=0).n_bytes == 3
    with pytest.raises(ParameterError, match="recall=2 must be between 0 and 1"):
        choose_bytes(X, recall=2)
