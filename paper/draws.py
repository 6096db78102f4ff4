"""A trial's data: which samples and features, and how they are scaled.

A draw depends on experiment, data set, groups and repetition.  Variants change the
features of the same draw.  All methods get the same matrix for a draw.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from paper.datasets import load_minilm, load_newsgroups, load_uci
from paper.plan import (
    EMBEDDED_TABLES,
    PAPER_GROUPS,
    SCIKIT_LEARN_GROUPS,
    Trial,
)
from paper.seeds import seed_of
from sphericalpca.datasets import Corpus, load_bundled, load_docstrings, make_toy
from sphericalpca.linalg import Array, Labels
from sphericalpca.rows import Matrix

__all__ = ["Draw", "draw", "word_information"]

DOCUMENTS_PER_GROUP = 200
WORDS = 500


@dataclass(frozen=True)
class Draw:
    """Samples with their groups, without `dropped` ones that had no feature."""

    X: Matrix
    labels: Labels
    dropped: int


def draw(trial: Trial, data_home: Path | None) -> Draw:
    """The data of a trial; the last few are kept, because methods share them."""
    # Constants of Algorithm 1 belong to the method.
    variant = "main" if trial.experiment == "constants" else trial.variant
    return _draw(replace(trial, methods=(), r=0, clusterings=1, variant=variant), data_home)


@lru_cache(maxsize=2)
def _draw(trial: Trial, data_home: Path | None) -> Draw:
    if trial.dataset == "toy":
        return Draw(*make_toy(random_state=seed_of("toy", trial.repetitions[0])), dropped=0)
    if trial.experiment == "uci":
        return _without_empty(*_table(trial.dataset, trial.variant, data_home))
    if trial.experiment == "lsa":
        return _recipe(trial, data_home)
    if trial.experiment == "embeddings":
        return _embedded(trial, data_home)
    return _few_words(trial, data_home)


def _table(name: str, variant: str, data_home: Path | None) -> tuple[Array, Labels]:
    X, labels = load_bundled(name) if name in EMBEDDED_TABLES else load_uci(name, data_home)
    scalers = {"standardised": StandardScaler, "minmax": MinMaxScaler}
    return (scalers[variant]().fit_transform(X) if variant in scalers else X), labels


def _few_words(trial: Trial, data_home: Path | None) -> Draw:
    """Table 1: some documents of some groups, 500 words, tf-idf."""
    counts, labels, names = _counts(trial.dataset, trial.variant == "stripped", data_home)
    chosen = _choose_documents(trial, labels, names)
    counts, labels = counts[chosen], labels[chosen]
    classes = np.unique(labels, return_inverse=True)[1] if trial.variant == "labels" else None
    words = np.argsort(-word_information(counts, classes), kind="stable")[:WORDS]
    X = TfidfTransformer().fit_transform(counts[:, np.sort(words)])
    return _without_empty(X, labels)


def word_information(counts: sparse.csr_matrix, classes: Labels | None = None) -> Array:
    """Mutual information between each word and the documents, or classes of documents.

    This is the share of word w in ``sum_{w, d} p(w, d) log(p(w, d) / (p(w) p(d)))``, where p(w, d)
    is the number of times w occurs in d, divided by all occurrences; shape (n_words,).
    """
    if classes is not None:
        n = len(classes)
        members = sparse.csr_matrix((np.ones(n), (classes, np.arange(n))))
        counts = members @ counts
    joint = sparse.coo_matrix(counts, dtype=np.float64)
    joint.data /= joint.data.sum()
    of_document, of_word = (np.asarray(joint.sum(axis=axis)).ravel() for axis in (1, 0))
    independent = of_document[joint.row] * of_word[joint.col]
    shares = joint.data * np.log(joint.data / independent)
    return np.asarray(np.bincount(joint.col, weights=shares, minlength=joint.shape[1]), float)


def _choose_groups(rng: np.random.Generator, groups: str, names: list[str]) -> list[int]:
    if groups.endswith("named"):
        return [names.index(name) for name in PAPER_GROUPS]
    return sorted(rng.choice(len(names), int(groups), replace=False).tolist())


def _choose_documents(trial: Trial, labels: Labels, names: list[str]) -> npt.NDArray[np.intp]:
    """The same documents for all experiments and variants, so that they can be compared."""
    seed = seed_of("documents", trial.dataset, trial.groups, trial.repetitions[0])
    rng = np.random.default_rng(seed)
    groups = _choose_groups(rng, trial.groups, names)
    members = [np.flatnonzero(labels == group) for group in groups]
    sizes = [min(DOCUMENTS_PER_GROUP, len(m)) for m in members]
    drawn = [rng.choice(m, n, replace=False) for m, n in zip(members, sizes, strict=True)]
    return np.sort(np.concatenate(drawn))


def _embedded(trial: Trial, data_home: Path | None) -> Draw:
    """Table 4: the same documents as vectors of a sentence encoder."""
    vectors = load_minilm(data_home)
    chosen = _choose_documents(trial, vectors.labels, list(vectors.group_names))
    return _without_empty(vectors.X[chosen], vectors.labels[chosen])


def _recipe(trial: Trial, data_home: Path | None) -> Draw:
    """Table 3: the usual tf-idf of whole groups; the bootstrap draws documents anew."""
    found = _recipe_features(trial.dataset, trial.groups, data_home)
    if trial.variant != "bootstrap":
        return found
    seed = seed_of("bootstrap", trial.dataset, trial.groups, trial.repetitions[0])
    n = len(found.labels)
    chosen = np.random.default_rng(seed).integers(n, size=n)
    return Draw(found.X[chosen], found.labels[chosen], found.dropped)


@lru_cache(maxsize=1)
def _recipe_features(dataset: str, groups: str, data_home: Path | None) -> Draw:
    corpus = _corpus(dataset, data_home)
    names, labels = list(corpus.group_names), np.asarray(corpus.labels)
    few = int(groups) == len(SCIKIT_LEARN_GROUPS) < len(names)
    members = SCIKIT_LEARN_GROUPS if few else names
    chosen = np.isin(labels, [names.index(name) for name in members])
    texts = _stripped(dataset, data_home)
    vectorizer = TfidfVectorizer(max_df=0.5, min_df=5, stop_words="english")
    X = vectorizer.fit_transform([texts[i] for i in np.flatnonzero(chosen)])
    return _without_empty(X, labels[chosen])


@lru_cache(maxsize=1)
def _corpus(dataset: str, data_home: Path | None) -> Corpus:
    return load_docstrings() if dataset == "docstrings" else load_newsgroups(data_home)


@lru_cache(maxsize=1)
def _stripped(dataset: str, data_home: Path | None) -> list[str]:
    """Without headers, footers and quotes, as scikit-learn removes them."""
    # Private functions: fetch_20newsgroups(remove=...) applies them only to its own download.
    from sklearn.datasets._twenty_newsgroups import (  # noqa: PLC0415
        strip_newsgroup_footer,
        strip_newsgroup_header,
        strip_newsgroup_quoting,
    )

    texts = _corpus(dataset, data_home).texts
    if dataset == "docstrings":
        return list(texts)
    steps = (strip_newsgroup_header, strip_newsgroup_footer, strip_newsgroup_quoting)
    for step in steps:
        texts = [step(text) for text in texts]
    return list(texts)


@lru_cache(maxsize=2)
def _counts(
    dataset: str, stripped: bool, data_home: Path | None
) -> tuple[sparse.csr_matrix, Labels, list[str]]:
    """Counts of each word in each document of the collection, without stop words."""
    corpus = _corpus(dataset, data_home)
    texts = _stripped(dataset, data_home) if stripped else corpus.texts
    counts = CountVectorizer(stop_words="english").fit_transform(texts)
    return counts, np.asarray(corpus.labels), list(corpus.group_names)


def _without_empty(X: Matrix, labels: Labels) -> Draw:
    """Drop rows without any feature: they have no direction."""
    full = np.asarray((X != 0).sum(axis=1)).ravel() > 0
    return Draw(X[full], labels[full], int((~full).sum()))
