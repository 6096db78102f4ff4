"""Dask without a cluster: computed here, chunk by chunk."""

import numpy as np
import pytest

from sphericalpca import DataError, SphericalPCA
from sphericalpca.rows.cluster import DaskSource, from_dask

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_blocks_of_any_span_are_its_rows(rows):
    X = np.random.default_rng(0).standard_normal((53, 4))
    source = from_dask(da.from_array(X, chunks=((0, 20, 3, 30, 0), (3, 1))), X.dtype)
    assert isinstance(source, DaskSource)
    for span in (slice(0, 53), slice(10, 40), slice(5, 6)):
        blocks = list(source.read(span, rows))
        assert all(len(block) <= rows for block in blocks)
        np.testing.assert_array_equal(np.vstack(blocks), X[span])


def test_rows_that_are_computed_to_learn_their_number_are_told_of(X):
    told, array = [], da.from_array(X, chunks=(300, 30))
    from_dask(array, X.dtype, told.append)
    assert told == []  # Dask knows
    from_dask(array[da.ones(len(X), chunks=300, dtype=bool)], X.dtype, told.append)
    assert sorted(told) == [3, 300, 300, 300, 300]


@pytest.mark.parametrize("height", [299, 301])
def test_heights_that_are_not_what_dask_says_are_refused(X, height):
    lies = da.from_array(X, chunks=(300, 30)).map_blocks(
        lambda block: np.resize(block, (height, 30)), chunks=(300, 30), meta=X[:0]
    )
    with pytest.raises(DataError, match=rf"Chunk \d of X has {height} rows now, but had 300 acc"):
        SphericalPCA(2).fit(lies)


def test_a_collection_that_changes_is_refused(X):
    calls = []

    def load(k):
        calls.append(k)
        return X[: 100 - (len(calls) > 3)]

    source = DaskSource([[dask.delayed(load, pure=False)(k)] for k in range(3)], 30, X.dtype)
    with pytest.raises(DataError, match=r"Chunk 0 of X has 99 rows now, but had 100"):
        list(source.read(slice(0, 300), 50))
