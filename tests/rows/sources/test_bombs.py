"""Small files that announce, or unpack to, far more than they hold: refused before memory goes."""

from __future__ import annotations

import contextlib
import io
import pickle
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from sphericalpca import DataError, open_rows

MB = 1 << 20


@contextlib.contextmanager
def in_little_memory(most=16 * MB):
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def array(values):
    text = io.BytesIO()
    np.save(text, values)
    return text.getvalue()


def header(shape, descr="<f8"):
    """The header of an array without its numbers."""
    text = io.BytesIO()
    content = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(text, content)
    return text.getvalue()


def long_header(length=64 * MB):
    return b"\x93NUMPY\x02\x00" + length.to_bytes(4, "little")


def write(path, members, packing=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def claim(path, name, size):
    """Make the directory of an archive announce this size of an unpacked member."""
    content = bytearray(path.read_bytes())
    begin = content.rindex(b"PK\x01\x02", 0, content.rindex(name.encode()))
    content[begin + 24 : begin + 28] = struct.pack("<I", size)
    path.write_bytes(content)


def sparse(**changes):
    members = {
        "format": array(np.array("csr")),
        "shape": array(np.array([3, 4])),
        "indptr": array(np.array([0, 1, 2, 2])),
        "indices": array(np.array([0, 3])),
        "data": array(np.array([1.0, 2.0])),
    }
    return {f"{name}.npy": content for name, content in (members | changes).items()}


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_parts_that_announce_more_than_they_have(tmp_path, packing):
    path = tmp_path / "x.npz"
    for part in ("format", "shape", "indptr", "indices", "data"):
        write(path, sparse(**{part: header((100 * MB,))}), packing)
        with in_little_memory(), pytest.raises(DataError, match=r"bytes instead of 838860"):
            open_rows(path)
        claim(path, f"{part}.npy", len(header((100 * MB,))) + 800 * MB)  # as its directory does
        with in_little_memory(), pytest.raises(DataError, match="which are not in it"):
            open_rows(path)
    write(path, {"X.npy": header((10, 10 * MB))}, packing)
    claim(path, "X.npy", len(header((10, 10 * MB))) + 800 * MB)
    with in_little_memory(), pytest.raises(DataError, match="which are not in it"):
        open_rows(path)


@pytest.mark.parametrize("part", ["format", "shape"])
def test_words_and_shapes_that_unpack_to_much(tmp_path, part):
    path = tmp_path / "x.npz"
    write(path, sparse(**{part: array(np.zeros(8 * MB))}))
    assert path.stat().st_size < MB
    with in_little_memory(), pytest.raises(DataError, match="more than 10000"):
        open_rows(path)


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "sparse"])
def test_headers_without_end(tmp_path, name):
    path = tmp_path / ("x.npy" if name == "x.npy" else "x.npz")
    if name == "x.npy":
        path.write_bytes(long_header() + bytes(100))
    else:
        content = long_header() + bytes(64 * MB)
        write(path, {"X.npy": content} if name == "x.npz" else sparse(indptr=content))
        del content
    with in_little_memory(), pytest.raises(DataError, match="cannot be read"):
        open_rows(path)


def test_ways_to_pack_that_have_no_limit_and_pickles_are_refused(tmp_path):
    for packing in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        write(tmp_path / "x.npz", {"X.npy": array(np.ones((3, 4)))}, packing)
        with pytest.raises(DataError, match="in a way that numpy does not use"):
            open_rows(tmp_path / "x.npz")
    write(tmp_path / "x.npz", sparse(indptr=header((4,), "|O")))
    with pytest.raises(DataError, match="cannot be read"):
        open_rows(tmp_path / "x.npz")


def test_chunks_wider_than_the_data_set_count(tmp_path):
    """A data set that may grow can have chunks far larger than itself, which are loaded whole."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "X",
            data=np.ones((10, 2), np.float32),
            maxshape=(None, None),
            chunks=(16, 4_000_000),
            compression="gzip",
        )
    assert path.stat().st_size < MB
    rows = open_rows(path, memory_budget="64MB")
    assert rows.reader_bytes == 16 * 4_000_000 * 4


@pytest.mark.parametrize("chunks", [None, (1000, 10)])
def test_data_sets_whose_numbers_were_never_written(tmp_path, chunks):
    """HDF5 takes them for zeros, however many."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("X", shape=(10**12, 10), dtype="f4", chunks=chunks)
    with pytest.raises(DataError, match=r"declares 40000000000000 bytes"):
        open_rows(tmp_path / "x.h5")


class Trap:
    """Tells when it is unpickled."""

    sprung = False

    def __reduce__(self):
        return setattr, (Trap, "sprung", True)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_types_in_pickles_are_not_unpickled(tmp_path, suffix):
    """Extension types of a table could once contain pickles, which were loaded with it."""
    arrow = pytest.importorskip("pyarrow")
    parquet, feather = (pytest.importorskip(f"pyarrow.{n}") for n in ("parquet", "feather"))
    told = {
        "ARROW:extension:name": "arrow.py_extension_type",
        "ARROW:extension:metadata": pickle.dumps(Trap()),
    }
    vectors = arrow.field("v", arrow.list_(arrow.float32(), 2), metadata=told)
    others = arrow.field("other", arrow.int64(), metadata=told)
    schema = arrow.schema([vectors, others])
    table = arrow.table([[[1.0, 2.0]] * 5, range(5)], schema=schema)
    path = tmp_path / f"x{suffix}"
    (parquet.write_table if suffix == ".parquet" else feather.write_feather)(table, path)
    assert pickle.dumps(Trap())[2:10] in path.read_bytes() or suffix == ".parquet"
    with contextlib.suppress(DataError):
        rows = open_rows(path)
        list(rows.read(slice(0, 5), 5))
        list(rows.other_batches(["other"]))
    assert not Trap.sprung


def test_record_batches_that_are_all_of_the_file(tmp_path):
    """A thousand headers that are the whole file would be a thousand times its size to read."""
    size, count = 30_000, 1000
    footer = bytearray(struct.pack("<IHHHHHHi", 16, 12, 8, 0, 0, 0, 4, 12))
    footer += struct.pack("<I", 4) + struct.pack("<I", count)
    footer += struct.pack("<qiiq", 0, size, 0, 0) * count
    content = b"ARROW1\0\0" + bytes(size - 18 - len(footer)) + footer
    (tmp_path / "x.arrow").write_bytes(content + struct.pack("<i", len(footer)) + b"ARROW1")
    with pytest.raises(DataError, match="overlap"):
        open_rows(tmp_path / "x.arrow")
