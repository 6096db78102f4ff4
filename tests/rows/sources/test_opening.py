"""Selection and order of files, and errors before anything is read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sphericalpca import DataError, MissingExtraError, SphericalPCA, open_rows
from sphericalpca.rows.sources.filesource import DataFile
from sphericalpca.rows.sources.opening import find_paths, parse_budget


@pytest.fixture
def parts(X, tmp_path):
    """Twelve files of one row each, part-0.npy to part-11.npy."""
    for k in range(12):
        np.save(tmp_path / f"part-{k}.npy", X[k : k + 1])
    return tmp_path


def matrix(source, dense):
    return np.concatenate([dense(block) for block in source.read(slice(0, source.shape[0]), 5)])


def test_which_files_are_meant_in_which_order(parts, X, dense):
    for path in (str(parts / "part-*.npy"), parts / "part-*.npy"):
        np.testing.assert_array_equal(matrix(open_rows(path), dense), X[:12], "natural order")
    names = [parts / "part-7.npy", str(parts / "part-1?.npy"), parts / "part-7.npy"]
    np.testing.assert_array_equal(matrix(open_rows(names), dense), X[[7, 10, 11, 7]])
    # A recursive pattern takes folders along, but no folder as a file.
    (parts / "deep" / "folder.npy").mkdir(parents=True)
    np.save(parts / "deep" / "folder.npy" / "part-12.npy", X[:3])
    assert open_rows(parts / "**" / "*.npy").shape == (15, X.shape[1])
    nested = find_paths(["a.npy", ["b.npy", "c.npy"]])
    assert nested == list(map(Path, ["a.npy", "b.npy", "c.npy"]))


def test_relative_paths_and_strange_names(X, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("Größe 'x'.NPY", "rows[1].npy"):
        np.save("rows.npy", X)
        Path("rows.npy").rename(name)
        assert open_rows(name).shape == X.shape


def test_files_of_several_formats_are_one_matrix(X, write, dense, tmp_path):
    names = ["npz", "parquet list", "npy fortran", "hdf5 chunks", "feather fixed"]
    files = [write(X[20 * k : 20 * k + 20], name, tmp_path, name) for k, name in enumerate(names)]
    source = open_rows(files)
    np.testing.assert_array_equal(matrix(source, dense), X)
    assert source.place(47) == f"row 7 of {str(files[2])!r}"
    assert list(source.cuts) == [0, 20, 40, 60, 80, 100]


def test_files_of_float32_and_float64_are_computed_in_float64(X, dense, tmp_path):
    np.save(tmp_path / "0.npy", X)
    np.save(tmp_path / "1.npy", X.astype(np.float64) / 3)
    np.save(tmp_path / "2.npy", X.astype(np.float16))
    source = open_rows(tmp_path / "*.npy")
    assert source.dtype == np.float64
    found = matrix(source, dense)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found[100:200], X.astype(np.float64) / 3)
    np.testing.assert_array_equal(found[200:], X.astype(np.float16))


def test_files_without_rows_are_left_out(X, tmp_path, write, dense):
    empty, full = X[:0], X
    files = [
        write(empty, "npy", tmp_path, "a"),
        write(full, "parquet list", tmp_path, "b"),
        write(empty, "parquet list", tmp_path, "c"),
        write(empty, "hdf5", tmp_path, "d"),
    ]
    np.testing.assert_array_equal(matrix(open_rows(files), dense), X)
    with pytest.raises(DataError, match=r"hold no rows.*pass a file that has rows"):
        open_rows([files[0], files[2]])


@pytest.mark.parametrize("name", ["npy", "npz", "parquet fixed", "parquet list", "hdf5"])
def test_a_wrong_dimension_in_one_of_many_files_is_named(X, write, tmp_path, name):
    files = [write(X[:, : 7 - (k == 5)], name, tmp_path, f"part-{k}") for k in range(8)]
    with pytest.raises(DataError) as caught:
        open_rows(files)
    assert str(caught.value).startswith(f"{str(files[5])!r} has 6 columns, but {str(files[0])!r}")
    assert "has 7" in str(caught.value)


def test_columns_of_other_names_are_not_put_under_each_other(X, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    for k, names in enumerate(["ab", "ba"]):
        table = pyarrow.table(dict.fromkeys(names, X[:, 0]))
        pyarrow.parquet.write_table(table, tmp_path / f"{k}.parquet")
    with pytest.raises(DataError, match=r"different columns, or in a different order.*columns="):
        open_rows(tmp_path / "*.parquet")
    assert open_rows(tmp_path / "*.parquet", columns=["b", "a"]).shape == (200, 2)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("none.npy", "There is no file 'none.npy': check the path"),
        ("no-*.npy", "No file matches the pattern 'no-[*].npy'"),
        (["rows.npy", "none.npy"], "There is no file 'none.npy'"),
        (
            "rows.csv",
            r"^Cannot read 'rows\.csv'\. Supported: .npy, .npz.*\. Convert it once and",
        ),
        ("rows", r"^Cannot read 'rows'\. Supported: .*\. Convert it\.$"),
        ("folder", "'folder' is a folder.*pattern such as 'folder/[*].npy'"),
        ([], "list of paths is empty"),
        ("model.safetensors", "the suffix of a model, not of rows"),
        ("nul\0.npy", "cannot be opened"),
    ],
)
def test_paths_that_lead_nowhere(X, tmp_path, monkeypatch, path, words):
    monkeypatch.chdir(tmp_path)
    np.save("rows.npy", X)
    Path("rows.csv").write_text("1,2")
    Path("rows").write_text("1,2")
    Path("model.safetensors").write_bytes(b"")
    Path("folder").mkdir()
    with pytest.raises(DataError, match=words):
        open_rows(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes that have names")
def test_a_pipe_cannot_be_read_again(tmp_path):
    os.mkfifo(tmp_path / "rows.npy")
    with pytest.raises(DataError, match=r"is a pipe or a device.*write them to a file first"):
        open_rows(tmp_path / "rows.npy")


def test_options_that_are_a_mistake(X, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    for path in (None, 3, {"a": 1}, b"rows.npy", [3]):
        with pytest.raises(TypeError, match="must be a path, a pattern or a list"):
            open_rows(path)
    for option, words in (
        ({"column": "v"}, "column='v' is for Parquet and Arrow files"),
        ({"columns": ["v"]}, r"columns=\['v'\] is for Parquet and Arrow files"),
        ({"key": "train"}, "key='train' is for .npz and HDF5 files"),
    ):
        with pytest.raises(DataError, match=words):
            open_rows(tmp_path / "rows.npy", **option)
    with pytest.raises(ValueError, match="pass one of the two"):
        open_rows("rows.parquet", column="v", columns=["a"])
    with pytest.raises(TypeError, match=r"must be a list: pass columns=\['ab'\]"):
        open_rows("rows.parquet", columns="ab")


def test_budgets():
    for size, texts in {
        4096: (4096, "4096"),
        7: (np.int64(7),),
        2**20: (np.float32(2**20),),
        1_500_000: ("1.5e3 kB",),
        512_000_000: ("512MB",),
        10**9: ("1e9",),
        1_500_000_000: ("1.5 gb",),
        2 * 10**9: (2e9,),
        2 * 2**30: ("2GiB",),
        64 * 2**10: (" 64 kib ",),
        10**12: ("1T",),
    }.items():
        assert [parse_budget(text) for text in texts] == [size] * len(texts)
    none = ["", "MB", "-3MB", "0MB", "3XB", "1e", "inf", b"1"]
    for text in (0, -1, True, 1.5, None, np.inf, np.nan, -2e9, 1j, *none):
        with pytest.raises(ValueError, match=r"memory_budget=.* must be a positive number of byte"):
            parse_budget(text)


USES = [
    np.asarray,
    lambda rows: np.array(rows, dtype=np.float32, copy=True),
    lambda rows: rows[:5],
    lambda rows: rows[0],
    list,
    lambda rows: rows @ np.eye(rows.shape[1]),
    lambda rows: StandardScaler().fit(rows),
    lambda rows: KMeans(2).fit(rows),
    train_test_split,
]


def test_rows_in_files_are_no_array_and_say_so(X, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    rows = open_rows(tmp_path / "rows.npy")
    for use in USES:
        with pytest.raises(TypeError, match=r"are stored in files and cannot be used.*SphericalPC"):
            use(rows)
    one, two = (make_pipeline(SphericalPCA(2, tol=1e-7)).fit_transform(rows) for rows in (rows, X))
    np.testing.assert_allclose(one, two, atol=1e-5)


ABSENT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyarrow", "h5py"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import sphericalpca
for path in sys.argv[1:]:
    try:
        print(sphericalpca.open_rows(path).shape)
    except sphericalpca.MissingExtraError as error:
        print(error)
"""


def test_formats_that_need_a_package_say_so_and_others_do_without(X, write, tmp_path):
    names = ["npy", "npz", "fvecs", "parquet fixed", "feather fixed", "hdf5"]
    files = [str(write(X, name, tmp_path)) for name in names]
    command = [sys.executable, "-W", "error", "-c", ABSENT, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    *read, parquet, arrow, hdf5 = done.stdout.splitlines()
    assert read == ["(100, 7)"] * 3
    assert parquet == str(MissingExtraError("Reading Parquet files", "pyarrow", "files"))
    assert arrow == str(MissingExtraError("Reading Arrow files", "pyarrow", "files"))
    assert hdf5 == str(MissingExtraError("Reading HDF5 files", "h5py", "files"))


def test_a_file_that_may_not_be_read_is_not_called_damaged(tmp_path):
    np.save(tmp_path / "rows.npy", np.ones((3, 2)))
    file = DataFile.at(tmp_path / "rows.npy")
    refused = r"rows\.npy' cannot be read \(.*denied.*\): get permission to read it\.$"
    with pytest.raises(DataError, match=refused), file.being_read():
        raise PermissionError(13, "Permission denied", str(file.path))
