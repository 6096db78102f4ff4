"""Data from files in the data home: newsgroups as tf-idf and as embeddings, isolet."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.preprocessing import normalize

from paper.datasets import available, get_data_home, load_newsgroups, load_uci
from paper.draws import word_information
from sphericalpca.linalg import Array, unit_rows
from sphericalpca.rows import Matrix

__all__ = [
    "MissingDataError",
    "digits",
    "glove",
    "isolet",
    "minilm",
    "newsgroups_500",
    "newsgroups_full",
    "text_4000x500",
    "text_4000x2000",
]

MINILM_FILE, GLOVE_FILE = "newsgroups_minilm_f16.npz", "glove100_f16.npz"


class MissingDataError(Exception):
    """A data file is missing; the message has no path, because it goes into the rows."""

    def __init__(self, file: str) -> None:
        super().__init__(f"no {file} in the data home: set SPHERICALPCA_DATA_HOME")


def digits() -> Array:
    """scikit-learn's digits, 1797 x 64, float64."""
    return unit_rows(load_digits().data)[0]


def isolet() -> Array:
    """Spoken letters, 7797 x 617, float64."""
    if not available("isolet"):
        raise MissingDataError("isolet")
    return unit_rows(load_uci("isolet").X)[0]


def minilm() -> Array:
    """Sentence embeddings of the newsgroups, 18846 x 384, float32."""
    return _vectors(MINILM_FILE)


def glove() -> Array:
    """GloVe vectors of words, 100000 x 100, float32."""
    return _vectors(GLOVE_FILE)


def _vectors(file: str) -> Array:
    path = get_data_home() / file
    if not path.exists():
        raise MissingDataError(file)
    with np.load(path) as content:
        return unit_rows(content["X"].astype(np.float32))[0]


@lru_cache(maxsize=1)
def newsgroups_full() -> Matrix:
    """The full vocabulary: tf-idf, min_df 2, sublinear, float32 CSR."""
    vectorizer = TfidfVectorizer(min_df=2, sublinear_tf=True, dtype=np.float32)
    return _without_empty(vectorizer.fit_transform(_texts()))


def newsgroups_500() -> Matrix:
    """All documents, the paper's 500 words by mutual information, float32 CSR."""
    return _few_words(_texts()).astype(np.float32)


def text_4000x500() -> Array:
    """4,000 documents drawn, 500 words by mutual information, dense float64."""
    return np.asarray(_few_words(_drawn()).toarray())


def text_4000x2000() -> Matrix:
    """4,000 documents drawn, words of document-frequency rank 200 to 2199, float64 CSR.

    Ranks are taken among the documents drawn; the tf-idf is that of the full vocabulary.
    """
    X = TfidfVectorizer(min_df=2, sublinear_tf=True).fit_transform(_drawn())
    ranked = np.argsort(-np.bincount(X.indices), kind="stable")
    return _without_empty(normalize(X[:, ranked[200:2200]]))


@lru_cache(maxsize=1)
def _texts() -> list[str]:
    if not available("newsgroups"):
        raise MissingDataError("newsgroups")
    return load_newsgroups().texts


def _drawn() -> list[str]:
    texts = _texts()
    chosen = np.random.default_rng(0).choice(len(texts), 4000, replace=False)
    return [texts[i] for i in chosen]


def _few_words(texts: list[str], words: int = 500) -> Matrix:
    counts = CountVectorizer(stop_words="english").fit_transform(texts)
    chosen = np.argsort(-word_information(counts), kind="stable")[:words]
    return _without_empty(TfidfTransformer().fit_transform(counts[:, np.sort(chosen)]))


def _without_empty(X: Matrix) -> Matrix:
    return X[np.diff(X.indptr) > 0]
