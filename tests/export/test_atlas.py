"""A Parquet file as Embedding Atlas reads it: through pandas, a vector in each cell."""

from __future__ import annotations

import numpy as np
import pytest

from sphericalpca import DataError, MissingExtraError, SphericalPCA
from sphericalpca.export import write_atlas

parquet = pytest.importorskip("pyarrow.parquet")


def as_the_atlas_reads(path):
    """Its program takes pandas' frame, and each cell of the vector column as an array."""
    frame = pytest.importorskip("pandas").read_parquet(path)
    vectors = [np.asarray(cell, dtype=np.float32) for cell in frame["vector"].to_list()]
    return frame, np.array(vectors)


@pytest.mark.parametrize("r", [1, 2, 3, 6])
def test_vectors_and_columns(X, tmp_path, r):
    V = SphericalPCA(r).fit_transform(X.astype(np.float64)).astype(np.float64)
    texts = [f"text {row}" for row in range(len(X))]
    write_atlas(tmp_path / "atlas.parquet", V, {"text": texts, "year": np.arange(len(X))})
    frame, vectors = as_the_atlas_reads(tmp_path / "atlas.parquet")
    np.testing.assert_array_equal(vectors, V.astype(np.float32))
    assert list(frame["text"]) == texts
    axes = list("xyz"[:r]) if r in (2, 3) else []
    assert list(frame.columns) == ["text", "year", "vector", *axes]
    for place, name in enumerate(axes):
        np.testing.assert_array_equal(frame[name], V[:, place].astype(np.float32))
    assert [entry.name for entry in tmp_path.iterdir()] == ["atlas.parquet"]
    schema = parquet.read_schema(tmp_path / "atlas.parquet")
    assert str(schema.field("vector").type) == f"fixed_size_list<element: float>[{r}]"


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"text": ["a"]}, "Column 'text' has 1 values for 300 rows"),
        ({"vector": np.zeros(300)}, "A column has the reserved name 'vector'"),
    ],
)
def test_columns_that_do_not_fit(plain_model, X, tmp_path, columns, match):
    with pytest.raises(DataError, match=match):
        write_atlas(tmp_path / "atlas.parquet", plain_model.transform(X), columns)
    assert not list(tmp_path.iterdir())


def test_one_vector_is_no_matrix(tmp_path):
    with pytest.raises(DataError, match="V has 1 dimensions, but must be a matrix"):
        write_atlas(tmp_path / "atlas.parquet", np.ones(3))


def test_without_pyarrow(tmp_path, without):
    without("pyarrow")
    with pytest.raises(MissingExtraError, match="needs pyarrow"):
        write_atlas(tmp_path / "atlas.parquet", np.ones((2, 3)))
