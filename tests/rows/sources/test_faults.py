"""Files that are damaged, cut short or changed: an error that names the file, and the row."""

from __future__ import annotations

import os
import zipfile
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from sphericalpca import DataError, SphericalPCA, open_rows
from sphericalpca.registry.formats import FORMATS
from sphericalpca.rows import as_rows, weighted_mean
from sphericalpca.solvers import Alternating

N = 100
# Formats that we decode ourselves.
FUZZED = ["npy", "npy fortran", "npz", "npz compressed", "savez", "savez compressed", "fvecs"]


def read_all(source):
    return [block.shape[0] for block in source.read(slice(0, source.shape[0]), 9)]


def fails(call, *words):
    """`call` raises a DataError that says all words, and not at length."""
    with pytest.raises(DataError) as caught:
        call()
    message = str(caught.value)
    for word in words:
        assert str(word) in message, f"{word!r} is not in: {message}"
    assert len(message) < 600, message
    return message


# ---------------------------------------------------------------- damaged before they are opened


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_short_is_refused_when_it_is_opened(path, sample, share):
    if not FORMATS[sample.format].detects_truncation:
        pytest.skip("such a file does not say how long it is")
    # An odd number of bytes: no format could take the rest for all of it.
    os.truncate(path, int(path.stat().st_size * share) | 1 if share else 0)
    fails(lambda: open_rows(path), path)


@pytest.mark.parametrize("content", [b"", b"\0", b"x", b"something else" * 20, b"\xff" * 999])
def test_a_file_of_something_else(path, content):
    path.write_bytes(content)
    fails(lambda: open_rows(path), path)


def test_a_format_under_the_name_of_another(path, sample, X, tmp_path):
    for name, known in FORMATS.items():
        other = tmp_path / f"other{known.suffixes[0]}"
        other.write_bytes(path.read_bytes())
        if name == sample.format:
            assert open_rows(other).shape == X.shape
        else:
            fails(lambda other=other: open_rows(other), other)


def test_no_permission(path):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    path.chmod(0)
    fails(lambda: open_rows(path), path, "Permission denied")


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_flipped_bytes_are_never_worse_than_a_data_error(X, write, tmp_path, data):
    """Of the formats that we decode ourselves: read as something, or refused."""
    name = data.draw(st.sampled_from(FUZZED))
    path = write(X[:20], name, tmp_path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1) | st.integers(0, 130))
        content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    with suppress(DataError):
        source = open_rows(path)
        assert sum(read_all(source)) == source.shape[0]


def test_an_npy_file_with_something_appended(X, tmp_path):
    np.save(tmp_path / "a.npy", X)
    with (tmp_path / "a.npy").open("ab") as file:
        file.write(X[0].tobytes())
    fails(lambda: open_rows(tmp_path / "a.npy"), "2956 bytes", "announces 2928", "appended")


@pytest.mark.parametrize("suffix", [".fvecs", ".bvecs"])
@pytest.mark.parametrize("first", [0, -1, 2**31 - 1, 8])
def test_vecs_whose_first_length_cannot_be(tmp_path, suffix, first):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(np.full(50, first, "<i4").tobytes()[:-1])
    fails(lambda: open_rows(path), path, "199 bytes", "must have a multiple")


def test_vecs_whose_lengths_differ_name_the_row(X, write, tmp_path):
    path = write(X, "fvecs", tmp_path)
    content = np.fromfile(path, "<i4").reshape(N, 8)
    content[42, 0] = 6
    content.tofile(path)
    fails(lambda: read_all(open_rows(path)), "Row 42 of", path, "length 6", "first has 7")


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("column", [-1, 7, 2**30])
def test_an_index_out_of_range_is_named(X, tmp_path, compressed, column):
    S = sparse.csr_array(X)
    S.indices[S.indptr[33]] = column
    save = np.savez_compressed if compressed else np.savez
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": S.shape}
    save(tmp_path / "S.npz", format=b"csr", **parts)
    source = open_rows(tmp_path / "S.npz")
    fails(lambda: read_all(source), f"column {column} of row 33", "7 columns")


@pytest.mark.parametrize("what", ["decreasing", "short", "long", "begins late", "floats", "3-D"])
def test_sparse_parts_that_do_not_fit_together(X, tmp_path, what):
    S = sparse.csr_array(X)
    pointer, indices, shape = S.indptr.copy(), S.indices, S.shape
    if what == "decreasing":
        pointer[5] = pointer[7]
    elif what == "short":
        pointer = pointer[:-1]
    elif what == "long":
        pointer[-1] += 1
    elif what == "begins late":
        pointer[0] = 1
    elif what == "floats":
        indices = indices.astype(np.float32)
    else:
        shape = (*shape, 1)
    parts = {"data": S.data, "indices": indices, "indptr": pointer, "shape": shape}
    np.savez(tmp_path / "S.npz", format=b"csr", **parts)
    fails(lambda: open_rows(tmp_path / "S.npz"), "S.npz", "must fit together")


@pytest.mark.parametrize("missing", ["indptr.npy", "indices.npy"])
def test_sparse_parts_that_are_missing(X, write, tmp_path, missing):
    path = write(X, "npz", tmp_path)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "b.npz", "w") as new:
        for name in set(old.namelist()) - {missing}:
            new.writestr(name, old.read(name))
    fails(lambda: open_rows(tmp_path / "b.npz"), "b.npz", missing)


def test_an_arrow_stream_is_no_arrow_file(X, tmp_path):
    table = pa.table({"a": X[:, 0]})
    with pa.ipc.new_stream(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    fails(lambda: open_rows(tmp_path / "t.arrow"), "t.arrow", "as an Arrow file does")


# ------------------------------------------------------------------------- met while they are read


@pytest.fixture(params=["parquet", "feather"])
def save_lists(request, tmp_path):
    def save(rows, kind=None):
        table = pa.table({"v": pa.array(rows, kind or pa.list_(pa.float32()))})
        path = tmp_path / f"t.{request.param}"
        if request.param == "parquet":
            pa.parquet.write_table(table, path, row_group_size=20)
        else:
            pa.feather.write_feather(table, path, chunksize=20)
        return path

    return save


@pytest.mark.parametrize("row", [0, 57])
def test_a_null_row_is_named(X, save_lists, row):
    rows = X.tolist()
    rows[row] = None
    path = save_lists(rows)
    fails(lambda: read_all(open_rows(path)), f"'v' is null in row {row} of", path, "fill or drop")


@pytest.mark.parametrize("row", [0, 57])
def test_a_null_row_of_lists_of_one_size_is_named(X, save_lists, row):
    rows = X.tolist()
    rows[row] = None
    try:
        path = save_lists(rows, pa.list_(pa.float32(), 7))
    except pa.ArrowNotImplementedError:
        pytest.skip("this version of pyarrow does not write such a file")
    fails(lambda: read_all(open_rows(path)), "'v'", "null", f"row {row} ", path, "fill or drop")


@pytest.mark.parametrize("fixed", [False, True])
def test_a_null_inside_a_row_is_named(X, save_lists, fixed):
    rows = X.tolist()
    rows[63][4] = None
    path = save_lists(rows, pa.list_(pa.float32(), 7) if fixed else None)
    fails(lambda: read_all(open_rows(path)), f"row 63 of {str(path)!r}, at place 4 of its list")


@pytest.mark.parametrize("length", [0, 6, 8])
def test_a_list_of_another_length_is_named(X, save_lists, length):
    rows = X.tolist()
    rows[81] = [1.0] * length
    path = save_lists(rows)
    fails(
        lambda: read_all(open_rows(path)), f"row 81 of {str(path)!r} has {length} numbers", "has 7"
    )


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_a_null_in_a_column_of_numbers_is_named(X, tmp_path, suffix):
    columns = {"a": X[:, 0].tolist(), "b": [*X[:50, 1].tolist(), None, *X[51:, 1].tolist()]}
    path = tmp_path / f"t.{suffix}"
    save = pa.parquet.write_table if suffix == "parquet" else pa.feather.write_feather
    save(pa.table(columns), path)
    fails(lambda: read_all(open_rows(path)), f"Column 'b' is null in row 50 of {str(path)!r}")


@pytest.mark.parametrize("entry", [(np.nan, 0), (np.inf, 77), (-np.inf, 99)])
def test_nan_and_infinity_are_named(X, write, format_name, tmp_path, entry):
    value, row = entry
    broken = X.copy()
    broken[row, 3] = value
    path = write(broken, format_name, tmp_path)
    name = "NaN" if np.isnan(value) else f"infinity ({value})"
    words = (f"{name} in row {row} of {str(path)!r}", "column 3", "finite", "repair or drop")
    fails(lambda: as_rows(open_rows(path)), *words)
    fails(lambda: weighted_mean(open_rows(path)), *words)


def test_nan_in_one_of_many_files_is_named_by_its_row_in_that_file(X, tmp_path):
    for k in range(5):
        part = X[20 * k : 20 * k + 20].copy()
        part[7, 2] = np.nan if k == 3 else 0.0
        np.save(tmp_path / f"{k}.npy", part)
    name = str(tmp_path / "3.npy")
    fails(lambda: SphericalPCA().fit(open_rows(tmp_path / "*.npy")), f"NaN in row 7 of {name!r}")


# --------------------------------------------------------------------- changed after they were seen


def _append(path):
    with path.open("ab") as file:
        file.write(b"one more row")


def _touch(path):
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))


def _replace(path):
    status = path.stat()
    copy = path.with_suffix(".copy")
    copy.write_bytes(path.read_bytes())
    os.utime(copy, ns=(0, status.st_mtime_ns))
    copy.replace(path)


CHANGES = {
    "appended": (_append, "bytes when it was opened, but has"),
    "cut short": (lambda path: os.truncate(path, path.stat().st_size // 2), "bytes when it was"),
    "written": (_touch, "was written or replaced since"),
    "replaced": (_replace, "was written or replaced since"),
    "removed": (lambda path: path.unlink(), "was removed since"),
    "a folder now": (lambda path: (path.unlink(), path.mkdir()), "was removed since"),
}


@pytest.fixture(params=CHANGES, ids=lambda name: name.replace(" ", "_"))
def change(request):
    return CHANGES[request.param]


def test_a_file_that_changed_between_opening_and_reading(path, change):
    how, words = change
    source = open_rows(path)
    source.check_unchanged()
    how(path)
    fails(source.check_unchanged, path, words)
    fails(lambda: as_rows(source), path, words)
    fails(lambda: weighted_mean(source), path, words)


@pytest.mark.parametrize("name", ["npy", "parquet list", "npz compressed"])
def test_a_file_that_is_written_during_a_pass_is_found_out_at_its_end(X, write, tmp_path, name):
    path = write(X, name, tmp_path)
    rows = as_rows(open_rows(path))

    def kernel(block):
        _touch(path)
        return (1.0,)

    fails(lambda: rows.sweep(kernel), path, "was written or replaced")


class _Meddling(Alternating):
    """A solver that changes the file in its third step."""

    def __init__(self, how, path):
        self.__dict__.update(steps=0, how=how, path=path)

    def step(self, problem, state):
        self.__dict__["steps"] += 1
        if self.steps == 3:
            self.how(self.path)
        return super().step(problem, state)


@pytest.mark.parametrize("name", ["npy", "parquet list", "npz", "hdf5 chunks"])
def test_a_file_that_changes_between_passes_of_a_fit(X, write, tmp_path, change, name):
    how, words = change
    path = write(X, name, tmp_path)
    model = SphericalPCA(2, solver=_Meddling(how, path), tol=0.0)
    fails(lambda: model.fit(open_rows(path)), path, words)
    assert not hasattr(model, "components_")


@pytest.mark.parametrize("name", ["npy", "npy fortran", "fvecs", "npz", "hdf5"])
def test_a_file_that_is_cut_short_while_it_is_read_names_the_row(X, write, tmp_path, name):
    path = write(X, name, tmp_path)
    source = open_rows(path)
    reader = source.read(slice(0, N), 10)
    next(reader)
    os.truncate(path, path.stat().st_size // 2)
    message = fails(lambda: list(reader), path, "row")
    assert any(f"row {row}" in message for row in range(10, 100)), message


def test_an_arrow_file_that_is_cut_short_while_it_is_read_names_the_row(X, write, tmp_path):
    path = write(X, "arrow large", tmp_path)
    reader = open_rows(path).read(slice(0, N), 10)
    next(reader)
    os.truncate(path, 64)
    fails(lambda: list(reader), path, "from row 30 on", "damaged")


def test_lists_that_point_outside_of_their_numbers_name_the_row(X, write, tmp_path):
    """All of the right length: nothing else would tell, and reading them would be a crash."""
    path = write(X, "arrow large", tmp_path)
    content = path.read_bytes()
    places = 7 * np.arange(31, dtype=np.int64)
    second = content.index(places.tobytes(), content.index(places.tobytes()) + 1)
    moved = (places + 10**9).tobytes()
    path.write_bytes(content[:second] + moved + content[second + len(moved) :])
    fails(lambda: read_all(open_rows(path)), path, "from row 30 on", "damaged")


@pytest.mark.parametrize("lists", [False, True])
def test_damaged_pages_name_the_row(X, tmp_path, lists):
    """Pages that carry a checksum are verified."""
    X = X.copy()
    X[70, 1] = 0.123456  # neither smallest nor largest, which are written elsewhere too
    column = pa.FixedSizeListArray.from_arrays(X.ravel(), 7) if lists else X[:, 1]
    options = {"write_page_checksum": True, "compression": "none", "use_dictionary": False}
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.table({"a": column}), path, row_group_size=20, **options)
    content = bytearray(path.read_bytes())
    content[content.index(X[70, 1].tobytes())] ^= 0xFF
    path.write_bytes(bytes(content))
    fails(lambda: read_all(open_rows(path)), path, "from row 54 on", "CRC")


def test_a_compressed_archive_with_a_wrong_checksum_is_refused(X, write, tmp_path):
    path = write(X, "npz compressed", tmp_path)
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("data.npy")
    content = bytearray(path.read_bytes())
    # In the central directory, which is what readers trust.
    where = content.rindex(info.CRC.to_bytes(4, "little"))
    content[where] ^= 0xFF
    path.write_bytes(bytes(content))
    fails(lambda: read_all(open_rows(path)), path, "CRC")
