"""The file formats of rows, each an entry in `FORMATS`, and the suffixes of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from sphericalpca.exceptions import ParameterError
from sphericalpca.registry import MODEL_SUFFIX

__all__ = [
    "FORMATS",
    "PICTURE_FORMATS",
    "Format",
    "check_suffix",
    "format_of",
    "joined",
    "row_suffixes",
    "titles",
    "writable_suffixes",
]


@dataclass(frozen=True)
class Format:
    """A file format of rows."""

    title: str  # what messages and help texts call it
    suffixes: tuple[str, ...]  # in lower case; the first is the usual one
    opener: str  # "module:function" of a `DataFile` and `Options`; it returns a `RowSource`
    description: str  # what such a file holds, for the docstring of `open_rows`
    table: bool = False  # whether `column` and `columns` choose among its columns
    key: str = ""  # how help texts say what `key` names; empty if it takes none
    dtype: str = ""  # the type of its numbers, if it has only one
    detects_truncation: bool = True  # whether opening always raises an error for truncated files
    crashes: bool = False  # whether a damaged file may crash the library that reads it
    writer: str = ""  # "module:context manager" like those of `writing`; empty if only read
    package: str = ""  # the optional package that it needs
    extra: str = "files"  # the extra of sphericalpca that brings this package


_SOURCES = "sphericalpca.rows.sources"

FORMATS: dict[str, Format] = {
    "npy": Format(
        ".npy",
        (".npy",),
        f"{_SOURCES}.npy:open_npy",
        "a 2-D array, in C or Fortran order",
        writer="sphericalpca.writing:npy_writer",
    ),
    "npz": Format(
        ".npz",
        (".npz",),
        f"{_SOURCES}.npz:open_npz",
        "a CSR matrix, from ``scipy.sparse.save_npz``, or a 2-D array, from ``numpy.savez``; "
        "compressed ones are read by one thread only",
        key="array (.npz)",
    ),
    "fvecs": Format(
        ".fvecs",
        (".fvecs",),
        f"{_SOURCES}.vecs:open_vecs",
        "float32 vectors with their lengths",
        dtype="float32",
    ),
    "bvecs": Format(
        ".bvecs",
        (".bvecs",),
        f"{_SOURCES}.vecs:open_vecs",
        "vectors of bytes with their lengths",
        dtype="uint8",
    ),
    "parquet": Format(
        "Parquet",
        (".parquet", ".pq"),
        f"{_SOURCES}.parquet:open_parquet",
        "a column of lists, or columns of numbers",
        writer="sphericalpca.writing:parquet_writer",
        table=True,
        package="pyarrow",
    ),
    "arrow": Format(
        "Arrow",
        (".arrow", ".feather", ".ipc"),
        f"{_SOURCES}.arrow:open_arrow",
        "a column of lists, or columns of numbers",
        writer="sphericalpca.writing:arrow_writer",
        table=True,
        package="pyarrow",
    ),
    "h5": Format(
        "HDF5",
        (".h5", ".hdf5", ".hdf"),
        f"{_SOURCES}.hdf5:open_hdf5",
        "a 2-D data set",
        key="data set (HDF5; default: train)",
        crashes=True,
        package="h5py",
    ),
}

# What pictures are saved as, by suffix.
PICTURE_FORMATS = {".png": "png", ".pdf": "pdf", ".svg": "svg"}

# Suffixes of other kinds of files.
_OTHERS = (
    *(".csv", ".html", ".json", ".jsonl", ".mat", ".py", ".sql", ".tsv"),
    *(".jpeg", ".jpg", *PICTURE_FORMATS),
    *(".faiss", ".joblib", ".onnx", ".pickle", ".pkl", ".pt", MODEL_SUFFIX, ".skops"),
)
# Suffixes of plain text, which exports in `_TEXTS` may have.
_PLAIN, _TEXTS = (".md", ".txt"), (".json", ".py", ".sql")


def format_of(path: Path) -> Format | None:
    """The format of a path by its suffix; None if it is not supported."""
    suffix = path.suffix.lower()
    return next((known for known in FORMATS.values() if suffix in known.suffixes), None)


def row_suffixes() -> list[str]:
    """All suffixes that `open_rows` supports."""
    return [suffix for known in FORMATS.values() for suffix in known.suffixes]


def writable_suffixes() -> list[str]:
    """All suffixes that vectors can be written to."""
    return [s for known in FORMATS.values() if known.writer for s in known.suffixes]


def titles(wanted: Callable[[Format], object], word: str = "and") -> str:
    """The formats that have a trait: "Parquet and Arrow"."""
    return joined([known.title for known in FORMATS.values() if wanted(known)], word)


def joined(names: Iterable[str], word: str = "and") -> str:
    """The names as a list in a sentence: "a, b and c"."""
    *most, last = names
    return f"{', '.join(most)} {word} {last}" if most else last


def check_suffix(path: Path, rule: str, own: str) -> None:
    """Refuse a suffix of another kind of file; `rule` is a sentence naming the right kind."""
    suffix = path.suffix.lower()
    plain = () if own in _TEXTS else _PLAIN
    if suffix != own and suffix in (*row_suffixes(), *_OTHERS, *plain):
        raise ParameterError(rule, remedy=f"use a name such as {path.with_suffix(own).name}")
