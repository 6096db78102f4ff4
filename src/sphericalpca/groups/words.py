"""Words: which ones count, and which ones tell a group from the others."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from sphericalpca.exceptions import DataError, Parameter
from sphericalpca.linalg import Array

__all__ = ["checked_texts", "counted_words", "distinctive", "tfidf"]

# A word counts if so many texts have it; of fewer than a thousand texts, one in 200.
LEAST, FEW = 5, 1000
VECTORS = ("pass ", Parameter("vectorizer", "passthrough"), " for vectors")


def tfidf(n_texts: int = FEW, stop_words: Any = "english", **options: Any) -> TfidfVectorizer:
    """The vectorizer of this package, for so many texts."""
    options = {"min_df": min(LEAST, max(1, n_texts // 200)), "max_df": 0.5} | options
    return TfidfVectorizer(stop_words=stop_words, sublinear_tf=True, dtype=np.float32, **options)


def counted_words(texts: Iterable[str], stop_words: Any = "english") -> tuple[TfidfVectorizer, Any]:
    """A fitted vectorizer, and the tf-idf rows of the texts, which are read once."""
    texts = iter(texts)
    first = list(itertools.islice(texts, FEW))
    vectorizer = tfidf(len(first), stop_words)
    try:
        return vectorizer, vectorizer.fit_transform(itertools.chain(first, texts))
    except ValueError as error:
        if "no terms remain" not in str(error) and "empty vocabulary" not in str(error):
            raise
    found = f"No word is in at least {vectorizer.min_df} texts and in at most half of them"
    raise DataError(found, remedy="pass more texts, or vectors of them") from None


def checked_texts(texts: Any) -> Iterator[str]:
    """The texts one by one; the first thing that is not one is named."""
    if isinstance(texts, (str, bytes)) or hasattr(texts, "columns") or sparse.issparse(texts):
        found = f"X is a {type(texts).__name__}"
        raise DataError(found, "must be a list of texts", VECTORS)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            kind = type(text).__name__
            raise DataError(f"X[{place}] is a {kind}", "must be a text", VECTORS)
        yield text


def distinctive(profiles: Array, group: int, words: Any, n: int) -> list[tuple[str, float]]:
    """The words that have more weight in a group's profile than in the others' mean, with both."""
    others = np.delete(profiles, group, axis=0)
    ahead = profiles[group] - (others.mean(axis=0) if len(others) else 0)
    top = np.argsort(-ahead, kind="stable")[:n]
    return [(str(words[k]), float(ahead[k])) for k in top if ahead[k] > 0]
