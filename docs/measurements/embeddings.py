"""Cosine neighbours of real embeddings, kept by each way to shorten them.

Writes ``embeddings.csv`` beside this file, from which the site draws a table.  Wants the file
``newsgroups_minilm_f16.npz`` in the folder that SPHERICALPCA_DATA_HOME names::

    python -m docs.measurements.embeddings
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.preprocessing import normalize

from paper.datasets import get_data_home
from sphericalpca import SphericalPCA

OUT = Path(__file__).with_name("embeddings.csv")
DIMENSIONS = (8, 16, 32, 64, 128, 192)
QUERIES = 1000
K = 10


def main() -> None:
    """Measure, and write a row for each dimension."""
    with np.load(get_data_home() / "newsgroups_minilm_f16.npz") as content:
        X = normalize(content["X"].astype(np.float32))
    shuffled = np.random.default_rng(0).permutation(len(X))
    queries, base = X[shuffled[:QUERIES]], X[shuffled[QUERIES:]]
    rows = [_measured(base, queries, r) for r in DIMENSIONS]
    with OUT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _measured(base: Any, queries: Any, r: int) -> dict[str, Any]:
    ours = SphericalPCA(r).fit(base)
    svd = TruncatedSVD(r, algorithm="arpack", random_state=0).fit(base)
    pca = PCA(r, svd_solver="covariance_eigh").fit(base)
    true = _neighbours(queries, base)
    found = {
        "Spherical PCA": _neighbours(*map(ours.transform, (queries, base))),
        "SVD + unit rows": _neighbours(*(normalize(svd.transform(Z)) for Z in (queries, base))),
        "SVD, inner product": _neighbours(*map(svd.transform, (queries, base))),
        "PCA + unit rows": _neighbours(*(normalize(pca.transform(Z)) for Z in (queries, base))),
        "PCA, inner product": _neighbours(*map(pca.transform, (queries, base))),
        "first coordinates": _neighbours(*(normalize(Z[:, :r]) for Z in (queries, base))),
    }
    return {
        "r": r,
        "svd_ratio": f"{ours.svd_ratio_:.6f}",
        "mean_cosine": f"{ours.mean_cosine_:.4f}",
        "shared": f"{_overlap(found['Spherical PCA'], found['SVD + unit rows']):.4f}",
        **{name: f"{_overlap(true, ids):.4f}" for name, ids in found.items()},
    }


def _neighbours(queries: Any, base: Any) -> Any:
    """The rows of the base with the largest inner products, for each query."""
    return np.argpartition(-queries @ base.T, K, axis=1)[:, :K]


def _overlap(left: Any, right: Any) -> float:
    """The mean share of neighbours that two searches agree on."""
    both = [len(np.intersect1d(a, b)) for a, b in zip(left, right, strict=True)]
    return float(np.mean(both)) / K


if __name__ == "__main__":
    main()
