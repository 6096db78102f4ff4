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

from reliability.samples import SAMPLES
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


@pytest.mark.parametrize("content", ["cut short", "something else"])
def test_a_file_that_is_not_whole_is_refused_when_it_is_opened(path, sample, content):
    if content == "something else":
        contents = [b"", b"\0", b"x", b"something else" * 20, b"\xff" * 999]
    elif not FORMATS[sample.format].detects_truncation:
        pytest.skip("such a file does not say how long it is")
    else:
        # An odd number of bytes: no format could take the rest for all of it.
        whole = path.read_bytes()
        contents = [whole[: int(len(whole) * share) | 1] for share in (0.02, 0.5, 0.9, 0.999)]
    for part in contents:
        path.write_bytes(part)
        fails(lambda: open_rows(path), path)


def test_a_format_under_the_name_of_another(path, sample, X, tmp_path):
    for name, known in FORMATS.items():
        other = tmp_path / f"other{known.suffixes[0]}"
        other.write_bytes(path.read_bytes())
        if name == sample.format:
            assert open_rows(other).shape == X.shape
        else:
            fails(lambda other=other: open_rows(other), other)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
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
    fails(lambda: open_rows(tmp_path / "a.npy"), "2956 bytes", "declares 2928", "too long")


@pytest.mark.parametrize("first", [0, -1, 2**31 - 1, 8])
def test_vecs_whose_first_length_cannot_be(tmp_path, first):
    for path in (tmp_path / "a.fvecs", tmp_path / "a.bvecs"):
        path.write_bytes(np.full(50, first, "<i4").tobytes()[:-1])
        fails(lambda path=path: open_rows(path), path, "199 bytes", "must have a multiple")


def test_vecs_whose_lengths_differ_name_the_row(X, write, tmp_path):
    path = write(X, "fvecs", tmp_path)
    content = np.fromfile(path, "<i4").reshape(N, 8)
    content[42, 0] = 6
    content.tofile(path)
    fails(lambda: read_all(open_rows(path)), "Row 42 of", path, "length 6", "first has 7")


def parts_of(X):
    S = sparse.csr_array(X)
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": S.shape}
    return parts | {"format": b"csr"}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_index_out_of_range_is_named(X, tmp_path, save):
    for column in (-1, 7, 2**30):
        parts = parts_of(X)
        parts["indices"][parts["indptr"][33]] = column
        save(tmp_path / "S.npz", **parts)
        source = open_rows(tmp_path / "S.npz")
        fails(lambda source=source: read_all(source), f"column {column} of row 33", "7 columns")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p["indptr"].put(5, p["indptr"][7]), "must fit together"),  # decreasing
        (lambda p: p.update(indptr=p["indptr"][:-1]), "must fit together"),
        (lambda p: p["indptr"].put(-1, len(p["data"]) + 1), "must fit together"),
        (lambda p: p["indptr"].put(0, 1), "must fit together"),
        (lambda p: p.update(indices=p["indices"].astype(np.float32)), "must fit together"),
        (lambda p: p.update(shape=(*p["shape"], 1)), "must fit together"),
        (lambda p: p.pop("indptr"), "indptr.npy"),
        (lambda p: p.pop("indices"), "indices.npy"),
    ],
)
def test_sparse_parts_that_do_not_fit_together_or_are_missing(X, tmp_path, change, words):
    parts = parts_of(X)
    change(parts)
    np.savez(tmp_path / "S.npz", **parts)
    fails(lambda: open_rows(tmp_path / "S.npz"), "S.npz", words)


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


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("row", [0, 57])
def test_a_null_row_is_named(X, save_lists, row, fixed):
    rows = X.tolist()
    rows[row] = None
    try:
        path = save_lists(rows, pa.list_(pa.float32(), 7) if fixed else None)
    except pa.ArrowNotImplementedError:
        pytest.skip("this version of pyarrow does not write such a file")
    fails(lambda: read_all(open_rows(path)), "'v'", "null", f"row {row} of", path, "fill or drop")


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


def test_nan_and_infinity_are_named(X, write, format_name, tmp_path):
    for value, row, name in (
        *[(np.nan, 0, "NaN"), (np.inf, 77, "infinity (inf)"), (-np.inf, 99, "infinity (-inf)")],
    ):
        broken = X.copy()
        broken[row, 3] = value
        source = open_rows(write(broken, format_name, tmp_path, f"rows-{row}"))
        words = (f"{name} in {source.place(row)}", "column 3", "finite", "repair or drop")
        fails(lambda source=source: as_rows(source), *words)
        fails(lambda source=source: weighted_mean(source), *words)


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


def test_a_file_that_changed_between_opening_and_reading(X, write, change, tmp_path):
    how, words = change
    for name, sample in SAMPLES.items():
        if FORMATS[sample.format].dtype == "uint8":
            continue
        path = write(X, name, tmp_path, name)
        source = open_rows(path)
        source.check_unchanged()
        how(path)
        for look in (as_rows, weighted_mean, lambda source: source.check_unchanged()):
            fails(lambda look=look, source=source: look(source), path, words)


class _Meddling(Alternating):
    """A solver that changes the file in its third step."""

    def __init__(self, how, path):
        self.__dict__.update(steps=0, how=how, path=path)

    def step(self, problem, state):
        self.__dict__["steps"] += 1
        if self.steps == 3:
            self.how(self.path)
        return super().step(problem, state)


@pytest.mark.parametrize("name", ["npy", "hdf5 chunks"])
def test_a_file_that_changes_between_passes_of_a_fit(X, write, tmp_path, change, name):
    how, words = change
    path = write(X, name, tmp_path)
    model = SphericalPCA(2, solver=_Meddling(how, path), tol=0.0)
    fails(lambda: model.fit(open_rows(path)), path, words)
    assert not hasattr(model, "components_")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *[(name, "row ") for name in ("npy", "npy fortran", "fvecs", "npz", "hdf5")],
        ("arrow large", "from row 30 on"),
    ],
)
def test_a_file_that_is_cut_short_while_it_is_read_names_the_row(X, write, tmp_path, name, words):
    path = write(X, name, tmp_path)
    reader = open_rows(path).read(slice(0, N), 10)
    next(reader)
    os.truncate(path, 64 if name == "arrow large" else path.stat().st_size // 2)
    message = fails(lambda: list(reader), path, words)
    assert any(f"row {row}" in message for row in range(10, 100)), message


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
