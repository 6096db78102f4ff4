"""Real data that every installation has, for when there are no files and no network."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array

__all__ = ["BUNDLED", "DOCSTRING_GROUPS", "Corpus", "Labels", "load_bundled", "load_docstrings"]

Labels = npt.NDArray[np.integer[Any]]

# Names of ours and of scikit-learn's loaders.
BUNDLED = {
    "iris": "load_iris",
    "wine": "load_wine",
    "breast-cancer": "load_breast_cancer",
    "digits": "load_digits",
}

# Topics and the modules that speak of them.  Where a text appears in two modules it
# belongs to the first of them.
DOCSTRING_GROUPS = {
    "statistics": ("scipy.stats", "scipy.stats.contingency", "scipy.stats.qmc"),
    "signals": ("scipy.signal", "scipy.signal.windows"),
    "special functions": ("scipy.special",),
    "sparse matrices": ("scipy.sparse", "scipy.sparse.csgraph", "scipy.sparse.linalg"),
    "images": ("scipy.ndimage",),
    "linear algebra": ("scipy.linalg", "numpy.linalg"),
    "machine learning": (
        "sklearn.cluster",
        "sklearn.decomposition",
        "sklearn.ensemble",
        "sklearn.feature_selection",
        "sklearn.linear_model",
        "sklearn.manifold",
        "sklearn.mixture",
        "sklearn.naive_bayes",
        "sklearn.neighbors",
        "sklearn.preprocessing",
        "sklearn.svm",
        "sklearn.tree",
    ),
    "arrays": ("numpy",),
}

SHORTEST = 200

# Into a few docstrings scipy writes random samples and unordered sets while it is imported;
# texts that look so are left out, because they would differ from run to run.
VARYING = (")  # may vary", "Use of argument(s) ``{")


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


def load_bundled(name: str) -> tuple[Array, Labels]:
    """A table that comes with scikit-learn.

    Parameters
    ----------
    name : {"iris", "wine", "breast-cancer", "digits"}

    Returns
    -------
    X : ndarray of float64 of shape (n, m)
    y : ndarray of int of shape (n,)

    Raises
    ------
    DataError
        If there is no such data set.

    Examples
    --------
    >>> from sphericalpca.datasets import load_bundled
    >>> X, y = load_bundled("wine")
    >>> X.shape
    (178, 13)
    """
    if name not in BUNDLED:
        raise DataError(f"No bundled data {name!r}", remedy=f"there are {', '.join(BUNDLED)}")
    from sklearn import datasets  # noqa: PLC0415 - slow to import

    X, y = getattr(datasets, BUNDLED[name])(return_X_y=True)
    return np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.int64)


def load_docstrings() -> Corpus:
    """Docstrings of numpy, scipy and scikit-learn: English texts in eight groups.

    The groups are topics: arrays (numpy), images (scipy.ndimage), linear algebra
    (scipy.linalg, numpy.linalg), machine learning (the models of scikit-learn), signals
    (scipy.signal), sparse matrices (scipy.sparse with its graphs and solvers), special
    functions (scipy.special) and statistics (scipy.stats).  They can be told apart, but not
    perfectly.

    Documents are the docstrings of at least 200 characters of the public functions and
    classes, unchanged, sorted by qualified name, each text once.  They are the same in every
    run, but depend on the versions that are installed: this is a stand-in for a corpus, not a
    benchmark.

    Returns
    -------
    Corpus
        Ids are qualified names such as "scipy.signal.butter"; the subset is "all".

    Raises
    ------
    DataError
        If Python runs without docstrings.

    Examples
    --------
    >>> from sphericalpca.datasets import load_docstrings
    >>> corpus = load_docstrings()
    >>> len(corpus) > 1000, len(corpus.group_names)
    (True, 8)
    """
    if sys.flags.optimize > 1:
        raise DataError("Python runs without docstrings", remedy="leave out the option -OO")
    found: dict[str, tuple[str, str]] = {}
    seen: set[str] = set()
    for group, modules in DOCSTRING_GROUPS.items():
        for module in map(importlib.import_module, modules):
            for name, text in _docstrings(module):
                if text not in seen:
                    seen.add(text)
                    found[f"{module.__name__}.{name}"] = group, text
    ids = sorted(found)
    groups, texts = zip(*(found[name] for name in ids), strict=True)
    return Corpus.of(ids, groups, ["all"] * len(ids), texts)


def _docstrings(module: ModuleType) -> Iterator[tuple[str, str]]:
    for name in sorted(module.__all__):
        thing = None if name.startswith("_") else _attribute(module, name)
        text = getattr(thing, "__doc__", None)
        if callable(thing) and isinstance(text, str) and _is_document(text):
            yield name, text


def _is_document(text: str) -> bool:
    return len(text) >= SHORTEST and not any(sign in text for sign in VARYING)


def _attribute(module: ModuleType, name: str) -> object:
    """A public thing; None if it is deprecated or hidden until it is asked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return getattr(module, name)
        except (AttributeError, ImportError, Warning):
            return None
