"""The cases: data and numbers of components, independent of methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from benchmarks import generated, real
from sphericalpca.rows import Matrix

__all__ = ["CASES", "Case", "few_rows", "quick_case"]

DENSE = (20_000, 300)
WIDE = (20_000, 30_000)
QUICK_ROWS = 600


@dataclass(frozen=True)
class Case:
    """Data to compare on.

    Attributes
    ----------
    name : str
    about : str
        What the data are, in a few words.
    load : callable
        Returns the unit rows, or raises `real.MissingDataError`.
    components : tuple of int
        The numbers r of components to try.
    """

    name: str
    about: str
    load: Callable[[], Matrix]
    components: tuple[int, ...]


def _generated(name: str, about: str, draw: Callable[[], Matrix]) -> Case:
    return Case(name, about, draw, (2, 20, 100))


CASES: dict[str, Case] = {
    case.name: case
    for case in (
        Case("newsgroups-500", "newsgroup tf-idf, 500 words", real.newsgroups_500, (20,)),
        Case("text", "4,000 newsgroup texts, 2,000 words", real.text_4000x2000, (20,)),
        Case("newsgroups", "newsgroup tf-idf, full vocabulary", real.newsgroups_full, (20, 100)),
        Case("minilm", "MiniLM embeddings of the newsgroups", real.minilm, (64,)),
        Case("isolet", "spoken letters", real.isolet, (26,)),
        _generated(
            "spiked", "10 strong directions and noise", partial(generated.spiked, *DENSE, spikes=10)
        ),
        _generated(
            "power-law",
            "singular values proportional to 1/k",
            partial(generated.power_law, *DENSE, exponent=1.0),
        ),
        _generated(
            "clusters", "30 groups around centres", partial(generated.clusters, *DENSE, groups=30)
        ),
        _generated("isotropic", "uniform directions", partial(generated.isotropic, *DENSE)),
        _generated(
            "zipf-sparse",
            "texts of some 60 words after Zipf's law",
            partial(generated.zipf_text, *WIDE, words=60),
        ),
    )
}


def quick_case(case: Case) -> Case:
    """A few hundred rows of the same data and few components, as a smoke test."""
    few = tuple(r for r in case.components if r <= 20) or (20,)
    return replace(case, load=lambda: few_rows(case.load()), components=few)


def few_rows(X: Matrix, rows: int = QUICK_ROWS) -> Matrix:
    """A random sample of rows; for sparse data only features that occur twice in them."""
    n, m = X.shape
    chosen = np.random.default_rng(0).choice(n, min(n, rows), replace=False)
    X = X[np.sort(chosen)]
    if not sparse.issparse(X):
        return X
    X = normalize(X[:, np.bincount(X.indices, minlength=m) > 1])
    return X[np.diff(X.indptr) > 0]
