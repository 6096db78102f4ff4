"""Vectors come from a file that may be missing or damaged."""

from __future__ import annotations

import numpy as np
import pytest

from paper.datasets import has_minilm, load_minilm
from paper.datasets.vectors import MINILM_FILE
from sphericalpca import DataError


def test_vectors_are_read_with_their_groups(tmp_path, rng):
    assert not has_minilm(tmp_path)
    with pytest.raises(DataError, match=MINILM_FILE):
        load_minilm(tmp_path)
    X = rng.standard_normal((6, 4)).astype(np.float16)
    content = {"X": X, "label": np.array([0, 1] * 3, np.int16), "group_names": np.array(["a", "b"])}
    np.savez(tmp_path / MINILM_FILE, **content)
    assert has_minilm(tmp_path)
    found = load_minilm(tmp_path)
    np.testing.assert_array_equal(found.X, X)
    assert found.X.dtype == np.float32
    assert found.labels.tolist() == [0, 1] * 3
    assert found.group_names == ("a", "b")


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_a_damaged_file_is_named_with_the_remedy(tmp_path, content):
    if content is None:
        np.savez(tmp_path / MINILM_FILE, X=np.ones((2, 2)))
    else:
        (tmp_path / MINILM_FILE).write_bytes(content)
    with pytest.raises(DataError, match=r"arrays X, label and group_names.*leave the file out"):
        load_minilm(tmp_path)
