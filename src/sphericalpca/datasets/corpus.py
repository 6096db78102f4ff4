"""Texts on disk: gzipped JSON lines with id, group, subset and text."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sphericalpca.datasets.files import read_gzip, write_gzip
from sphericalpca.datasets.registry import Facts
from sphericalpca.datasets.tables import Labels

__all__ = ["Corpus", "corpus_facts", "read_corpus", "write_corpus"]

_KEYS = ("id", "group", "subset", "text")


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents in groups.

    Parameters
    ----------
    texts : list of str
    labels : ndarray of int of shape (n_documents,)
        Index of each document's group in `group_names`.
    group_names : list of str
        In alphabetical order.
    subset : ndarray of str of shape (n_documents,)
        "train" or "test" where the source makes the difference, else "all".
    ids : ndarray of str of shape (n_documents,)
        A unique name of each document.
    """

    texts: list[str] = field(repr=False)
    labels: Labels = field(repr=False)
    group_names: list[str]
    subset: npt.NDArray[np.str_] = field(repr=False)
    ids: npt.NDArray[np.str_] = field(repr=False)

    @classmethod
    def of(
        cls, ids: Sequence[str], groups: Sequence[str], subset: Sequence[str], texts: Sequence[str]
    ) -> Corpus:
        """Documents with the name of each one's group.

        Parameters
        ----------
        ids, groups, subset, texts : sequence of str
            One of each for every document; groups are numbered in the order of their names.

        Returns
        -------
        corpus : Corpus
        """
        names, labels = np.unique(np.asarray(groups, dtype=np.str_), return_inverse=True)
        return cls(
            texts=list(texts),
            labels=labels,
            group_names=names.tolist(),
            subset=np.asarray(subset, dtype=np.str_),
            ids=np.asarray(ids, dtype=np.str_),
        )

    def __len__(self) -> int:
        return len(self.texts)


def read_corpus(path: Path) -> Corpus:
    """Read documents; a ValueError says what is wrong with the file."""
    with read_gzip(path, "utf-8") as file:
        posts = [_fields(number, line) for number, line in enumerate(file, 1)]
    ids, groups, subset, texts = zip(*posts, strict=True) if posts else ((),) * 4
    if len(set(ids)) < len(ids):
        raise ValueError("two documents have the same id")
    return Corpus.of(ids, groups, subset, texts)


def write_corpus(path: Path, corpus: Corpus) -> None:
    """Write documents, whole or not at all."""
    write_gzip(path, _lines(corpus))


def corpus_facts(corpus: Corpus) -> Facts:
    """What the documents can be recognised by; their order and line ends are immaterial."""
    sizes = Counter(corpus.labels.tolist())
    return Facts(
        rows=len(corpus),
        features=0,
        classes={name: sizes[label] for label, name in enumerate(corpus.group_names)},
        fingerprint=(float(sum(len(text.split()) for text in corpus.texts)),),
        digest=_digest(corpus),
    )


def _digest(corpus: Corpus) -> str:
    """The sha256 of the sorted sha256 of all documents, white space made equal."""
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
