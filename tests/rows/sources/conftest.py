"""One matrix, written in every format."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from scipy import sparse

# Rows of a row group, record batch or chunk: none of them divides the matrix evenly.
GROUP = 30


def _npy(order, dtype=None):
    def write(X, path):
        np.save(path, np.asarray(X, dtype=dtype or X.dtype, order=order))

    return write


def _npz(*, compressed):
    def write(X, path):
        sparse.save_npz(path, sparse.csr_array(X), compressed=compressed)

    return write


def _vecs(X, path):
    record = np.dtype([("length", "<i4"), ("numbers", "<f4", X.shape[1:])])
    rows = np.empty(len(X), record)
    rows["length"], rows["numbers"] = X.shape[1], X
    rows.tofile(path)


def _table(X, layout):
    n, m = X.shape
    if layout == "numbers":
        return pa.table({f"c{k}": X[:, k] for k in range(m)})
    if layout == "fixed":
        return pa.table({"v": pa.FixedSizeListArray.from_arrays(X.ravel(), m)})
    kind = pa.LargeListArray if layout == "large" else pa.ListArray
    ends = pa.array(np.arange(n + 1) * m, pa.int64() if layout == "large" else pa.int32())
    return pa.table({"v": kind.from_arrays(ends, X.ravel())})


def _parquet(layout):
    def write(X, path):
        pa.parquet.write_table(_table(X, layout), path, row_group_size=GROUP)

    return write


def _feather(layout, compression):
    def write(X, path):
        pa.feather.write_feather(_table(X, layout), path, compression=compression, chunksize=GROUP)

    return write


def _hdf5(**layout):
    def write(X, path):
        with h5py.File(path, "w") as file:
            # Growing ones may have chunks that are longer than they are.
            longest = (None, X.shape[1]) if layout else None
            file.create_dataset("train", data=X, maxshape=longest, **layout)
            file["test"] = X[:1]

    return write


# Name of a way to write a matrix: the suffix, and who writes it.
FORMATS = {
    "npy": (".npy", _npy("C")),
    "npy fortran": (".npy", _npy("F")),
    "npy big-endian": (".npy", lambda X, path: np.save(path, X.astype(X.dtype.newbyteorder(">")))),
    "savez": (".npz", lambda X, path: np.savez(path, X=X, id=np.arange(len(X)))),
    "savez fortran": (".npz", lambda X, path: np.savez(path, np.asfortranarray(X))),
    "savez compressed": (".npz", lambda X, path: np.savez_compressed(path, X=X)),
    "npz": (".npz", _npz(compressed=False)),
    "npz compressed": (".npz", _npz(compressed=True)),
    "fvecs": (".fvecs", _vecs),
    "parquet fixed": (".parquet", _parquet("fixed")),
    "parquet list": (".pq", _parquet("list")),
    "parquet large": (".parquet", _parquet("large")),
    "parquet numbers": (".parquet", _parquet("numbers")),
    "feather fixed": (".feather", _feather("fixed", "lz4")),
    "feather list": (".feather", _feather("list", "zstd")),
    "arrow large": (".arrow", _feather("large", "uncompressed")),
    "arrow numbers": (".ipc", _feather("numbers", "uncompressed")),
    "hdf5": (".hdf5", _hdf5()),
    "hdf5 chunks": (".h5", _hdf5(chunks=(GROUP, 2), compression="gzip")),
}


@pytest.fixture(scope="session")
def write():
    """Write a matrix in one of the formats; returns the path."""

    def write(X, name, folder, stem="rows"):
        suffix, writer = FORMATS[name]
        path = Path(folder) / f"{stem}{suffix}"
        writer(X, path)
        return path

    return write


@pytest.fixture(params=FORMATS, ids=lambda name: name.replace(" ", "_"))
def format_name(request):
    return request.param


@pytest.fixture(scope="session")
def X():
    """100 x 7 in float32, some zeros, no zero row."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((100, 3)) @ rng.standard_normal((3, 7))
    X += 0.3 * rng.standard_normal(X.shape)
    X[rng.random(X.shape) < 0.2] = 0.0
    X[:, 0] += 3.0
    return X.astype(np.float32)


@pytest.fixture
def path(X, format_name, write, tmp_path):
    """The matrix X in each format in turn."""
    return write(X, format_name, tmp_path)


@pytest.fixture(scope="session")
def dense():
    """A copy of a block: its memory may be used again."""

    def dense(block):
        return block.toarray() if sparse.issparse(block) else block.copy()

    return dense
