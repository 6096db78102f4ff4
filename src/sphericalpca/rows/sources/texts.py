"""Shell commands that convert text files, which would have to be parsed in each pass."""

from __future__ import annotations

import codecs
import csv
import io
import re
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from sphericalpca.registry.formats import FORMATS, format_of

__all__ = ["CLUSTER", "SEPARATORS", "conversion", "encoding_of_column"]

# Separators in text files.
SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": None}
NUMBER = re.compile(r"\s*([-+]?(\d+\.?\d*|\.\d+|inf)(e[-+]?\d+)?|nan)?\s*", re.IGNORECASE)
CLUSTER = "group its texts with 'sphericalpca cluster'"
# Bytes of a file that are inspected.
BEGINNING = 10**7


class _Table(NamedTuple):
    """The first two lines of a file, divided by one separator."""

    separator: str | None
    first: list[str]
    row: list[str]

    def numbers(self, cells: list[str]) -> list[bool]:
        """Which cells are numbers, also with a decimal comma."""
        comma = "," if self.separator == "," else "."
        return [NUMBER.fullmatch(cell.replace(",", comma)) is not None for cell in cells]

    @property
    def fitness(self) -> tuple[float, bool, int]:
        """How well the separator fits: by numbers, by lines of equal length, by cells."""
        known, count = sum(self.numbers(self.row)), len(self.row)
        return known / max(count, 1), len(self.first) == count, count


def conversion(path: Path) -> str:
    """How to convert a text file of numbers or texts."""
    text, encoding = _beginning(path)
    if not text.strip():
        return "it is empty"
    suffix = path.suffix.lower()
    separators = dict.fromkeys((SEPARATORS[suffix], ",", ";", "\t", "|"))
    table = max((_table(text, one) for one in separators), key=lambda one: one.fitness)
    if sum(table.numbers(table.row)) >= min(2, len(table.row)):
        return _loading(path, table, text, encoding)
    name = _harmless(path, "texts")
    read = f"pathlib.Path('{name}').read_text('{encoding}', 'replace').splitlines(True)"
    if suffix == ".txt" or table.separator is None:
        return _encoding(name, read, "pathlib")
    column = max(range(len(table.row)), key=lambda k: len(table.row[k]))
    title = table.first[column]
    has_title = table.first is not table.row and " " not in title.strip()
    between = "" if table.separator == "," else f", delimiter={table.separator!r}"
    read = f"[row[{column}] for row in csv.reader({read}{between}) if len(row) > {column}]"
    read = f"{read}[1:]" if has_title else read
    return _encoding(name, read, "csv, pathlib", "; csv.field_size_limit(10**9)")


def encoding_of_column(path: Path, column: str) -> str:
    """How to convert a column of texts in a table."""
    is_parquet = format_of(path) is FORMATS["parquet"]
    module = f"pyarrow.{'parquet' if is_parquet else 'feather'}"
    name = column if re.fullmatch(r"[\w .-]+", column, re.ASCII) else "text"
    file = _harmless(path, "texts")
    read = f"{module}.read_table('{file}', columns=['{name}']).column(0).fill_null('').to_pylist()"
    return _encoding(file, read, module)


def _encoding(name: str, read: str, modules: str, before: str = "") -> str:
    """Commands that encode texts as rows."""
    target = Path(name).with_suffix(".npz")
    vectorizer = "sklearn.feature_extraction.text.TfidfVectorizer(sublinear_tf=True)"
    code = f"import {modules}, scipy.sparse, sklearn.feature_extraction.text{before}"
    code = f"{code}; scipy.sparse.save_npz('{target}', {vectorizer}.fit_transform({read}))"
    return f'{CLUSTER}, or encode its texts once and pass {target}: python -c "{code}"'


def _loading(path: Path, table: _Table, text: str, encoding: str) -> str:
    """Commands that convert a file of numbers to rows."""
    separator, first, row = table
    known = table.numbers(row)
    has_titles = table.numbers(first) != known
    titles = first if len(first) == len(row) else row
    # A column without a title is the index of a data frame, or follows a trailing separator.
    cells = enumerate(zip(known, titles, row, strict=True))
    taken = [
        k for k, (is_number, a, b) in cells if is_number and (a + b * (not has_titles)).strip()
    ]
    options = "" if separator is None else f", delimiter={separator!r}"
    options += ", skiprows=1" if has_titles else ""
    options += f", usecols={taken}" if len(taken) < len(row) else ""
    options += "" if encoding == "utf-8" else f", encoding='{encoding}'"
    options += ", quotechar=chr(34)" if '"' in text else ""
    between = re.escape(separator or "\0")
    missing = re.search(rf"{between} *({between}|\r?$)|^{between}", text, re.MULTILINE)
    if missing or (separator != "," and re.search(r"\d,\d", text)):
        options += ", converters=lambda cell: float(cell.strip().replace(',', '.') or 'nan')"
    name = _harmless(path, "rows")
    target = Path(name).with_suffix(".npy")
    code = f"import numpy as np; np.save('{target}', np.loadtxt('{name}'{options}, ndmin=2))"
    return f'convert it once and pass {target}: python -c "{code}"'


def _harmless(path: Path, instead: str) -> str:
    """A name that is safe to paste into a shell."""
    name = str(path)
    return name if re.fullmatch(r"[\w./-]+", name, re.ASCII) else f"{instead}{path.suffix}"


def _beginning(path: Path) -> tuple[str, str]:
    """The first lines of a file, and their encoding."""
    with path.open("rb") as file:
        content = file.read(BEGINNING)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", errors="replace"), "utf-16"
    try:
        # The last character may be incomplete.
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(content)
        return text, "utf-8" if content.isascii() else "utf-8-sig"
    except UnicodeDecodeError:
        return content.decode("latin-1"), "latin-1"


def _table(text: str, separator: str | None) -> _Table:
    try:
        lines = list(islice(csv.reader(io.StringIO(text), delimiter=separator or " "), 2))
    except csv.Error:  # texts longer than the reader accepts
        lines = []
    if separator is None or not lines:
        lines = [line.split(separator) for line in islice(io.StringIO(text), 2)]
    first, row = [*lines, [], []][:2]
    return _Table(separator, first, row or first)
