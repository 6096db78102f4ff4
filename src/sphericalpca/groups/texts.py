"""Texts from files of many formats, the selection of words, and words that distinguish groups."""

from __future__ import annotations

import codecs
import csv
import gzip
import itertools
import json
import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from sphericalpca.exceptions import DataError, Parameter, ParameterError, counted
from sphericalpca.linalg import Array
from sphericalpca.registry.formats import format_of, joined
from sphericalpca.rows.sources.filesource import DataFile, optional
from sphericalpca.rows.sources.opening import natural_order

__all__ = ["Texts", "WordVectorizer", "checked_texts", "distinctive", "strip_mail"]

# The kind of file, and its reader, by suffix.
READERS = dict.fromkeys((".csv", ".tsv"), ("line", "_delimited"))
READERS |= {".jsonl": ("line", "_json"), ".txt": ("line", "_plain")}
READERS |= dict.fromkeys((".parquet", ".arrow"), ("row", "_rows"))
# Surrogates represent bytes that could not be decoded; files cannot contain them.
SURROGATE = re.compile("[\ud800-\udfff]")
NUMBER = re.compile(r"[\s\d.,:/+-]*")
# Records used to guess the column; words of a text; places named per kind of problem.
LOOK, WORDS, NAMED = 200, 3, 5
# A longer field of a CSV file has lost its closing quote.
LONGEST_FIELD = 10_000_000
# A field name has any printable characters except a colon (RFC 5322), as in "Article-I.D.:".
HEADER = re.compile(r"[!-9;-~]+:(\s|$)|From ")
QUOTE = re.compile(r"\s*[>|]|In article\b|Quoted from\b|.*\b(writes|wrote|says|said)( in)?:?\s*$")
# A line that begins a signature, if at most this many lines follow it.
RULE, LONGEST = re.compile(r"\s*[-_=*#~]{2}[-_=*#~\s]*$"), 12
# A word counts if this many texts have it, or one in 200 of fewer than a thousand texts.
LEAST, FEW = 5, 1000
# Words in more than this share of the texts are left out, unless more than this share of the texts
# would lose all words.
COMMON, LOST = 0.5, 0.01
# Words may contain marks, such as vowels of Indic scripts, and joiners; scikit-learn splits there.
MARKS = "".join(chr(k) for k in range(0x300, 0x10000) if unicodedata.category(chr(k))[0] == "M")
WORD = rf"\b\w[\w{MARKS}\u200c\u200d]+"
VECTORS = ("pass a list of texts, or ", Parameter("vectorizer", "passthrough"), " for vectors")

Record = tuple[int | str, dict[str, Any]]  # a place, and values by column


@dataclass
class Texts:
    """Names and texts of a file or folder, which can be read repeatedly, and their problems."""

    path: Path
    column: str | None = None  # of the texts; None is guessed
    name: str | None = None  # the column of names; None is the place
    encoding: str = "utf-8"
    strip: bool = field(default=False, kw_only=True)
    problems: dict[str, Any] = field(default_factory=dict, init=False)  # count and first places
    guessed: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        path = self.path
        try:
            "".encode(self.encoding)  # not possible in codecs that are not for text, such as hex
        except LookupError:
            rule = "must be an encoding such as utf-8 or latin-1"
            raise ParameterError(Parameter("encoding", self.encoding), rule) from None
        known = codecs.lookup(self.encoding).name
        self.encoding = "utf-8-sig" if known == "utf-8" else known  # without its mark
        self.zipped = path.suffix.lower() == ".gz" and not path.is_dir()
        self.suffix = Path(path.stem if self.zipped else path).suffix.lower()
        kind = ("file", "_folder") if path.is_dir() else READERS.get(self.suffix, ("", ""))
        self.unit, self._reader = kind
        self.file = None if path.is_dir() else DataFile.at(path)
        if not self.unit or (self.zipped and self.unit == "row"):
            formats = f"Supported: {', '.join(READERS)}, and folders of .txt files"
            flag, text = Parameter("vectors", value=True), Parameter("text")
            vectors = ("for vectors pass ", flag, " without ", text)
            remedy = vectors if format_of(path) else "convert it"
            raise DataError(f"Cannot read texts from {str(path)!r}. {formats}.", remedy=remedy)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        self.problems, seen = {}, dict[int, int | str]()
        for place, record in self._chosen():
            text, name = record.get(self.column or ""), record.get(self.name or "")
            if not isinstance(text, str | None):
                self._count(f"malformed {self.unit}s", place)
                continue
            text, name = text or "", str(place if name is None else name)
            if SURROGATE.search(text + name):
                self._count("texts with undecodable bytes", place)
                text, name = (SURROGATE.sub("\N{REPLACEMENT CHARACTER}", t) for t in (text, name))
            text = strip_mail(text) if self.strip else text
            if not text.strip():
                self._count("empty texts", place)
            elif seen.setdefault(hash(text), place) != place:
                self._count("duplicate texts", place)
            yield name, text

    def _count(self, kind: str, place: int | str) -> None:
        found = self.problems.setdefault(kind, {"count": 0, "lines": []})
        found["count"] += 1
        places = [*found["lines"], place]
        found["lines"] = sorted(places, key=lambda place: natural_order(str(place)))[:NAMED]

    def _chosen(self) -> Iterator[Record]:
        """Records, with the column of texts determined."""
        with self.file.being_read() if self.file else nullcontext():
            records = getattr(self, self._reader)()
            first = list(itertools.islice(records, LOOK))
            names = list(dict.fromkeys(name for _, record in first for name in record))
            if not names:
                remedy = "check the file" if self.file else "names of its files must end in .txt"
                raise DataError(f"{str(self.path)!r} holds no texts", remedy=remedy)
            for wanted in (self.column, self.name):
                if wanted is not None and wanted not in names:
                    remedy = f"it has {joined(map(repr, names))}"
                    raise DataError(f"{str(self.path)!r} has no column {wanted!r}", remedy=remedy)
            if self.column is None:
                # Also if there is one column: its name may be a text, in files without a header.
                self.column = _guess(names, first, self.path)
                self.guessed = self._reader != "_plain"
            yield from first
            yield from records

    def _folder(self) -> Iterator[Record]:
        """One text per file, named by the file."""
        self.column, self.name = self.column or "text", self.name or "file"
        paths = [path for path in self.path.iterdir() if path.suffix.lower() == ".txt"]
        for path in sorted(paths, key=lambda path: natural_order(path.name)):
            with DataFile.at(path).being_read():
                text = "".join(self._lines(path=path))
            yield path.name, {"file": path.name, "text": text}

    def _lines(self, newline: str | None = None, path: Path | None = None) -> Iterator[str]:
        opened: Any = partial(gzip.open if self.zipped else open, path or self.path)
        with opened("rb") as file:
            marked = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        encoding = "utf-16" if marked else self.encoding
        with opened("rt", encoding=encoding, errors="surrogateescape", newline=newline) as file:
            yield from file

    def _plain(self) -> Iterator[Record]:
        yield from ((k, {"text": line.rstrip("\n")}) for k, line in enumerate(self._lines(), 1))

    def _json(self) -> Iterator[Record]:
        for place, line in enumerate(self._lines(), 1):
            found = None
            with suppress(ValueError, RecursionError):
                found = json.loads(line)
            if isinstance(found, dict):
                yield place, found
            else:
                self._count("malformed lines" if line.strip() else "blank lines", place)

    def _delimited(self) -> Iterator[Record]:
        """Skip a line that cannot be read, and continue after it."""
        csv.field_size_limit(LONGEST_FIELD)
        lines = self._lines("")  # with line ends, as the reader requires
        again, taken = deque(itertools.islice(lines, 1)), list[str]()
        between = "\t" if self.suffix == ".tsv" else max(",;\t|", key="".join(again).count)

        def feed() -> Iterator[str]:
            while line := again.popleft() if again else next(lines, ""):
                taken.append(line)
                yield line

        place, names, reader = 1, list[str](), partial(csv.reader, delimiter=between, strict=True)
        rows = reader(feed())
        while True:
            taken.clear()
            try:
                row = next(rows, None)
            except csv.Error:
                again.extendleft(reversed(taken[1:]))
                del taken[1:]
                row, rows = [""] * (len(names) + 1), reader(feed())  # treated as too many fields
            if row is None:
                return
            if not names:  # columns of the same name are told apart by their numbers
                names = [f"{x}.{k}" if x in row[: k - 1] else x for k, x in enumerate(row, 1)]
            elif len(row) == len(names):
                yield place, dict(zip(names, row, strict=True))
            else:
                self._count("malformed lines" if row else "blank lines", place)
            place += len(taken)

    def _rows(self) -> Iterator[Record]:
        """Columns of text of a table, and the one with the names."""
        library = optional("pyarrow.dataset", "tables")
        table = library.dataset(str(self.path), format=self.suffix[1:])
        names = table.schema.names
        texts = [f.name for f in table.schema if "string" in str(f.type) and not f.type.num_fields]
        if not texts:
            has = f"it has {joined(map(repr, names))}"
            raise DataError(f"{str(self.path)!r} has no column of text", remedy=has)
        places, wanted = itertools.count(1), [name for name in names if name in (*texts, self.name)]
        for batch in table.to_batches(wanted, batch_size=4096):
            batch.validate(full=True)  # in a damaged file texts could point outside it
            yield from ((next(places), record) for record in batch.to_pylist())


def _guess(names: list[str], records: list[Record], path: Path) -> str:
    """The only column that holds texts of several words, or the only one that is not numbers."""
    values = {name: [str(r[name]) for _, r in records if r.get(name)] for name in names}
    mean = {name: sum(len(v.split()) for v in vs) / max(len(vs), 1) for name, vs in values.items()}
    several = [name for name in names if mean[name] >= WORDS]
    other = [name for name in names if not all(map(NUMBER.fullmatch, values[name]))]
    for candidates in (names, several, other):
        if len(candidates) == 1:
            return candidates[0]
    listed = joined(map(repr, several or names))
    found = f"{str(path)!r} has several columns that may hold the texts ({listed})"
    raise DataError(found, remedy=("name one of them with ", Parameter("text", ...)))


def strip_mail(text: str) -> str:
    """The body of a mail or post, without the lines that it quotes and without its signature."""
    lines = text.splitlines()
    head = list(itertools.takewhile(str.strip, lines))
    # Folded lines of a header begin with a space.
    if head and HEADER.match(head[0]) and all(HEADER.match(x) or x[0].isspace() for x in head):
        lines = lines[len(head) :]
    rules = [k for k, line in enumerate(lines) if RULE.match(line)]
    ends = [k for k in rules if len(lines) - k <= LONGEST or lines[k].rstrip() == "--"]
    kept = lines[: min(ends, default=len(lines))]
    return "\n".join(line for line in kept if not QUOTE.match(line)).strip()


class WordVectorizer(TfidfVectorizer):
    """scikit-learn's tf-idf without rare words, whatever the number of texts."""

    def __init__(self, *, stop_words: Any = "english", vocabulary: Any = None) -> None:
        # Rows are scaled later.
        options: Any = {"sublinear_tf": True, "norm": None, "dtype": np.float32}
        options |= {"token_pattern": WORD, "stop_words": stop_words, "vocabulary": vocabulary}
        super().__init__(**options)

    def fit_transform(self, raw_documents: Iterable[str], y: Any = None) -> Any:
        """Learn the words of texts, which are read once, and return their tf-idf rows."""
        texts = iter(raw_documents)
        first = list(itertools.islice(texts, FEW))
        self.min_df = min(LEAST, max(1, len(first) // 200))
        try:
            X = super().fit_transform(itertools.chain(first, texts), y)
        except ValueError as error:
            if "no terms remain" not in str(error) and "empty vocabulary" not in str(error):
                raise
            found = f"No word is in {counted(self.min_df, 'text')} or more"
            remedy = "pass more texts, or check stop words and encoding"
            raise DataError(found, remedy=remedy) from None
        rare = X.getnnz(axis=0) <= COMMON * X.shape[0]
        kept = X[:, rare]
        if ((X.getnnz(axis=1) > 0) & (kept.getnnz(axis=1) == 0)).mean() > LOST:
            return X
        self.vocabulary_ = {w: k for k, w in enumerate(self.get_feature_names_out()[rare])}
        self.idf_ = self.idf_[rare]  # type: ignore[has-type]
        self._tfidf.n_features_in_ = len(self.vocabulary_)
        return kept


def checked_texts(texts: Any) -> Iterator[str]:
    """The texts one by one; an error names the first item that is not a text."""
    if isinstance(texts, (str, bytes)) or hasattr(texts, "columns") or sparse.issparse(texts):
        raise DataError(f"X is a {type(texts).__name__}", "must be a list of texts", VECTORS)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError(f"X[{place}] has type {type(text).__name__}", "must be a text", VECTORS)
        yield text


def distinctive(profiles: Array, group: int, n: int, words: Any) -> list[tuple[str, float]]:
    """Words with more weight in a group than in the mean of the others, singular or plural."""
    others = np.delete(profiles, group, axis=0)
    ahead = profiles[group] - (others.mean(axis=0) if len(others) else 0)
    top = [k for k in np.argsort(-ahead, kind="stable")[: 3 * n] if ahead[k] > 0]
    names = [str(words[k]) for k in top]
    other = [{f"{word}s", word.removesuffix("s")} & set(names[:k]) for k, word in enumerate(names)]
    kept = [k for k, word in enumerate(names) if word.strip("_") and not other[k]]
    return [(names[k], float(ahead[top[k]])) for k in kept[:n]]
