"""A file as it was when it was opened, and how messages speak of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sphericalpca.exceptions import DataError, printable

__all__ = ["DataFile"]


@dataclass(frozen=True)
class DataFile:
    """Name, size, time of the last change and inode of a file; another file has others."""

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
            raise DataError(f"There is no file {str(path)!r}: check the path.") from None
        except (OSError, ValueError) as error:
            raise DataError(f"{str(path)!r} cannot be opened: {_reason(error)}.") from None
        if path.is_dir():
            raise DataError(
                f"{str(path)!r} is a folder: pass a file, a list of files, or a pattern such as "
                f"{str(path / '*.npy')!r}."
            )
        if not path.is_file():
            raise DataError(
                f"{str(path)!r} is a pipe or a device, but rows are read several times: write them "
                "to a file first."
            )
        return cls(path, status.st_size, status.st_mtime_ns, status.st_ino)

    @property
    def name(self) -> str:
        """What messages call it."""
        return repr(str(self.path))

    def place(self, row: int) -> str:
        """Where a row is."""
        return f"row {row} of {self.name}"

    def check_unchanged(self) -> None:
        """Raise a `DataError` if the file is not as it was."""
        remedy = "do not change files during a fit, or open them again"
        try:
            now = DataFile.at(self.path)
        except DataError:
            raise DataError(f"{self.name} was removed since it was opened: {remedy}.") from None
        if now.size != self.size:
            raise DataError(
                f"{self.name} had {self.size} bytes when it was opened, and has {now.size} now: "
                f"{remedy}."
            )
        if now != self:
            raise DataError(f"{self.name} was written or replaced since it was opened: {remedy}.")

    @contextmanager
    def being_read(self, row: int | None = None) -> Iterator[None]:
        """Whatever a decoder makes of a damaged file becomes a `DataError` that names it."""
        try:
            yield
        except (DataError, ImportError):
            raise
        except Exception as error:
            where = self.name if row is None else f"{self.name}, from row {row} on,"
            if isinstance(error, PermissionError):
                raise DataError(
                    f"{where} cannot be read ({_reason(error)}): get the right to read it."
                ) from error
            # A damaged file may ask for any amount of memory.
            short = ", or lower memory_budget" if isinstance(error, MemoryError) else ""
            raise DataError(
                f"{where} cannot be read ({_reason(error)}): the file is damaged or of another "
                f"format; write or copy it again{short}."
            ) from error


def _reason(error: Exception) -> str:
    """The first line of what went wrong, not at length."""
    text = (getattr(error, "strerror", None) or str(error) or type(error).__name__).strip()
    return printable(text.splitlines()[0].rstrip(" ."), 200)
