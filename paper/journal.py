"""The rows file: flat, append-only, consistent after any interruption.

Rows are added a trial at a time in one write that reaches the disk before the next one
starts.  A process killed in the middle leaves at most an incomplete last line, which is dropped
when the file is opened again, or some of a trial's rows, which the next run measures again.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sphericalpca.exceptions import DataError
from sphericalpca.files import refuse_pipes, write_whole

__all__ = ["COLUMNS", "Journal", "Row", "alone_in", "identity", "write_table"]

Row = dict[str, str]

COLUMNS = (
    "experiment",
    "dataset",
    "groups",
    "variant",
    "repetition",
    "method",
    "r",
    "n_samples",
    "n_features",
    "dropped",
    "seed",
    "clusterings",
    "accuracy",
    "accuracy_sd",
    "nmi_max",
    "nmi_arithmetic",
    "ari",
    "svd_ratio",
    "mean_cosine",
    "iterations",
    "seconds",
    "cluster_seconds",
    "parameters",
    "note",
    "made_with",
)

# Columns of version 0.1, whose rows are one clustering each; they are read, and rewritten as above.
FORMER_COLUMNS = tuple(
    "versions" if name == "made_with" else name
    for name in COLUMNS
    if name not in {"clusterings", "accuracy_sd"}
)

Identity = tuple[str, ...]


def identity(row: Mapping[str, object]) -> Identity:
    """The key of a row, which identifies what it measures."""
    names = ("experiment", "dataset", "groups", "variant", "repetition", "method", "r")
    return tuple(str(row[name]) for name in names)


class Journal:
    """The rows measured so far, in memory and in a file.

    Parameters
    ----------
    path : Path
        Read if it exists; its folder must.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[Identity, Row] = {}
        for row in _read(path) if path.exists() else ():
            self.rows[identity(row)] = row

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Append a trial's rows; they are on disk when this returns."""
        kept = [{name: _text(row[name]) for name in COLUMNS} for row in rows]
        new = not self.path.exists()
        text = _as_csv(kept, header=new)
        try:
            with self.path.open("ab") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:  # the error of a full disk names no file
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        self.rows.update((identity(row), row) for row in kept)

    def rewrite(self, order: Sequence[Identity] = ()) -> None:
        """Put the file in order: rows named in `order` first, the others as they came."""
        place = {key: number for number, key in enumerate(order)}
        last = len(place)
        ranked = sorted(self.rows.items(), key=lambda item: place.get(item[0], last))
        self.rows = dict(ranked)
        write_whole(self.path, _as_csv(self.rows.values(), header=True).encode())


def write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a flat file atomically; the first row names the columns.

    Numbers have twelve digits, because differences of losses are computed from them.
    """
    kept = [{name: _text(value, digits=12) for name, value in row.items()} for row in rows]
    write_whole(path, _as_csv(kept, header=True, columns=tuple(rows[0])).encode())


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Refuse a second run in the same folder; the lock is released when the process ends."""
    try:
        import fcntl  # noqa: PLC0415 - not on Windows
    except ImportError:  # pragma: no cover
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise DataError(
            f"Another run is writing to {folder}",
            remedy="wait for it to end, or choose another --out",
        ) from None
    try:
        yield
    finally:
        os.close(handle)


def _read(path: Path) -> Iterator[Row]:
    refuse_pipes(path)
    text = path.read_text(encoding="utf-8", errors="replace")  # a torn end may split a character
    whole = text[: text.rfind("\n") + 1]  # the rest after the last line end is torn
    reader = csv.reader(io.StringIO(whole))
    header = tuple(next(reader, COLUMNS))
    if header not in {COLUMNS, FORMER_COLUMNS}:
        raise DataError(
            f"{path} is not a rows file of this version",
            f"its first line must be '{','.join(COLUMNS[:3])},...'",
            "move it away, or choose another --out",
        )
    for fields in reader:
        if len(fields) == len(header):
            row = dict(zip(header, fields, strict=True))
            former = {"clusterings": "1", "accuracy_sd": "", "made_with": row.pop("versions", "")}
            yield former | row


def _as_csv(
    rows: Iterable[Mapping[str, str]], *, header: bool, columns: Sequence[str] = COLUMNS
) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    if header:
        writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _text(value: Any, digits: int = 7) -> str:
    """Numbers rounded to seven digits: further digits depend on the machine."""
    if value is None or value != value:  # noqa: PLR0124 - NaN is a missing value
        return ""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
