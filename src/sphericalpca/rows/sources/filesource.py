"""What all formats share: one file, its storage type, and the type of the arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sphericalpca.exceptions import DataError, Parameter, Phrase, import_extra, printable
from sphericalpca.linalg import Array
from sphericalpca.registry.formats import FORMATS, format_of
from sphericalpca.rows.reading import RowSource

__all__ = ["DataFile", "FileSource", "Options", "chosen_key", "optional", "rewritten"]

DAMAGED = "the file is damaged or of another format; write or copy it again"
STREAM = "it is an Arrow IPC stream; write it as a file, as pyarrow.feather.write_feather does"


@dataclass(frozen=True)
class DataFile:
    """Name, size, modification time and inode of a file, to detect that it has changed."""

    path: Path
    size: int
    modified: int
    inode: int

    @classmethod
    def at(cls, path: Path) -> DataFile:
        """The file as it is now."""
        try:
            status = path.stat()
        except FileNotFoundError:
            raise DataError(f"There is no file {str(path)!r}", remedy="check the path") from None
        except (OSError, ValueError) as error:
            raise DataError(f"{str(path)!r} cannot be opened ({_reason(error)})") from None
        if path.is_dir():
            pattern = str(path / "*.npy")
            remedy = f"pass a file, a list of files, or a pattern such as {pattern!r}"
            raise DataError(f"{str(path)!r} is a folder", remedy=remedy)
        if not path.is_file():
            found = f"{str(path)!r} is a pipe or a device"
            raise DataError(found, "rows are read several times", "write them to a file first")
        return cls(path, status.st_size, status.st_mtime_ns, status.st_ino)

    @property
    def name(self) -> str:
        """Its name in messages."""
        return repr(str(self.path))

    def check_unchanged(self) -> None:
        """Raise a `DataError` if the file is not as it was."""
        remedy = "do not change files during a fit, or open them again"
        try:
            now = DataFile.at(self.path)
        except DataError:
            found = f"{self.name} was removed since it was opened"
            raise DataError(found, remedy=remedy) from None
        if now.size != self.size:
            found = f"{self.name} had {self.size} bytes when it was opened"
            raise DataError(found, f"has {now.size} now", remedy)
        if now != self:
            found = f"{self.name} was written or replaced since it was opened"
            raise DataError(found, remedy=remedy)

    @contextmanager
    def being_read(self, row: int | None = None) -> Iterator[None]:
        """Turn any error of a decoder on a damaged file into a `DataError` that names the file."""
        try:
            yield
        except (DataError, ImportError):
            raise
        except Exception as error:
            where = self.name if row is None else f"{self.name}, from row {row} on,"
            remedy: Phrase = DAMAGED
            if isinstance(error, PermissionError):
                remedy = "get permission to read it"
            elif isinstance(error, MemoryError):  # a damaged file may announce any size
                remedy = (DAMAGED, ", or lower ", Parameter("memory_budget"))
            elif format_of(self.path) is FORMATS["arrow"]:
                with suppress(OSError), self.path.open("rb") as handle:
                    remedy = STREAM if handle.read(4) == b"\xff\xff\xff\xff" else DAMAGED
            found = f"{where} cannot be read ({_reason(error)})"
            raise DataError(found, remedy=remedy) from error


def _reason(error: Exception) -> str:
    """The first line of an error, shortened."""
    text = (getattr(error, "strerror", None) or str(error) or type(error).__name__).strip()
    return printable(text.splitlines()[0].rstrip(" ."), 200)


@dataclass(frozen=True)
class Options:
    """What the user selects from files; `names` are the column names of a model."""

    column: str | None = None
    columns: tuple[str, ...] | None = None
    key: str | None = None
    memory_budget: int = 512_000_000
    names: tuple[str, ...] | None = None


class FileSource(RowSource):
    """The rows of one file, unchanged since it was opened; `storage` is their type there."""

    def __init__(
        self, file: DataFile, shape: Sequence[int], storage: Any, memory_budget: int
    ) -> None:
        self.file = file
        self.name = file.name
        self.shape = (int(shape[0]), int(shape[1]))
        self.storage = np.dtype(storage)
        if self.storage.kind not in "fiub":
            found = f"{file.name} holds values of type {self.storage}"
            raise DataError(found, "rows must be real numbers", "write them as float32 or float64")
        # float32 where it represents every number of the storage type.
        single = self.storage.itemsize <= (4 if self.storage.kind == "f" else 2)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.stored = self.shape[0] * self.shape[1]
        self.memory_budget = memory_budget
        # The whole file is one part, unless a format can do better.
        self.cuts = [0, self.shape[0]]

    @property
    def converts(self) -> bool:
        """Whether numbers are converted to another type than in the file."""
        return bool(self.storage != self.dtype)

    @property
    def row_bytes(self) -> float:
        """Memory of a row."""
        return float(self.shape[1] * self.dtype.itemsize)

    @property
    def extra_row_bytes(self) -> float:
        """A buffer of numbers as they are in the file, if they are converted."""
        return float(self.shape[1] * self.storage.itemsize) if self.converts else 0.0

    def check_unchanged(self) -> None:
        """Raise a `DataError` if the file has changed since it was opened."""
        self.file.check_unchanged()


def chosen_key(
    file: DataFile, key: str | None, noun: str, found: Mapping[str, tuple[tuple[int, ...], bool]]
) -> str:
    """The name of one matrix in a file, given the shapes of all and whether they are numeric."""
    matrices = [name for name, (shape, numeric) in found.items() if len(shape) == 2 and numeric]
    if key is None and len(matrices) == 1:
        return matrices[0]
    if key is not None and key in matrices:
        return key
    what = f"several 2-D {noun}s" if matrices else f"no 2-D {noun} of numbers"
    what = what if key is None else f"no 2-D {noun} {key!r} of numbers"
    listed = ", ".join(f"{name!r} {shape}" for name, (shape, _) in found.items()) or "nothing"
    remedy = ("name one with ", Parameter("key", ...), f"; it has {listed}")
    raise DataError(f"{file.name} has {what}", remedy=remedy)


def rewritten(values: Array, out: Array) -> Array:
    """The values in the type of `out`; a number outside its range becomes an infinity."""
    with np.errstate(over="ignore"):
        np.copyto(out, values, casting="unsafe")
    return out


def optional(module: str, what: str, *, doing: str = "Reading") -> Any:
    """An optional module, or an error that says how to install it."""
    package = module.partition(".")[0]
    extra = next(known.extra for known in FORMATS.values() if known.package == package)
    return import_extra(module, f"{doing} {what}", package, extra)
