"""Real data from the dependencies, which need no files and no network."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np
import numpy.typing as npt

from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array, Labels

__all__ = ["BUNDLED", "DOCSTRING_GROUPS", "Corpus", "load_bundled", "load_docstrings"]

BUNDLED = ("iris", "wine", "breast-cancer", "digits")

# Topics and their modules.  A text that is in two modules belongs to the first.
DOCSTRING_GROUPS = {
    "statistics": ("scipy.stats", "scipy.stats.contingency", "scipy.stats.qmc"),
    "signals": ("scipy.signal", "scipy.signal.windows"),
    "special functions": ("scipy.special",),
    "sparse matrices": ("scipy.sparse", "scipy.sparse.csgraph", "scipy.sparse.linalg"),
    "images": ("scipy.ndimage",),
    "linear algebra": ("scipy.linalg", "numpy.linalg"),
    "machine learning": (
        *("sklearn.cluster", "sklearn.decomposition", "sklearn.ensemble"),
        *("sklearn.feature_selection", "sklearn.linear_model", "sklearn.manifold"),
        *("sklearn.mixture", "sklearn.naive_bayes", "sklearn.neighbors"),
        *("sklearn.preprocessing", "sklearn.svm", "sklearn.tree"),
    ),
    "arrays": ("numpy",),
}

SHORTEST = 200

# When imported, scipy writes random samples and unordered sets into a few docstrings.  These
# differ from run to run, so they are left out.
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
        "train" or "test" if the source distinguishes them, else "all".
    ids : ndarray of str of shape (n_documents,)
        A unique name for each document.
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
        """Make a corpus from the name of each document's group.

        Parameters
        ----------
        ids, groups, subset, texts : sequence of str
            One entry per document; groups are numbered in alphabetical order.

        Returns
        -------
        corpus : Corpus
        """
        names, labels = np.unique(np.asarray(groups, dtype=np.str_), return_inverse=True)
        arrays = np.asarray(subset, dtype=np.str_), np.asarray(ids, dtype=np.str_)
        return cls(list(texts), labels, names.tolist(), *arrays)

    def __len__(self) -> int:
        return len(self.texts)


def load_bundled(name: str) -> tuple[Array, Labels]:
    """Load a data set bundled with scikit-learn.

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
        If the name is unknown.

    Examples
    --------
    >>> from sphericalpca.datasets import load_bundled
    >>> X, y = load_bundled("wine")
    >>> X.shape
    (178, 13)
    """
    if name not in BUNDLED:
        raise DataError(f"No bundled data set {name!r}", remedy=f"choose from {', '.join(BUNDLED)}")
    from sklearn import datasets  # noqa: PLC0415 - slow to import

    X, y = getattr(datasets, f"load_{name.replace('-', '_')}")(return_X_y=True)
    return np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.int64)


def load_docstrings() -> Corpus:
    """Load the docstrings of numpy, scipy and scikit-learn: English texts in eight groups.

    The groups are topics such as signals or statistics, which are easy to separate, but not
    perfectly.
    Documents are the docstrings of public functions and classes with at least 200 characters,
    unchanged, sorted by qualified name, without repetitions.  They are the same in every run, but
    depend on the installed versions: this is a stand-in for a corpus, not a benchmark.

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
        raise DataError("Python runs without docstrings", remedy="run it without the option -OO")
    found: dict[str, tuple[str, str]] = {}  # name and group of each text
    for group, modules in DOCSTRING_GROUPS.items():
        for module in map(importlib.import_module, modules):
            for name, text in _docstrings(module):
                found.setdefault(text, (f"{module.__name__}.{name}", group))
    texts = sorted(found, key=found.__getitem__)
    ids, groups = zip(*(found[text] for text in texts), strict=True)
    return Corpus.of(ids, groups, ["all"] * len(ids), texts)


def _docstrings(module: ModuleType) -> Iterator[tuple[str, str]]:
    for name in sorted(module.__all__):
        thing = None if name.startswith("_") else _attribute(module, name)
        text = str(thing.__doc__ or "") if callable(thing) else ""
        if len(text) >= SHORTEST and not any(sign in text for sign in VARYING):
            yield name, text


def _attribute(module: ModuleType, name: str) -> object:
    """A public attribute; None if it is deprecated or cannot be imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return getattr(module, name)
        except (AttributeError, ImportError, Warning):
            return None
