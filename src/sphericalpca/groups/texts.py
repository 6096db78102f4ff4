"""Texts from files of every kind, one at a time; what is wrong with them is counted, with its line."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from sphericalpca.exceptions import DataError, Parameter, ParameterError, counted, printable
from sphericalpca.groups.strip import strip_mail
from sphericalpca.registry.formats import format_of, joined
from sphericalpca.rows.sources.arrow import batch_lengths
from sphericalpca.rows.sources.filesource import DataFile, optional
from sphericalpca.rows.sources.opening import natural_order

__all__ = ["SUFFIXES", "Text", "Texts", "excerpt"]

SUFFIXES = (".csv", ".tsv", ".jsonl", ".txt", ".parquet", ".arrow")
ALSO = {".pq": ".parquet", ".feather": ".arrow", ".ipc": ".arrow", ".ndjson": ".jsonl"}
# Halves of characters, which stand for bytes that could not be decoded; no file can hold them.
SURROGATE = re.compile("[\ud800-\udfff]")
NUMBER = re.compile(r"\s*[-+]?[\d.,:/-]*\s*")
# Records looked at to guess the column, words of a text, lines named for each kind of problem.
LOOK, WORDS, NAMED = 200, 3, 5
# A field of a CSV file that is longer has lost its closing quote.
LONGEST_FIELD = 10_000_000
BATCH = 4096

Record = tuple[int, dict[str, Any]]


class Text(NamedTuple):
    """A text, its name, and the line, row or file where it is."""

    place: int
    id: str
    text: str


class Texts:
    """The texts of a file or folder, which can be read several times.

    After reading, `problems` has for each kind the number of places, and the first few of them.
    """

    def __init__(
        self,
        path: Path,
        *,
        text: str | None = None,
        id: str | None = None,  # noqa: A002 - as the option is called
        encoding: str = "utf-8",
        strip: bool = False,
    ) -> None:
        self.path, self.column, self.id, self.strip = path, text, id, strip
        self.encoding = "utf-8-sig" if encoding.lower().replace("_", "-") == "utf-8" else encoding
        self.problems: dict[str, tuple[int, list[int]]] = {}
        self.guessed = False
        inner = Path(path.stem) if path.suffix.lower() == ".gz" else path
        self.suffix = ALSO.get(inner.suffix.lower(), inner.suffix.lower())
        self.unit = "row" if self.suffix in (".parquet", ".arrow") else "line"
        self.file = None if path.is_dir() else DataFile.at(path)
        if self.file is None:
            self.unit = "file"
        elif self.suffix not in SUFFIXES or (inner is not path and self.unit == "row"):
            raise self._unknown()

    def _unknown(self) -> DataError:
        found = f"Cannot read texts from {str(self.path)!r}"
        rule = f"Supported: {', '.join(SUFFIXES)}, and folders of .txt files"
        vectors = ("for vectors, pass ", Parameter("vectors", value=True))
        return DataError(f"{found}. {rule}.", remedy=vectors if format_of(self.path) else "convert")

    def __iter__(self) -> Iterator[Text]:
        self.problems, seen = {}, {}
        for place, record in self._chosen():
            text, name = record.get(self.column), record.get(self.id) if self.id else None
            if text is not None and not isinstance(text, str):
                self._count(f"{self.unit}s without a text in {self.column!r}", place)
                continue
            text, name = text or "", str(place if name is None else name)
            if SURROGATE.search(text) or SURROGATE.search(name):
                self._count("texts with undecodable bytes", place)
                text, name = (SURROGATE.sub("\N{REPLACEMENT CHARACTER}", t) for t in (text, name))
            text = strip_mail(text) if self.strip else text
            if not text.strip():
                self._count("empty texts", place)
            elif seen.setdefault(hash(text), place) != place:
                self._count("duplicates", place)
            yield Text(place, name, text)

    def _count(self, kind: str, place: int) -> None:
        count, places = self.problems.get(kind, (0, []))
        self.problems[kind] = (count + 1, places if len(places) == NAMED else [*places, place])

    def describe_problems(self) -> list[str]:
        """A sentence for each kind."""
        found = []
        for kind, (count, places) in self.problems.items():
            more = ", ..." if count > len(places) else ""
            where = f"{self.unit}{'s' if count > 1 else ''} {', '.join(map(str, places))}{more}"
            found.append(
                f"{count:,} {kind if count > 1 else kind.replace('s ', ' ', 1).removesuffix('s')} ({where})."
            )
        return found

    def _chosen(self) -> Iterator[Record]:
        """Records, of which the column of texts is known."""
        records = self._records()
        first = list(islice(records, LOOK))
        if not first:
            raise DataError(f"{str(self.path)!r} holds no texts", remedy="check the file")
        names = list(dict.fromkeys(name for _, record in first for name in record))
        for parameter, wanted in (("text", self.column), ("id", self.id)):
            if wanted is not None and wanted not in names:
                remedy = f"it has {joined(map(repr, names))}"
                raise DataError(f"{self.path} has no column {wanted!r}", remedy=remedy)
        if self.column is None:
            self.column, self.guessed = _guess(names, first, self.path), len(names) > 1
        yield from first
        yield from records

    def _records(self) -> Iterator[Record]:
        if self.file is None:
            yield from self._folder()
        elif self.unit == "row":
            yield from self._table()
        else:
            kind = {".jsonl": self._json, ".txt": self._plain}.get(self.suffix, self._delimited)
            yield from kind(self._lines())

    def _lines(self) -> Iterator[str]:
        opener: Any = gzip.open if self.path.suffix.lower() == ".gz" else open
        assert self.file is not None
        try:
            # CSV files need their line ends as they are.
            file = opener(
                self.path,
                "rt",
                encoding=self.encoding,
                errors="surrogateescape",
                newline="" if self.suffix in (".csv", ".tsv") else None,
            )
        except LookupError:
            found = Parameter("encoding", self.encoding)
            raise ParameterError(found, "must be an encoding such as utf-8 or latin-1") from None
        with self.file.being_read(), file:
            yield from file

    def _plain(self, lines: Iterator[str]) -> Iterator[Record]:
        for place, line in enumerate(lines, 1):
            yield place, {"text": line.rstrip("\n")}

    def _json(self, lines: Iterator[str]) -> Iterator[Record]:
        for place, line in enumerate(lines, 1):
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                found = None
            if isinstance(found, str):
                found = {"text": found}
            if isinstance(found, dict):
                yield place, found
            else:
                self._count("malformed lines" if line.strip() else "blank lines", place)

    def _delimited(self, lines: Iterator[str]) -> Iterator[Record]:
        first = next(lines, "")
        between = "\t" if self.suffix == ".tsv" else max(",;\t|", key=first.count)
        limit = csv.field_size_limit(LONGEST_FIELD)
        try:
            source = _Lines(first, lines)
            rows = source.rows(csv.reader(source, delimiter=between, strict=True))
            names = next(rows, (0, []))[1] or []
            for place, row in rows:
                if row is not None and len(row) == len(names):
                    yield place, dict(zip(names, row, strict=True))
                else:
                    self._count("blank lines" if row == [] else "malformed lines", place)
        finally:
            csv.field_size_limit(limit)

    def _folder(self) -> Iterator[Record]:
        paths = sorted(self.path.glob("*.txt"), key=lambda path: natural_order(path.name))
        self.id = "file"
        for place, path in enumerate(paths, 1):
            with DataFile.at(path).being_read():
                text = path.read_text(self.encoding, errors="surrogateescape")
            yield place, {"file": path.name, "text": text}
        self.column = "text"

    def _table(self) -> Iterator[Record]:
        assert self.file is not None
        place = 0
        with self.file.being_read(), optional("pyarrow", "tables").OSFile(str(self.path)) as handle:
            for batch in _batches(self.suffix, self.path, handle, self.id):
                for record in batch.to_pylist():
                    place += 1
                    yield place, record


class _Lines:
    """Lines for a CSV reader: those after the first of a record that cannot be read come again."""

    def __init__(self, first: str, rest: Iterator[str]) -> None:
        self._again, self._rest, self._taken = deque([first] if first else []), rest, list[str]()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._rest)
        self._taken.append(line)
        return line

    def rows(self, reader: Any) -> Iterator[tuple[int, list[str] | None]]:
        """The line where each record begins, and its fields; None if it cannot be read."""
        place = 1
        while True:
            self._taken.clear()
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error:
                row, taken = None, self._taken[1:]
                self._again.extendleft(reversed(taken))
                del self._taken[1:]
            yield place, row
            place += len(self._taken)


def _batches(suffix: str, path: Path, handle: Any, name: str | None) -> Iterator[Any]:
    """Record batches of the columns of text, and of the one with the names."""
    if suffix == ".parquet":
        table = optional("pyarrow.parquet", "Parquet files").ParquetFile(handle)
        columns = _text_columns(table.schema_arrow, name, path)
        yield from table.iter_batches(BATCH, columns=columns)
        return
    with path.open("rb") as file:
        count = len(batch_lengths(file))
    table = optional("pyarrow.ipc", "Arrow files").open_file(handle)
    columns = _text_columns(table.schema, name, path)
    for batch in map(table.get_batch, range(count)):
        batch.validate(full=True)
        yield batch.select(columns)


def _text_columns(schema: Any, name: str | None, path: Path) -> list[str]:
    kinds = {field.name: str(getattr(field.type, "value_type", field.type)) for field in schema}
    found = [k for k, kind in kinds.items() if kind in ("string", "large_string") or k == name]
    if not found:
        remedy = "vectors need --vectors"
        raise DataError(f"{path} has no column of text", f"has {joined(kinds)}", remedy)
    return found


def _guess(names: list[str], records: list[Record], path: Path) -> str:
    """The only column that holds texts of several words, or the only one that is not numbers."""
    values = {name: [str(r[name]) for _, r in records if r.get(name)] for name in names}
    words = {name: sum(len(v.split()) for v in vs) / max(len(vs), 1) for name, vs in values.items()}
    several = [name for name in names if words[name] >= WORDS]
    other = [name for name in names if not all(map(NUMBER.fullmatch, values[name]))]
    for found in (names, several, other):
        if len(found) == 1:
            return found[0]
    several = several or names
    found = f"{path} has several columns that may hold the texts ({joined(map(repr, several))})"
    raise DataError(found, remedy=("name one of them with ", Parameter("text", ...)))


def excerpt(text: str, most: int = 300) -> str:
    """The beginning of a text, in one line."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[: most - 1]}\N{HORIZONTAL ELLIPSIS}"
