"""Small files of every row format, in every layout that is read differently.

Tests of formats, fuzz seeds and fuzz targets are made of `SAMPLES`: a new format adds its own here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sphericalpca.linalg import Array
from sphericalpca.registry.formats import FORMATS

__all__ = ["SAMPLES", "SampleFile", "sample_suffix"]


class SampleFile(NamedTuple):
    """A way to write a matrix to a file.

    Attributes
    ----------
    format : str
        Its name in `FORMATS`.
    write : callable
        Called with a matrix, a path, and the number of rows of a row group, record batch or chunk.
    suffix : str
        By default the usual one of the format.
    sparse : bool
        Whether its rows are read as CSR matrices.
    any_row : bool
        Whether a reader can begin at any row.
    grouped : bool
        Whether a reader can begin at each row group, but not between.
    """

    format: str
    write: Callable[[Array, Path, int], None]
    suffix: str = ""
    sparse: bool = False
    any_row: bool = True
    grouped: bool = False


def sample_suffix(sample: SampleFile) -> str:
    """The suffix of its files."""
    return sample.suffix or FORMATS[sample.format].suffixes[0]


def _npy(X: Array, path: Path, _group: int, order: Any = "C", swapped: bool = False) -> None:
    dtype = X.dtype.newbyteorder(">") if swapped else X.dtype
    np.save(path, np.asarray(X, dtype, order=order))


def _savez(X: Array, path: Path, _group: int) -> None:
    np.savez(path, X=X, id=np.arange(len(X)))


def _savez_fortran(X: Array, path: Path, _group: int) -> None:
    np.savez(path, np.asfortranarray(X))


def _savez_compressed(X: Array, path: Path, _group: int) -> None:
    np.savez_compressed(path, X=X)


def _csr(X: Array, path: Path, _group: int, compressed: bool) -> None:
    sparse.save_npz(path, sparse.csr_array(X), compressed=compressed)


def _vecs(X: Array, path: Path, _group: int, numbers: str) -> None:
    rows = np.empty(len(X), [("length", "<i4"), ("numbers", numbers, X.shape[1:])])
    rows["length"], rows["numbers"] = X.shape[1], X
    rows.tofile(path)


def _table(X: Array, layout: str) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - an extra

    n, m = X.shape
    if layout == "numbers":
        return pa.table({f"c{k}": X[:, k] for k in range(m)})
    if layout == "fixed":
        return pa.table({"v": pa.FixedSizeListArray.from_arrays(X.ravel(), m)})
    kind = pa.LargeListArray if layout == "large" else pa.ListArray
    ends = pa.array(np.arange(n + 1) * m, pa.int64() if layout == "large" else pa.int32())
    return pa.table({"v": kind.from_arrays(ends, X.ravel())})


def _parquet(X: Array, path: Path, group: int, layout: str) -> None:
    from pyarrow import parquet  # noqa: PLC0415 - an extra

    parquet.write_table(_table(X, layout), path, row_group_size=group)


def _feather(X: Array, path: Path, group: int, layout: str, compression: str) -> None:
    from pyarrow import feather  # noqa: PLC0415 - an extra

    feather.write_feather(_table(X, layout), path, compression=compression, chunksize=group)


def _hdf5(X: Array, path: Path, group: int, chunked: bool) -> None:
    import h5py  # noqa: PLC0415 - an extra

    layout = {"chunks": (group, min(2, X.shape[1])), "compression": "gzip"} if chunked else {}
    with h5py.File(path, "w") as file:
        # Resizable data sets may have chunks longer than the data.
        longest = (None, X.shape[1]) if layout else None
        file.create_dataset("train", data=X, maxshape=longest, **layout)
        file["test"] = X[:1]


def _in_groups(name: str, write: Callable[..., None], suffix: str, **layout: str) -> SampleFile:
    return SampleFile(name, partial(write, **layout), suffix, any_row=False, grouped=True)


SAMPLES: dict[str, SampleFile] = {
    "npy": SampleFile("npy", _npy),
    "npy fortran": SampleFile("npy", partial(_npy, order="F")),
    "npy big-endian": SampleFile("npy", partial(_npy, swapped=True)),
    "savez": SampleFile("npz", _savez),
    "savez fortran": SampleFile("npz", _savez_fortran),
    "savez compressed": SampleFile("npz", _savez_compressed, any_row=False),
    "npz": SampleFile("npz", partial(_csr, compressed=False), sparse=True),
    "npz compressed": SampleFile("npz", partial(_csr, compressed=True), sparse=True, any_row=False),
    "fvecs": SampleFile("fvecs", partial(_vecs, numbers="<f4")),
    "bvecs": SampleFile("bvecs", partial(_vecs, numbers="u1")),
    "parquet fixed": _in_groups("parquet", _parquet, ".parquet", layout="fixed"),
    "parquet list": _in_groups("parquet", _parquet, ".pq", layout="list"),
    "parquet large": _in_groups("parquet", _parquet, ".parquet", layout="large"),
    "parquet numbers": _in_groups("parquet", _parquet, ".parquet", layout="numbers"),
    "feather fixed": _in_groups("arrow", _feather, ".feather", layout="fixed", compression="lz4"),
    "feather list": _in_groups("arrow", _feather, ".feather", layout="list", compression="zstd"),
    "arrow large": _in_groups(
        "arrow", _feather, ".arrow", layout="large", compression="uncompressed"
    ),
    "arrow numbers": _in_groups(
        "arrow", _feather, ".ipc", layout="numbers", compression="uncompressed"
    ),
    "hdf5": SampleFile("h5", partial(_hdf5, chunked=False), ".hdf5"),
    "hdf5 chunks": SampleFile("h5", partial(_hdf5, chunked=True), ".h5"),
}
