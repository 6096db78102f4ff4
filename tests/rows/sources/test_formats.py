"""What is particular to single formats: columns, keys, orders, repeated indices."""

from __future__ import annotations

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from scipy import sparse

from sphericalpca import DataError, open_rows


def matrix(source, dense, height=9):
    return np.concatenate([dense(b) for b in source.read(slice(0, source.shape[0]), height)])


def vectors(X):
    return pa.FixedSizeListArray.from_arrays(X.ravel(), X.shape[1])


@pytest.fixture(params=[".parquet", ".feather"])
def save_table(request, tmp_path):
    """Write a table as Parquet or Feather."""

    def save(columns, **options):
        path = tmp_path / f"table{request.param}"
        write = pa.parquet.write_table if path.suffix == ".parquet" else pa.feather.write_feather
        write(pa.table(columns), path, **options)
        return path

    return save


def test_a_column_of_lists_or_columns_of_numbers_are_meant(X, save_table, dense):
    words = ["x"] * 100
    for columns, options, expected in (
        ({"id": np.arange(100), "v": vectors(X), "title": words}, {}, X),
        ({"title": vectors(-X), "body": vectors(X)}, {"column": "body"}, X),
        (
            {"a": X[:, 0], "t": words, "b": X[:, 1], "v": vectors(X), "c.d": X[:, 2]},
            {"columns": ["c.d", "a"]},
            X[:, [2, 0]],
        ),
        ({"a": X[:, 0], "t": words, "b": X[:, 1]}, {}, X[:, :2]),
        ({"x*": X[:, 0], "xy": X[:, 1]}, {"columns": ["x*"]}, X[:, :1]),  # a name, no pattern
    ):
        found = matrix(open_rows(save_table(columns), **options), dense)
        np.testing.assert_array_equal(found, expected, err_msg=f"{list(columns)} {options}")


def test_columns_of_several_types_are_computed_in_the_widest(X, save_table):
    numbers = X[:, 0]
    types = {"f2": np.float32, "i2": np.float32, "i4": np.float64, "f8": np.float64}
    for kind, expected in types.items():
        path = save_table({"a": numbers, "b": numbers.astype(kind)})
        assert open_rows(path, columns=["a", "b"]).dtype == expected


def test_identifiers_are_not_taken_for_coordinates(X, save_table, dense):
    columns = {"id": np.arange(100), **{f"x{k}": X[:, k] for k in range(3)}, "xt": ["x"] * 100}
    path = save_table(columns)
    with pytest.raises(DataError, match=r"whole numbers \('id'\) besides others.*columns="):
        open_rows(path)
    np.testing.assert_array_equal(matrix(open_rows(path, columns=["x*"]), dense), X[:, :3])
    found = matrix(open_rows(path, columns=["x2", "x[01]"]), dense)
    np.testing.assert_array_equal(found, X[:, [2, 0, 1]])
    whole = open_rows(save_table({"a": np.arange(100), "b": np.arange(100)}))
    assert whole.shape == (100, 2)


@pytest.mark.parametrize(
    ("name", "dtype"), [(None, np.float32), ("when", np.int64), (["when", "where"], np.float32)]
)
def test_the_index_of_a_data_frame_is_no_coordinate(X, tmp_path, dense, dtype, name):
    """What a file holds is what pandas reads from it: rows that were drawn keep their numbers."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame((10 * X[:, :3]).astype(dtype), columns=["x0", "x1", "x2"])
    frame["when"], frame["where"] = np.arange(100).astype(dtype)[::-1], frame["x0"]
    frame = (frame if name is None else frame.set_index(name)).sample(50, random_state=0)
    path = tmp_path / "table.parquet"
    frame.to_parquet(path)
    expected = pandas.read_parquet(path)
    for columns in (None, ["*"]):
        source = open_rows(path, columns=columns)
        assert list(source.columns) == list(expected.columns)
        np.testing.assert_array_equal(matrix(source, dense), expected.to_numpy())
    if name is not None:
        assert open_rows(path, columns=["x0", "when"]).shape == (50, 2)


def test_an_index_is_known_by_its_name_where_pandas_notes_are_lost_or_no_sense(X, tmp_path):
    table = pa.table({"x": X[:, 0], "__index_level_0__": X[:, 1]})
    for note in (None, "[", "1", "[]", '{"index_columns": 1}', '{"index_columns": [{}, null]}'):
        table = table.replace_schema_metadata(None if note is None else {"pandas": note})
        pa.parquet.write_table(table, tmp_path / "table.parquet")
        assert open_rows(tmp_path / "table.parquet").columns == ("x",)


def test_columns_that_cannot_be_rows(X, save_table):
    lists, words = vectors(X), ["x"] * 100
    table = {"a": X[:, 0], "t": words, "v": lists, "n": [["b"]] * 100}
    for columns, options, message in (
        (table, {"column": "w"}, "has no column 'w': it has 'a', 't', 'v', 'n'"),
        (table, {"column": "a"}, "'a' of .* is of type float, but rows are lists.*columns="),
        (table, {"column": "t"}, "'t' of .* is of type string, but rows are lists"),
        (table, {"column": "n"}, "'n' of .* is of type list.*string.*but rows are lists of number"),
        (table, {"columns": ["a", "w"]}, "has no column 'w'"),
        (table, {"columns": ["w*"]}, "No column of numbers in .* matches 'w\\*'"),
        (table, {"columns": ["a", "*"]}, "must name columns, each once"),
        (table, {"columns": ["a", "t"]}, "'t' of .* is of type string, but must hold numbers"),
        (table, {"columns": ["a", "a"]}, "must name columns, each once"),
        (table, {"columns": []}, "must name columns, each once"),
        (
            {"title": lists, "body": lists, "words": [["a"]] * 100},
            {},
            r"several columns of lists \('title', 'body'\).*column=",
        ),
        ({"t": words}, {}, r"no column of numbers or lists of numbers \(it has 't'\)"),
        ({f"c{k}": words for k in range(40)}, {}, "'c9', and 30 more"),
    ):
        with pytest.raises(DataError, match=message):
            open_rows(save_table(columns), **options)


def test_slices_and_chunks_of_a_table_are_read_right(X, dense, tmp_path):
    """Arrays that begin inside their memory, and batches of several lengths."""
    table = pa.concat_tables([pa.table({"v": vectors(X)}).slice(a, 13) for a in (50, 3, 87)])
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    source = open_rows(tmp_path / "t.arrow")
    assert list(source.cuts) == [0, 13, 26, 39]
    expected = np.concatenate([X[50:63], X[3:16], X[87:100]])
    np.testing.assert_array_equal(matrix(source, dense, 5), expected)


@pytest.mark.parametrize("format_name", ["parquet list", "feather list", "npy"])
def test_one_row_and_one_column(format_name, write, dense, tmp_path):
    one = np.full((1, 1), 2.5, np.float32)
    source = open_rows(write(one, format_name, tmp_path))
    np.testing.assert_array_equal(matrix(source, dense), one)


def test_hdf5_takes_the_key_or_train_or_the_only_matrix(X, dense, tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["deep/down/vectors"] = X
        file["labels"] = np.arange(100)
        file["names"] = np.full((100, 2), b"x")
    np.testing.assert_array_equal(matrix(open_rows(path), dense), X)
    with h5py.File(path, "a") as file:
        file["other"] = -X
        file["linked"] = h5py.SoftLink("/deep/down/vectors")
    with pytest.raises(DataError, match=r"several 2-D.*key=.*'deep/down/vectors' \(100, 7\)"):
        open_rows(path)
    for key in ("deep/down/vectors", "/deep/down/vectors", "linked"):
        np.testing.assert_array_equal(matrix(open_rows(path, key=key), dense), X)
    with h5py.File(path, "a") as file:
        file["train"] = 2 * X
    np.testing.assert_array_equal(matrix(open_rows(path), dense), 2 * X)


def test_hdf5_keys_that_are_no_matrix(X, tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["labels"] = np.arange(100)
        file["null"] = h5py.Empty("f4")
    with pytest.raises(DataError, match=r"no 2-D data set of numbers.*it has nothing"):
        open_rows(path)
    with h5py.File(path, "a") as file:
        file["deep/vectors"] = X
        file["names"] = np.full((100, 2), b"x")
    for key in ("labels", "deep", "nothing", "deep/nothing", "names"):
        words = "type .S1.*real numbers" if key == "names" else "no 2-D data set.*'deep/vectors'"
        with pytest.raises(DataError, match=words):
            open_rows(path, key=key)


@pytest.mark.parametrize("layout", ["user block", "compact", "virtual", "resizable"])
def test_unusual_hdf5_layouts(X, dense, tmp_path, layout):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", userblock_size=512 if layout == "user block" else 0) as file:
        if layout == "virtual":
            file["train"] = X
            virtual = h5py.VirtualLayout((200, 7), "f4")
            virtual[:100] = virtual[100:] = h5py.VirtualSource(file["train"])
            file.create_virtual_dataset("all", virtual)
        elif layout == "compact":
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_layout(h5py.h5d.COMPACT)
            space = h5py.h5s.create_simple(X.shape)
            made = h5py.h5d.create(file.id, b"train", h5py.h5t.IEEE_F32LE, space, plist)
            h5py.Dataset(made)[:] = X
        else:
            file.create_dataset(
                "train", data=X, maxshape=(None if layout == "resizable" else 100, 7)
            )
    if layout == "virtual":
        found = matrix(open_rows(path, key="all"), dense)
        np.testing.assert_array_equal(found, np.concatenate([X, X]))
    else:
        np.testing.assert_array_equal(matrix(open_rows(path), dense), X)


@pytest.mark.parametrize("way", ["storage", "link", "linked group", "source", "source's source"])
def test_no_hdf5_file_makes_others_be_read(X, tmp_path, way):
    """A file from a stranger must not turn the reader's own files into rows."""
    own, strange = tmp_path / "own.h5", tmp_path / "sub" / "strange.h5"
    strange.parent.mkdir()
    own.with_suffix(".bin").write_bytes(X.tobytes())
    with h5py.File(own, "w") as file:
        file["g/X"] = X
    key = "g/X" if way == "linked group" else "X"
    with h5py.File(strange, "w") as file:
        if way == "storage":
            place = (own.with_suffix(".bin"), 0, X.nbytes)
            file.create_dataset("X", X.shape, X.dtype, external=[place])
        elif way.startswith("link"):
            name, target = ("X", "/g/X") if way == "link" else ("g", "/g")
            file[name] = h5py.ExternalLink(own, target)
        else:
            file.create_virtual_dataset("X", _virtual(X, own, "g/X"))
            if way == "source's source":
                file.move("X", "Y")
                file.create_virtual_dataset("X", _virtual(X, ".", "Y"))
    with pytest.raises(DataError, match=r"refers to another file, '(.*own\.(h5|bin)|\.:Y)"):
        open_rows(strange, key=key)


def test_hdf5_sources_that_go_round_in_circles_or_nowhere(X, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_virtual_dataset("X", _virtual(X, ".", "Y"))
        file.create_virtual_dataset("Y", _virtual(X, ".", "X"))
        file.create_virtual_dataset("Z", _virtual(X, ".", "nowhere"))
    for key, place in {"X": "Y", "Z": "nowhere"}.items():
        with pytest.raises(DataError, match=f"refers to another file, '.:{place}'"):
            open_rows(tmp_path / "a.h5", key=key)


def _virtual(X, path, key):
    layout = h5py.VirtualLayout(X.shape, X.dtype)
    layout[:] = h5py.VirtualSource(path, key, X.shape)
    return layout


def test_arrays_of_an_archive_are_read_where_they_are(X, dense, tmp_path):
    """The names in an archive are names of arrays; no file is made of them."""
    for name in ("../X", "../../../X", "/X", "a/../../X", "C:\\X"):
        np.savez(tmp_path / "a.npz", **{name: X})
        for key in (None, name):
            found = matrix(open_rows(tmp_path / "a.npz", key=key), dense)
            np.testing.assert_array_equal(found, X)
    assert [p.name for p in tmp_path.rglob("*")] == ["a.npz"]
    assert not any((tmp_path.parent / f"X{end}").exists() for end in ("", ".npy"))


@pytest.mark.parametrize(("compressed", "index"), [(False, np.int32), (True, np.int64)])
def test_repeated_indices_are_added_up_and_unsorted_ones_sorted_out(
    dense, tmp_path, compressed, index
):
    indices, pointer = np.array([3, 1, 3, 0, 2, 2, 2], index), np.array([0, 3, 3, 7], index)
    S = sparse.csr_array((np.arange(1.0, 8.0), indices, pointer), shape=(3, 4))
    sparse.save_npz(tmp_path / "S.npz", S, compressed=compressed)
    expected = np.array([[0, 2, 0, 4], [0, 0, 0, 0], [4, 0, 18, 0]])
    for height in (1, 2, 3):
        blocks = open_rows(tmp_path / "S.npz").read(slice(0, 3), height)
        found = [(block.has_canonical_format, dense(block)) for block in blocks]
        assert all(canonical for canonical, _ in found)
        np.testing.assert_array_equal(np.concatenate([block for _, block in found]), expected)


def test_other_sparse_formats_are_refused_with_the_remedy(X, tmp_path):
    for kind in ("csc", "coo", "bsr"):
        sparse.save_npz(tmp_path / "S.npz", sparse.csr_matrix(X).asformat(kind))
        with pytest.raises(DataError, match=f"holds a {kind.upper()} matrix.*save X.tocsr"):
            open_rows(tmp_path / "S.npz")
    sparse.save_npz(tmp_path / "S.npz", sparse.csr_array(X))
    with pytest.raises(DataError, match="one sparse matrix: leave it out"):
        open_rows(tmp_path / "S.npz", key="data")


def test_of_an_archive_of_arrays_one_is_taken(X, tmp_path, dense):
    np.savez(tmp_path / "X.npz", X=X, id=np.arange(len(X)), name=np.array([["a"]]))
    np.testing.assert_array_equal(matrix(open_rows(tmp_path / "X.npz"), dense), X)
    np.savez_compressed(tmp_path / "two.npz", base=X, queries=X[:3])
    for key, rows in (("base", X), ("queries", X[:3])):
        source = open_rows(tmp_path / "two.npz", key=key)
        np.testing.assert_array_equal(matrix(source, dense), rows)
    for arrays, key, words in (
        ({"a": X, "b": X[:3]}, None, r"several 2-D arrays.*'a' \(100, 7\)"),
        ({"a": X[0]}, None, "no 2-D array of numbers: name one"),
        ({}, None, "no 2-D array.*it has nothing"),
        ({"a": X}, "b", "no 2-D array 'b' of numbers.*it has 'a'"),
        ({"a": X, "b": X[0]}, "b", r"no 2-D array 'b' of numbers.*'b' \(7,\)"),
    ):
        np.savez(tmp_path / "X.npz", **arrays)
        with pytest.raises(DataError, match=words):
            open_rows(tmp_path / "X.npz", key=key)
    np.savez_compressed(tmp_path / "X.npz", X=np.asfortranarray(X))
    with pytest.raises(DataError, match=r"compressed and in Fortran order.*numpy\.savez"):
        open_rows(tmp_path / "X.npz")


def test_arrays_that_are_no_rows(tmp_path):
    for array, words in (
        (np.ones(3), r"shape \(3,\), but rows are a 2-D array: reshape"),
        (np.ones((2, 2, 2)), r"shape \(2, 2, 2\), but rows"),
        (np.ones((2, 2), complex), "type complex128, but rows must be real"),
        (np.full((2, 2), "text"), "type <U4, but rows must be real"),
        (np.full((2, 2), None), "type object, but rows must be real"),
        (np.zeros((2, 2), "M8[s]"), "but rows must be real"),
        (np.zeros((2, 2), [("a", "f4")]), "but rows must be real"),
        (np.ones((3, 0)), "has no columns"),
        (np.ones((0, 3)), "holds no rows"),
    ):
        np.save(tmp_path / "a.npy", array, allow_pickle=True)
        with pytest.raises(DataError, match=words):
            open_rows(tmp_path / "a.npy")


def test_extended_precision_becomes_double_and_too_large_numbers_infinite(dense, tmp_path):
    X = np.array([[1.5, np.finfo(np.longdouble).max]], np.longdouble)
    np.save(tmp_path / "a.npy", X)
    source = open_rows(tmp_path / "a.npy")
    assert source.dtype == np.float64
    np.testing.assert_array_equal(matrix(source, dense), [[1.5, np.inf]])


def test_bvecs(write, dense, tmp_path):
    X = np.random.default_rng(0).integers(0, 256, (50, 9), dtype=np.uint8)
    source = open_rows(write(X, "bvecs", tmp_path))
    assert source.shape == (50, 9)
    assert source.dtype == np.float32
    np.testing.assert_array_equal(matrix(source, dense), X)


def test_large_row_groups_are_decoded_piece_by_piece(tmp_path):
    """A row group of 4 MB needs pages of 1 MB, and as many rows as requested."""
    X = np.random.default_rng(0).standard_normal((20_000, 50), dtype=np.float32)
    pa.parquet.write_table(pa.table({"v": vectors(X)}), tmp_path / "t.parquet", compression="none")
    source = open_rows(tmp_path / "t.parquet")
    assert list(source.cuts) == [0, 20_000]
    usual = pa.default_memory_pool()
    counted = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(counted)
    try:
        assert sum(len(block) for block in source.read(slice(0, 20_000), 100)) == 20_000
    finally:
        pa.set_memory_pool(usual)
    assert counted.max_memory() < 0.6 * X.nbytes
