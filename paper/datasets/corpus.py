"""Texts on disk: gzipped JSON lines with id, group, subset and text."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from paper.datasets.files import read_gzip, write_gzip
from paper.datasets.registry import Facts
from sphericalpca.datasets import Corpus

__all__ = ["corpus_facts", "read_corpus", "write_corpus"]

_KEYS = ("id", "group", "subset", "text")


def read_corpus(path: Path) -> Corpus:
    """Read documents; a ValueError describes a damaged file."""
    with read_gzip(path, "utf-8") as file:
        posts = [_fields(number, line) for number, line in enumerate(file, 1)]
    ids, groups, subset, texts = zip(*posts, strict=True) if posts else ((),) * 4
    if len(set(ids)) < len(ids):
        raise ValueError("two documents have the same id")
    return Corpus.of(ids, groups, subset, texts)


def write_corpus(path: Path, corpus: Corpus) -> None:
    """Write documents, atomically."""
    write_gzip(path, _lines(corpus))


def corpus_facts(corpus: Corpus) -> Facts:
    """The facts that identify the documents, whatever their order and line ends."""
    sizes = Counter(corpus.labels.tolist())
    return Facts(
        rows=len(corpus),
        features=0,
        classes={name: sizes[label] for label, name in enumerate(corpus.group_names)},
        fingerprint=(float(sum(len(text.split()) for text in corpus.texts)),),
        digest=_digest(corpus),
    )


def _digest(corpus: Corpus) -> str:
    """The sha256 of the sorted sha256 of all documents, with white space normalised."""
    documents = ("\n".join((*names, " ".join(text.split()))) for *names, text in _documents(corpus))
    each = sorted(hashlib.sha256(document.encode()).digest() for document in documents)
    return hashlib.sha256(b"".join(each)).hexdigest()


def _fields(number: int, line: str) -> tuple[str, ...]:
    post = json.loads(line)
    values = [post.get(key) for key in _KEYS] if isinstance(post, dict) else []
    texts = tuple(value for value in values if isinstance(value, str))
    if len(texts) < len(_KEYS):
        raise ValueError(f"line {number} has not the texts {', '.join(_KEYS)}")
    return texts


def _documents(corpus: Corpus) -> Iterator[tuple[str, ...]]:
    """Id, group, subset and text of each document."""
    groups = [corpus.group_names[label] for label in corpus.labels]
    return zip(corpus.ids.tolist(), groups, corpus.subset.tolist(), corpus.texts, strict=True)


def _lines(corpus: Corpus) -> Iterator[str]:
    for values in _documents(corpus):
        yield json.dumps(dict(zip(_KEYS, values, strict=True)), ensure_ascii=False)
