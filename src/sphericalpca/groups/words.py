"""Words: which ones count, and which ones tell a group from the others."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from sphericalpca.exceptions import DataError, Parameter, counted
from sphericalpca.linalg import Array

__all__ = ["WordVectorizer", "checked_texts", "distinctive"]

# A word counts if this many texts have it; of fewer than a thousand texts, one in 200.
LEAST, FEW = 5, 1000
# Words of more than this share of the texts are left out, unless more than this share would lose
# all of theirs.
COMMON, LOST = 0.5, 0.01
VECTORS = ("pass a list of texts, or ", Parameter("vectorizer", "passthrough"), " for vectors")


class WordVectorizer(TfidfVectorizer):
    """scikit-learn's tf-idf without rare words, whatever the number of texts."""

    def __init__(self, *, stop_words: Any = "english", vocabulary: Any = None) -> None:
        # Rows are scaled where they are used.
        options = {"sublinear_tf": True, "norm": None, "dtype": np.float32}
        super().__init__(stop_words=stop_words, vocabulary=vocabulary, **options)

    def fit_transform(self, raw_documents: Iterable[str], y: Any = None) -> Any:
        """Learn the words of texts, which are read once, and return their rows."""
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
        # Where one text or topic is most of the corpus, its words are all it has.
        if ((X.getnnz(axis=1) > 0) & (kept.getnnz(axis=1) == 0)).mean() > LOST:
            return X
        self.vocabulary_ = {w: k for k, w in enumerate(self.get_feature_names_out()[rare])}
        self.idf_ = self.idf_[rare]  # type: ignore[has-type]
        self._tfidf.n_features_in_ = len(self.vocabulary_)
        return kept


def checked_texts(texts: Any) -> Iterator[str]:
    """The texts one by one; the first thing that is not one is named."""
    if isinstance(texts, (str, bytes)) or hasattr(texts, "columns") or sparse.issparse(texts):
        raise DataError(f"X is a {type(texts).__name__}", "must be a list of texts", VECTORS)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError(f"X[{place}] is a {type(text).__name__}", "must be a text", VECTORS)
        yield text


def distinctive(profiles: Array, group: int, n: int, words: Any) -> list[tuple[str, float]]:
    """The words that have more weight in a group's profile than in the others' mean."""
    others = np.delete(profiles, group, axis=0)
    ahead = profiles[group] - (others.mean(axis=0) if len(others) else 0)
    top = np.argsort(-ahead, kind="stable")[:n]
    return [(str(words[k]), float(ahead[k])) for k in top if ahead[k] > 0]
