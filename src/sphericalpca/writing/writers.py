"""Where vectors are written: ``.npy``, Parquet, Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sphericalpca.exceptions import DataError
from sphericalpca.files import replacing
from sphericalpca.linalg import Array
from sphericalpca.rows.sources.filesource import optional
from sphericalpca.writing.carried import Carried

__all__ = ["FORMATS", "Writer", "open_writer"]

_optional = partial(optional, doing="Writing")


class Writer(Protocol):
    """Takes vectors, a block at a time."""

    def write(self, V: Array) -> None:
        """Add rows."""


@contextmanager
def open_writer(
    path: Path, shape: tuple[int, int], dtype: Any, *, name: str = "vector", carried: Any = None
) -> Iterator[Writer]:
    """A writer whose file appears under its name when all went well.

    Parameters
    ----------
    path : Path
        Its suffix tells the format.
    shape : (n, r)
    dtype : float32 or float64
    name : str
        What tables call the column of vectors.
    carried : Carried, optional
        Further columns of a table.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise DataError(
            f"{str(path)!r} has the suffix {suffix!r}, but vectors are written to "
            f"{', '.join(FORMATS)}: choose one of these."
        )
    with replacing(path) as temporary, FORMATS[suffix](temporary, shape, dtype, name, carried) as w:
        yield w


class _NpyWriter:
    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, V: Array) -> None:
        # Not tofile, which does not say why it failed.
        self._file.write(np.ascontiguousarray(V).data)


class _TableWriter:
    def __init__(self, file: Any, schema: Any, name: str, carried: Carried | None) -> None:
        self._file = file
        self._schema = schema
        self._name = name
        self._carried = carried

    def write(self, V: Array) -> None:
        pyarrow = _optional("pyarrow", "Parquet and Arrow files")
        values = pyarrow.array(np.ascontiguousarray(V).ravel())
        lists = pyarrow.FixedSizeListArray.from_arrays(values, V.shape[1])
        vectors = pyarrow.table({self._name: lists})
        if self._carried is not None:
            others = pyarrow.Table.from_batches(self._carried.take(len(V)), self._carried.schema)
            for k, field in enumerate(others.schema):
                vectors = vectors.add_column(k, field, others.column(k))
        self._file.write_table(vectors.cast(self._schema))


@contextmanager
def _npy(
    path: Path, shape: tuple[int, int], dtype: Any, _name: str, _carried: Carried | None
) -> Iterator[Writer]:
    header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        yield _NpyWriter(file)


@contextmanager
def _parquet(
    path: Path, shape: tuple[int, int], dtype: Any, name: str, carried: Carried | None
) -> Iterator[Writer]:
    schema = _schema(shape[1], dtype, name, carried)
    # Vectors hardly compress, and dictionaries of them are of no use.
    options = {"compression": {name: "NONE"}, "use_dictionary": _others(carried)}
    parquet = _optional("pyarrow.parquet", "Parquet files")
    with parquet.ParquetWriter(str(path), schema, **options) as file:
        yield _TableWriter(file, schema, name, carried)


@contextmanager
def _arrow(
    path: Path, shape: tuple[int, int], dtype: Any, name: str, carried: Carried | None
) -> Iterator[Writer]:
    schema = _schema(shape[1], dtype, name, carried)
    with _optional("pyarrow.ipc", "Arrow files").new_file(str(path), schema) as file:
        yield _TableWriter(file, schema, name, carried)


def _schema(length: int, dtype: Any, name: str, carried: Carried | None) -> Any:
    pyarrow = _optional("pyarrow", "Parquet and Arrow files")
    if name in _others(carried):
        raise DataError(
            f"The input has a column {name!r} beside its vectors: give the new vectors another "
            "name, or leave that column out."
        )
    kind = pyarrow.list_(pyarrow.from_numpy_dtype(np.dtype(dtype)), length)
    fields = [] if carried is None else list(carried.schema)
    return pyarrow.schema([*fields, pyarrow.field(name, kind)])


def _others(carried: Carried | None) -> list[str]:
    return [] if carried is None else list(carried.schema.names)


FORMATS = {
    ".npy": _npy,
    ".parquet": _parquet,
    ".pq": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
    ".ipc": _arrow,
}
