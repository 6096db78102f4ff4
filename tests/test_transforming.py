"""Files in, unit vectors out: the same as in memory, whole or not at all."""

from __future__ import annotations

import itertools
import sys
import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_limits

from sphericalpca import (
    DataError,
    MissingExtraError,
    NoDirectionWarning,
    SphericalPCA,
    open_rows,
    transforming,
)
from sphericalpca.transforming import transform_blocks, transform_file

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((230, 9)).astype(np.float32)


@pytest.fixture(scope="module")
def model(X):
    return SphericalPCA(4, random_state=0).fit(X)


@pytest.fixture
def one_thread():
    """A small memory budget is divided among all: with many cores too little is left for each."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield


def _table(X, **others):
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), X.shape[1])
    return pa.table({"id": np.arange(len(X)), "vector": vectors, **others})


def _vectors(table, name="vector"):
    return np.stack(table.column(name).to_numpy(zero_copy_only=False))


def _write(X, path):
    if path.suffix == ".npz":
        sparse.save_npz(path, sparse.csr_matrix(X), compressed=False)
    elif path.suffix == ".npy":
        np.save(path, X)
    elif path.suffix == ".parquet":
        pq.write_table(_table(X), path, row_group_size=50)
    else:
        feather.write_feather(_table(X), path, chunksize=40)
    return path


@pytest.mark.parametrize(
    ("suffix", "budget"),
    [(".npy", "30kB"), (".npz", "1GB"), (".parquet", "30kB"), (".feather", "1GB")],
)
def test_blocks_are_those_of_transform(X, tmp_path, suffix, budget):
    path = _write(X, tmp_path / f"rows{suffix}")
    for center in (False, True):
        model = SphericalPCA(4, center=center).fit(X)
        blocks = list(transform_blocks(model, open_rows(path, memory_budget=budget)))
        np.testing.assert_allclose(np.concatenate(blocks), model.transform(X), atol=2e-6)
        assert all(block.dtype == np.float32 for block in blocks)


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_other_columns_stay_beside_their_rows(X, model, tmp_path, suffix, monkeypatch):
    """Blocks of vectors and batches of other columns end at different rows."""
    path, told = _write(X, tmp_path / f"in{suffix}"), []
    monkeypatch.setattr(transforming, "best_block_rows", lambda rows, readers: 37)
    transform_file(model, open_rows(path), tmp_path / "out.parquet", watch=told.append)
    assert len(told) > 5
    out = pq.read_table(tmp_path / "out.parquet")
    np.testing.assert_array_equal(out.column("id"), np.arange(len(X)))
    np.testing.assert_allclose(_vectors(out), model.transform(X), atol=2e-6)


def test_npy_out(X, model, tmp_path):
    np.save(tmp_path / "in.npy", X.astype(np.float64))
    told = []
    transform_file(model, open_rows(tmp_path / "in.npy"), tmp_path / "out.npy", watch=told.append)
    found = np.load(tmp_path / "out.npy")
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, model.transform(X), atol=1e-6)
    assert sum(told) == len(X)
    assert {file.name for file in tmp_path.iterdir()} == {"in.npy", "out.npy"}


@pytest.mark.parametrize(("out", "files"), [("out.parquet", 3), ("out.arrow", 1)])
def test_tables_carry_their_other_columns(X, model, tmp_path, files, out):
    texts = [f"text {k}" if k % 7 else None for k in range(len(X))]
    whole = _table(X, text=texts, score=np.linspace(0, 1, len(X)))
    ends = np.linspace(0, len(X), files + 1).astype(int)
    for k, (a, b) in enumerate(itertools.pairwise(ends)):
        pq.write_table(whole.slice(a, b - a), tmp_path / f"part-{k}.parquet", row_group_size=17)
    rows = open_rows(tmp_path / "part-*.parquet", memory_budget="100kB")
    transform_file(model, rows, tmp_path / out)
    read = pq.read_table if out.endswith("parquet") else feather.read_table
    found = read(tmp_path / out)
    assert found.schema.names == ["id", "text", "score", "vector"]
    assert pa.types.is_fixed_size_list(found.schema.field("vector").type)
    for name in ("id", "text", "score"):
        assert found.column(name).to_pylist() == whole.column(name).to_pylist()
    np.testing.assert_allclose(_vectors(found), model.transform(X), atol=2e-6)
    assert open_rows(tmp_path / out).shape == (len(X), 4)
    transform_file(model, rows, tmp_path / "some.parquet", keep=["score", "id"], name="small")
    some = pq.read_table(tmp_path / "some.parquet")
    assert some.schema.names == ["score", "id", "small"]
    with pytest.raises(DataError, match=r"no column 'c' besides its vectors: it has 'id', 'text'"):
        transform_file(model, rows, tmp_path / "other.parquet", keep=["c"])
    with pytest.raises(DataError, match="has a column 'score' besides its vectors"):
        transform_file(model, rows, tmp_path / "other.parquet", name="score")
    assert not (tmp_path / "other.parquet").exists()


@pytest.fixture
def mixed(X, tmp_path):
    """A table with identifiers, and an array that has none."""
    pq.write_table(_table(X[:100]), tmp_path / "a.parquet")
    np.save(tmp_path / "b.npy", X[100:])
    return [tmp_path / "a.parquet", tmp_path / "b.npy"]


def test_columns_that_only_some_files_have_are_not_lost_silently(X, mixed, model, tmp_path):
    out = tmp_path / "out.parquet"
    lost = r"a.parquet' has columns besides its vectors \('id'\), but '.*b.npy' has none: transform"
    for rows in (open_rows(mixed), open_rows(mixed[::-1])):
        with pytest.raises(DataError, match=lost):
            transform_file(model, rows, out)
        with pytest.raises(DataError, match=r"b.npy' has no column 'id' besides its vectors"):
            transform_file(model, rows, out, keep=["id"])
    assert not out.exists()
    # They are dropped if requested, and where the output has no columns.
    transform_file(model, open_rows(mixed), out, keep=[])
    found = pq.read_table(out)
    assert found.schema.names == ["vector"]
    np.testing.assert_allclose(_vectors(found), model.transform(X), atol=2e-6)
    transform_file(model, open_rows(mixed), tmp_path / "out.npy")
    pq.write_table(_table(X[:100]).select(["vector"]), mixed[0])
    transform_file(model, open_rows(mixed), out)
    assert pq.read_table(out).num_rows == len(X)


def test_rows_without_direction_are_zero_and_counted(X, model, tmp_path):
    holes = X.copy()
    holes[[3, 200]] = 0
    np.save(tmp_path / "in.npy", holes)
    with pytest.warns(NoDirectionWarning, match="2 of 230 rows"):
        count = transform_file(model, open_rows(tmp_path / "in.npy"), tmp_path / "out.npy")
    assert count == 2
    assert not np.load(tmp_path / "out.npy")[[3, 200]].any()


def test_what_fails_writes_nothing_and_leaves_an_older_output(X, model, tmp_path):
    source, out, broken = tmp_path / "in.npy", tmp_path / "out.npy", X.copy()
    broken[229, 3] = np.nan
    np.save(source, broken)
    rows = open_rows(source, memory_budget="30kB")
    with pytest.raises(DataError, match=r"NaN in row 229 of '.*in.npy', column 3"):
        transform_file(model, rows, out)
    assert [file.name for file in tmp_path.iterdir()] == ["in.npy"]
    out.write_text("precious")
    np.save(source, X[:-1])
    with pytest.raises(DataError, match=r"in\.npy"):
        transform_file(model, rows, out)
    np.save(source, X[:, :5])
    with pytest.raises(DataError, match="has 5 columns, but the model was fitted on 9"):
        transform_file(model, open_rows(source), out)
    with pytest.raises(NotFittedError):
        transform_file(SphericalPCA(4), open_rows(source), out)
    with pytest.raises(NotFittedError):
        next(transform_blocks(SphericalPCA(4), open_rows(source)))
    assert out.read_text() == "precious"
    np.save(source, X)
    with pytest.raises(DataError, match=r"suffix '.csv', but vectors are written to .npy"):
        transform_file(model, open_rows(source), tmp_path / "out.csv")


def test_a_missing_package_is_one_for_writing(tmp_path, monkeypatch):
    X = np.eye(4)
    model = SphericalPCA(2).fit(X)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    needs = r"^Writing Parquet and Arrow files needs pyarrow"
    for suffix in ("parquet", "arrow"):
        with pytest.raises(MissingExtraError, match=needs):
            transform_file(model, X, tmp_path / f"small.{suffix}")
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("one_thread")
def test_blocks_may_be_asked_for_by_any_thread(X, model, tmp_path):
    """As a server does that streams an answer: each time another thread asks."""
    np.save(tmp_path / "rows.npy", X)
    blocks = transform_blocks(model, open_rows(tmp_path / "rows.npy", memory_budget="9kB"))
    found = []
    for _ in range(2):
        thread = threading.Thread(target=lambda: found.append(next(blocks)))
        thread.start()
        thread.join()
    found += blocks
    assert len(found) > 3
    np.testing.assert_array_equal(np.concatenate(found), model.transform(X))


@pytest.mark.usefixtures("one_thread")
def test_a_row_that_is_too_long_is_named_by_its_place_in_the_file(X, model, tmp_path):
    X = X.copy()
    X[200] = 3e38
    np.save(tmp_path / "rows.npy", X)
    rows = open_rows(tmp_path / "rows.npy", memory_budget="9kB")
    with pytest.raises(DataError, match="Row 200 of X has length"):
        list(transform_blocks(model, rows))
    with pytest.raises(DataError, match="Row 200 of X has length"):
        SphericalPCA(2).fit(rows)
