"""Files in, unit vectors out: the same as in memory, whole or not at all."""

from __future__ import annotations

import itertools
import os
import sys
import threading
from contextlib import closing
from pathlib import Path

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
from sphericalpca.parallel import allowed_threads, workers
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


@pytest.mark.parametrize("budget", ["30kB", "1GB"])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("suffix", [".npy", ".npz", ".parquet", ".feather"])
def test_blocks_are_those_of_transform(X, tmp_path, suffix, center, budget):
    path = tmp_path / f"rows{suffix}"
    if suffix == ".npz":
        sparse.save_npz(path, sparse.csr_matrix(X), compressed=False)
    elif suffix == ".npy":
        np.save(path, X)
    elif suffix == ".parquet":
        pq.write_table(_table(X), path, row_group_size=50)
    else:
        feather.write_feather(_table(X), path, chunksize=40)
    model = SphericalPCA(4, center=center).fit(X)
    blocks = list(transform_blocks(model, open_rows(path, memory_budget=budget)))
    np.testing.assert_allclose(np.concatenate(blocks), model.transform(X), atol=2e-6)
    assert all(block.dtype == np.float32 for block in blocks)


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_other_columns_stay_beside_their_rows_in_many_blocks(
    X, model, tmp_path, suffix, monkeypatch
):
    """Blocks of vectors and batches of other columns end at different rows."""
    if suffix == ".parquet":
        pq.write_table(_table(X), tmp_path / "in.parquet", row_group_size=101)
    else:
        feather.write_feather(_table(X), tmp_path / "in.feather", chunksize=101)
    told = []
    monkeypatch.setattr(transforming, "best_block_rows", lambda rows, readers: 40)
    rows = open_rows(tmp_path / f"in{suffix}")
    transform_file(model, rows, tmp_path / "out.parquet", watch=told.append)
    assert len(told) > 5
    out = pq.read_table(tmp_path / "out.parquet")
    np.testing.assert_array_equal(out.column("id"), np.arange(len(X)))
    np.testing.assert_allclose(_vectors(out), model.transform(X), atol=2e-6)


def test_a_model_without_a_fit_is_refused(X, tmp_path):
    np.save(tmp_path / "in.npy", X)
    rows, unfitted = open_rows(tmp_path / "in.npy"), SphericalPCA(4)
    with pytest.raises(NotFittedError):
        next(transform_blocks(unfitted, rows))
    with pytest.raises(NotFittedError):
        transform_file(unfitted, rows, tmp_path / "out.npy")


def test_npy_out(X, model, tmp_path):
    np.save(tmp_path / "in.npy", X.astype(np.float64))
    told = []
    transform_file(model, open_rows(tmp_path / "in.npy"), tmp_path / "out.npy", watch=told.append)
    found = np.load(tmp_path / "out.npy")
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, model.transform(X), atol=1e-6)
    assert sum(told) == len(X)
    assert {file.name for file in tmp_path.iterdir()} == {"in.npy", "out.npy"}


@pytest.mark.parametrize("out", ["out.parquet", "out.arrow"])
@pytest.mark.parametrize("files", [1, 3])
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
    again = open_rows(tmp_path / out)
    assert again.shape == (len(X), 4)


def test_some_columns_are_kept(X, model, tmp_path):
    feather.write_feather(_table(X, a=np.arange(230), b=np.arange(230)), tmp_path / "in.feather")
    rows = open_rows(tmp_path / "in.feather")
    transform_file(model, rows, tmp_path / "out.parquet", keep=["b", "id"], name="small")
    assert pq.read_table(tmp_path / "out.parquet").schema.names == ["b", "id", "small"]
    with pytest.raises(DataError, match=r"no column 'c' beside its vectors: it has 'id', 'a', 'b'"):
        transform_file(model, rows, tmp_path / "other.parquet", keep=["c"])
    assert not (tmp_path / "other.parquet").exists()


@pytest.fixture
def mixed(X, tmp_path):
    """A table with identifiers, and an array that has none."""
    pq.write_table(_table(X[:100]), tmp_path / "a.parquet")
    np.save(tmp_path / "b.npy", X[100:])
    return [tmp_path / "a.parquet", tmp_path / "b.npy"]


@pytest.mark.parametrize("turn", [1, -1])
def test_columns_that_only_some_files_have_are_not_lost_silently(mixed, model, tmp_path, turn):
    rows = open_rows(mixed[::turn])
    lost = r"a.parquet' has columns beside its vectors \('id'\), but '.*b.npy' has none: transform"
    with pytest.raises(DataError, match=lost):
        transform_file(model, rows, tmp_path / "out.parquet")
    with pytest.raises(DataError, match=r"b.npy' has no column 'id' beside its vectors"):
        transform_file(model, rows, tmp_path / "out.parquet", keep=["id"])
    assert not (tmp_path / "out.parquet").exists()


def test_they_are_left_behind_if_that_is_said(X, mixed, model, tmp_path):
    transform_file(model, open_rows(mixed), tmp_path / "out.parquet", keep=[])
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.schema.names == ["vector"]
    np.testing.assert_allclose(_vectors(found), model.transform(X), atol=2e-6)
    transform_file(model, open_rows(mixed), tmp_path / "out.npy")  # has no place for any


def test_tables_without_other_columns_go_with_arrays(X, mixed, model, tmp_path):
    pq.write_table(_table(X[:100]).select(["vector"]), mixed[0])
    transform_file(model, open_rows(mixed), tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").num_rows == len(X)


def test_names_do_not_clash(X, model, tmp_path):
    pq.write_table(_table(X, small=np.arange(230)), tmp_path / "in.parquet")
    with pytest.raises(DataError, match="has a column 'small' beside its vectors"):
        transform_file(
            model, open_rows(tmp_path / "in.parquet"), tmp_path / "out.parquet", name="small"
        )


def test_rows_without_direction_are_zero_and_counted(X, model, tmp_path):
    holes = X.copy()
    holes[[3, 200]] = 0
    np.save(tmp_path / "in.npy", holes)
    with pytest.warns(NoDirectionWarning, match="2 of 230 rows"):
        count = transform_file(model, open_rows(tmp_path / "in.npy"), tmp_path / "out.npy")
    assert count == 2
    assert not np.load(tmp_path / "out.npy")[[3, 200]].any()


def test_a_nan_is_named_and_nothing_is_written(X, model, tmp_path):
    broken = X.copy()
    broken[229, 3] = np.nan
    np.save(tmp_path / "in.npy", broken)
    rows = open_rows(tmp_path / "in.npy", memory_budget="30kB")
    with pytest.raises(DataError, match=r"NaN in row 229 of '.*in.npy', column 3"):
        transform_file(model, rows, tmp_path / "out.npy")
    assert [file.name for file in tmp_path.iterdir()] == ["in.npy"]


def test_an_older_output_stays_if_the_new_one_fails(X, model, tmp_path):
    np.save(tmp_path / "in.npy", X)
    (tmp_path / "out.npy").write_text("precious")
    rows = open_rows(tmp_path / "in.npy")
    np.save(tmp_path / "in.npy", X[:-1])
    with pytest.raises(DataError, match=r"in\.npy"):
        transform_file(model, rows, tmp_path / "out.npy")
    assert (tmp_path / "out.npy").read_text() == "precious"


def test_other_widths_and_formats_are_refused(X, model, tmp_path):
    np.save(tmp_path / "in.npy", X[:, :5])
    with pytest.raises(DataError, match="has 5 columns, but the model was fitted on 9"):
        transform_file(model, open_rows(tmp_path / "in.npy"), tmp_path / "out.npy")
    np.save(tmp_path / "in.npy", X)
    with pytest.raises(DataError, match=r"suffix '.csv', but vectors are written to .npy"):
        transform_file(model, open_rows(tmp_path / "in.npy"), tmp_path / "out.csv")


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_missing_package_is_one_for_writing(tmp_path, monkeypatch, suffix):
    X = np.eye(4)
    model = SphericalPCA(2).fit(X)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"^Writing Parquet and Arrow files needs pyarrow"):
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


def test_between_blocks_nothing_is_held(X, model, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    with threadpool_limits(limits=3, user_api="blas"):
        rows = open_rows(tmp_path / "rows.npy", memory_budget="90kB")
        with closing(transform_blocks(model, rows)) as blocks:
            next(blocks)
            assert workers() == 1  # none of ours
            assert allowed_threads() == 3


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


@pytest.mark.usefixtures("one_thread")
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="nobody tells which files are open")
@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_an_error_leaves_no_file_open(X, model, tmp_path, suffix):
    X = X.copy()
    X[200] = np.nan
    path = tmp_path / f"rows{suffix}"
    if suffix == ".parquet":
        pq.write_table(_table(X), path, row_group_size=50)
    else:
        feather.write_feather(_table(X), path, chunksize=40)
    with pytest.raises(DataError, match="NaN") as error:
        transform_file(model, open_rows(path, memory_budget="40kB"), tmp_path / "small.parquet")
    opened = [os.path.realpath(handle) for handle in Path("/proc/self/fd").iterdir()]
    assert str(path) not in opened
    del error  # only now may its traceback go
