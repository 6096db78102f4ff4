"""Texts, and the methods that sort them into groups, for the race in `benchmarks.groups`.

A method sees texts, vectors or both, the number of groups and a seed, but never labels of
classes.  Methods that need a package that is not among the requirements name it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, LatentDirichletAllocation, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from benchmarks.real import MissingDataError, minilm
from paper.datasets import available, load_newsgroups
from sphericalpca import SphericalKMeans, TextClusters
from sphericalpca.datasets import Corpus, load_docstrings
from sphericalpca.groups.texts import strip_mail
from sphericalpca.linalg import Array, Labels

__all__ = ["DATA", "METHODS", "Grouper", "Task"]

# Common options of scikit-learn's vectorizers, which `TextClusters` sets, too.
WORDS: dict[str, Any] = {"max_df": 0.5, "min_df": 5, "stop_words": "english"}


@dataclass(frozen=True)
class Task:
    """Texts with known classes, and their vectors if an encoder computed them before."""

    texts: list[str]
    classes: Labels
    vectors: Array | None = None

    @property
    def k(self) -> int:
        """The number of groups to find: the number of classes."""
        return len(np.unique(self.classes))


@dataclass(frozen=True)
class Grouper:
    """A way to group texts, or vectors, or texts by their vectors."""

    run: Callable[[Task, int], Any]
    needs: str | None = None
    texts: bool = True
    vectors: bool = False


def _newsgroups() -> Corpus:
    if not available("newsgroups"):
        raise MissingDataError("newsgroups")
    return load_newsgroups()


def _kept() -> Task:
    return Task(_newsgroups().texts, _newsgroups().labels)


def _stripped() -> Task:
    corpus = _newsgroups()
    return Task([strip_mail(text) for text in corpus.texts], corpus.labels)


def _docstrings() -> Task:
    corpus = load_docstrings()
    return Task(corpus.texts, corpus.labels)


def _embedded() -> Task:
    """The vectors are those of bodies, with quotes and signatures; the texts the same."""
    corpus = _newsgroups()
    bodies = [text.partition("\n\n")[2] for text in corpus.texts]
    return Task(bodies, corpus.labels, minilm())


DATA: dict[str, Callable[[], Task]] = {
    "docstrings": _docstrings,
    "newsgroups, stripped": _stripped,
    "newsgroups, headers kept": _kept,
    "newsgroups, MiniLM": _embedded,
}


def _tfidf(task: Task) -> Any:
    if task.vectors is not None:
        return task.vectors
    vectorizer = TfidfVectorizer(**WORDS, sublinear_tf=True, dtype=np.float32)
    return vectorizer.fit_transform(task.texts)


def _ours(task: Task, seed: int) -> Any:
    if task.vectors is None:
        return TextClusters(task.k, random_state=seed).fit(task.texts).labels_
    model = TextClusters(task.k, vectorizer="passthrough", random_state=seed)
    return model.fit(task.vectors).labels_


def _lsa(task: Task, seed: int) -> Any:
    """scikit-learn's example: 100 components, unit rows, k-means from several starts."""
    svd = TruncatedSVD(100, random_state=seed)
    return make_pipeline(svd, Normalizer(), _kmeans(task.k, seed)).fit_predict(_tfidf(task))


def _kmeans(k: int, seed: int) -> KMeans:
    return KMeans(k, n_init=10, random_state=seed)


def _spherical(task: Task, seed: int) -> Any:
    return SphericalKMeans(task.k, n_init=10, random_state=seed).fit(_tfidf(task)).labels_


def _nmf(task: Task, seed: int) -> Any:
    model = NMF(task.k, init="nndsvda", max_iter=400, random_state=seed)
    return model.fit_transform(_tfidf(task)).argmax(axis=1)


def _lda(task: Task, seed: int) -> Any:
    counts = CountVectorizer(**WORDS).fit_transform(task.texts)
    model = LatentDirichletAllocation(task.k, learning_method="online", random_state=seed)
    return model.fit_transform(counts).argmax(axis=1)


def _bertopic(kmeans: bool) -> Callable[[Task, int], Any]:
    """BERTopic as documented for fixed seeds; `nr_topics` makes it merge HDBSCAN's topics."""

    def run(task: Task, seed: int) -> Any:
        from bertopic import BERTopic  # noqa: PLC0415 - optional
        from umap import UMAP  # noqa: PLC0415

        shape: Any = {"n_neighbors": 15, "n_components": 5, "min_dist": 0.0, "metric": "cosine"}
        options: dict[str, Any] = {"umap_model": UMAP(**shape, random_state=seed)}
        if kmeans:
            options["hdbscan_model"] = KMeans(task.k, random_state=seed)
        else:
            options["nr_topics"] = task.k + 1  # with -1
        words = CountVectorizer(stop_words="english")
        model = BERTopic(embedding_model=None, vectorizer_model=words, **options)
        return model.fit_transform(task.texts, task.vectors)[0]

    return run


class _NoEncoder:
    """A substitute for a model that would have to be downloaded: the vectors are known."""

    def encode(self, texts: Any, **_: Any) -> Any:
        raise AssertionError(f"asked to encode {len(texts)} texts")


def _turftopic(task: Task, seed: int) -> Any:
    from turftopic import ClusteringTopicModel  # noqa: PLC0415 - optional

    options: Any = {"encoder": _NoEncoder(), "clustering": _kmeans(task.k, seed)}
    model = ClusteringTopicModel(**options, feature_importance="c-tf-idf", random_state=seed)
    return model.fit_predict(task.texts, embeddings=task.vectors)


METHODS: dict[str, Grouper] = {
    "ours": Grouper(_ours, vectors=True),
    "LSA + k-means": Grouper(_lsa, vectors=True),
    "spherical k-means, 10 starts": Grouper(_spherical, vectors=True),
    "NMF": Grouper(_nmf),
    "LDA": Grouper(_lda),
    "BERTopic, HDBSCAN": Grouper(_bertopic(kmeans=False), "bertopic", texts=False, vectors=True),
    "BERTopic, k-means": Grouper(_bertopic(kmeans=True), "bertopic", texts=False, vectors=True),
    "turftopic, t-SNE + k-means": Grouper(_turftopic, "turftopic", texts=False, vectors=True),
}
