"""Verify files by their sha256, or else by facts of their content.

The facts are a few numbers.  They distinguish data sets and show most damage, but in a large
table they may miss one different value, or two exchanged columns of small numbers.
Texts are compared word for word, unless the bytes are those that were fetched:
scikit-learn verifies the archive it fetches by its sha256, and our reference file was never
compared with that archive byte by byte.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Literal, NamedTuple

from paper.datasets.corpus import corpus_facts, read_corpus, write_corpus
from paper.datasets.files import noted_sha256, sha256_of
from paper.datasets.home import existing_file, fetch_command
from paper.datasets.registry import Dataset, Facts
from paper.datasets.tables import LabelledTable, read_table, table_facts, write_table
from sphericalpca.datasets import Corpus
from sphericalpca.exceptions import DataError, printable

__all__ = [
    "READING_ERRORS",
    "Content",
    "FileState",
    "examine",
    "fault",
    "read_content",
    "write_content",
]

Content = Corpus | LabelledTable

# A copy of a data set that was rounded to five digits counts as the same.  Rounding changes a
# value by up to 5e-5 of itself, up or down; less than a tenth of this remains in a sum.
ROUNDING = 5e-6

# Errors from reading a damaged file.
READING_ERRORS = (gzip.BadGzipFile, EOFError, RecursionError, ValueError, zlib.error)


class FileState(NamedTuple):
    """The state of a file, why, and its size in bytes if it is there."""

    state: Literal["present", "absent", "damaged"]
    detail: str
    size: int | None


def examine(record: Dataset, home: Path) -> FileState:
    """Check the file of a data set, by its content if its sha256 is unknown."""
    path = home / record.file
    if not path.exists():
        return FileState("absent", "", None)
    size = path.stat().st_size
    try:
        digest, noted = sha256_of(path), noted_sha256(path)
    except OSError as error:
        return FileState("damaged", f"cannot be read: {error.strerror}", size)
    if digest in (record.sha256, noted):
        known = "the reference file" if digest == record.sha256 else "as it was fetched"
        return FileState("present", known, size)
    if noted is not None:
        return FileState("damaged", "its sha256 is not the one noted when it was fetched", size)
    _, reason = _read(record, path)
    if reason:
        return FileState("damaged", reason, size)
    return FileState("present", "other bytes, same content by its facts", size)


def read_content(record: Dataset, home: Path) -> Content:
    """The content of a data set's file, checked; a DataError names the file and the remedy."""
    path = existing_file(record, home)
    fetched = noted_sha256(path) == sha256_of(path)
    content, reason = _read(record, path, fetched=fetched)
    if content is None or reason:
        again = fetch_command([record.name], home, force=True)
        raise DataError(f"{path} is damaged ({reason})", remedy=f"get it again with '{again}'")
    return content


def _read(record: Dataset, path: Path, *, fetched: bool = False) -> tuple[Content | None, str]:
    """The content of the file, if it can be read, and its problem, if any."""
    try:
        content: Content = read_corpus(path) if record.is_text else read_table(path)
    except READING_ERRORS as error:
        return None, printable(" ".join(str(error).split()).rstrip("."), 200) or type(
            error
        ).__name__
    return content, fault(record, content, fetched=fetched)


def write_content(record: Dataset, home: Path, content: Content) -> Path:
    """Write the file of a data set, atomically, and store its sha256 beside it."""
    path = home / record.file
    if isinstance(content, Corpus):
        write_corpus(path, content)
    else:
        write_table(path, content)
    return path


def fault(record: Dataset, content: Content, *, fetched: bool = False) -> str:
    """How the content differs from the facts of the data set; empty if it does not.

    Texts that were `fetched` need not be those of the reference file word for word.
    """
    found = corpus_facts(content) if isinstance(content, Corpus) else table_facts(content)
    if (found.rows, found.features) != (record.rows, record.features):
        return (
            f"{found.rows} rows and {found.features} features, "
            f"not {record.rows} and {record.features}"
        )
    if found.classes != record.classes:
        return _different_classes(found, record)
    if not _close(found, record) or not (fetched or found.digest == record.digest):
        return f"right in size, but other {'words' if record.is_text else 'values'}"
    return ""


def _close(found: Facts, record: Dataset) -> bool:
    # The signed sum may nearly cancel, so both are compared relative to the last, which cannot.
    tolerance = ROUNDING * record.fingerprint[-1]
    pairs = zip(found.fingerprint, record.fingerprint, strict=True)
    return all(abs(one - other) <= tolerance for one, other in pairs)


def _different_classes(found: Facts, record: Dataset) -> str:
    names = sorted({*found.classes, *record.classes})
    name = next(n for n in names if found.classes.get(n, 0) != record.classes.get(n, 0))
    wanted = record.classes.get(name, 0)
    return f"{found.classes.get(name, 0)} rows of class {printable(name, 50)}, not {wanted}"
