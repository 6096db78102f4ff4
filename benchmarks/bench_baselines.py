"""Speed of our K-SVD and matching pursuit compared with other packages.

On generated data, sparse like tf-idf and dense, this times one iteration of K-SVD (one
coding of all rows and one update of all atoms) here and in the package dictlearn, from the
same first atoms, and one coding by matching pursuit here and in scikit-learn.  Both run in
turns in one process.  It stops if their results differ, and prints ratios of medians.
Without dictlearn (``pip install dictlearn``) that line is left out.
Run: ``OPENBLAS_NUM_THREADS=1 python benchmarks/bench_baselines.py``.
"""

from __future__ import annotations

import argparse
import importlib
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import orthogonal_mp_gram

from sphericalpca.baselines.dictionary import first_atoms, learn_dictionary
from sphericalpca.baselines.pursuit import matching_pursuit
from sphericalpca.linalg import Array, unit_rows
from sphericalpca.rows import Matrix, as_rows

# Our leading directions are accurate to 1e-6, and the loss is flat there.
SAME_LOSS = 1e-7
SAME_CODES = 1e-8


def tfidf(rng: np.random.Generator, n: int, m: int, topics: int) -> Matrix:
    """Texts of about 80 words; word frequencies follow Zipf's law, modified by a topic."""
    frequencies = rng.gamma(0.5, size=(topics, m)) / np.arange(1, m + 1)
    frequencies *= 80 / frequencies.sum(axis=1, keepdims=True)
    counts = rng.poisson(frequencies[rng.integers(topics, size=n)])
    idf = 1 + np.log((1 + n) / (1 + (counts > 0).sum(axis=0)))
    return sparse.csr_array(unit_rows(counts * idf)[0])


def dense(rng: np.random.Generator, n: int, m: int, factors: int) -> Matrix:
    """Rows near a subspace."""
    X = rng.standard_normal((n, factors)) @ rng.standard_normal((factors, m))
    return np.asarray(X + 2 * rng.standard_normal((n, m)))


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    answer = action()
    return time.perf_counter() - began, answer


def race(what: str, other: str, ours: Callable[[], Any], theirs: Callable[[], Any], n: int) -> Any:
    """Print median seconds of both, taken in turns, and their ratio; return both answers."""
    times = []
    for _ in range(n):
        (our_time, our_answer), (their_time, their_answer) = timed(ours), timed(theirs)
        times.append((our_time, their_time))
    here, there = np.median(times, axis=0)
    print(f"  {what}: here {here:.3f} s, {other} {there:.3f} s, ratio {there / here:.0f}")
    return our_answer, their_answer


def race_codings(X: Matrix, D: Array, n_nonzero: int, repeats: int) -> Array:
    gram, products = D @ D.T, np.asarray(X @ D.T)
    ours, theirs = race(
        "one coding",
        "scikit-learn",
        lambda: matching_pursuit(gram, products, n_nonzero),
        lambda: orthogonal_mp_gram(gram, products.T, n_nonzero_coefs=n_nonzero).T,
        repeats,
    )
    np.testing.assert_allclose(ours, theirs, atol=SAME_CODES * np.abs(theirs).max())
    return np.asarray(ours)


def race_iterations(X: Matrix, D: Array, codes: Array, n_nonzero: int, repeats: int) -> None:
    filled = X.toarray() if sparse.issparse(X) else X
    lengths = as_rows(X, normalize=False).stats.norm
    # From given codes a fit of one iteration is one update and then one coding; without
    # them there would be two codings.
    model = importlib.import_module("dictlearn").DictionaryLearning(
        len(D),
        fit_algorithm="ksvd",
        n_nonzero_coefs=n_nonzero,
        max_iter=1,
        dict_init=D,
        code_init=codes,
    )
    ours, theirs = race(
        "one iteration",
        "dictlearn",
        lambda: learn_dictionary(X, lengths, D, n_nonzero, tol=0.0, max_iter=1),
        lambda: model.fit(filled),
        repeats,
    )
    loss = theirs.error_[-1] ** 2 * filled.size
    np.testing.assert_allclose(ours.losses[-1], loss, rtol=SAME_LOSS)


def compare(name: str, X: Matrix, n_atoms: int, repeats: int) -> None:
    n_nonzero = n_atoms // 2
    n, m = X.shape
    print(f"{name} {n:,} x {m}, {n_atoms} atoms, {n_nonzero} non-zeros")
    lengths = as_rows(X, normalize=False).stats.norm
    D = first_atoms(X, lengths, n_atoms, np.random.default_rng(0))
    codes = race_codings(X, D, n_nonzero, repeats)
    if find_spec("dictlearn"):
        race_iterations(X, D, codes, n_nonzero, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a tenth of the rows")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    # Rows that are among the first atoms need only one atom; scikit-learn warns each time.
    warnings.filterwarnings("ignore", "Orthogonal matching pursuit ended prematurely")
    if not find_spec("dictlearn"):
        print("dictlearn is not installed: K-SVD is not compared")
    rng, part = np.random.default_rng(0), 10 if args.small else 1
    compare("tf-idf", tfidf(rng, 4000 // part, 500, 20), 20, args.repeats)
    compare("dense", dense(rng, 7797 // part, 617, 26), 26, args.repeats)


if __name__ == "__main__":
    main()
