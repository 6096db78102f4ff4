"""One chunk, of all supported types."""

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import DataError
from sphericalpca.rows.cluster import checked_chunk

X = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    "pieces",
    [
        [X],
        [X[:, :1], X[:, 1:]],
        [np.asfortranarray(X)],
        [X.astype(">f8")],
        [X.astype(int)],
        [sparse.csc_array(X)],
        [sparse.csr_matrix(X[:, :2]), X[:, 2:]],
        [sparse.coo_array(X[:, :2]), sparse.csr_array(X[:, 2:])],
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_numbers_are_those_of_the_pieces(pieces, dtype):
    found = checked_chunk(pieces, 4, np.dtype(dtype), 0, None)
    assert found.dtype == dtype
    assert not sparse.issparse(found) or found.format == "csr"
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, X)


def test_missing_values_of_a_frame_are_found():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": pandas.array([3, None], dtype="Int64")})
    with pytest.raises(DataError, match=r"NaN in row 11 \(row 1 of chunk 5\), column 1"):
        checked_chunk([frame], 2, X.dtype, 5, 10)


def test_masked_entries_are_missing_values():
    masked = np.ma.masked_array(X, mask=X == 6)
    with pytest.raises(DataError, match="NaN in row 1 of chunk 0, column 2"):
        checked_chunk([masked.astype(int)], 4, X.dtype, 0, None)
    whole = checked_chunk([np.ma.masked_array(X, mask=False)], 4, X.dtype, 0, None)
    np.testing.assert_array_equal(whole, X)


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ([X[:, :3]], r"Chunk 7 of X has shape \(3, 3\), but must have 4 columns"),
        ([X[0]], r"Chunk 7 of X has shape \(4,\)"),
        ([X[:, :2], X[:2, 2:]], "Chunk 7 of X cannot be read"),
        ([np.array([["a"] * 4])], "Chunk 7 of X cannot be read as rows of float64 numbers"),
        ([np.full((1, 4), -np.inf)], r"infinity \(-inf\) in row 0 of chunk 7, column 0"),
    ],
)
def test_chunks_that_cannot_be_used_are_named(pieces, message):
    with pytest.raises(DataError, match=message):
        checked_chunk(pieces, 4, X.dtype, 7, None)
