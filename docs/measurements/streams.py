"""What one pass over a stream of real embeddings loses against a fit to all of them.

Writes ``streams.csv`` beside this file: mean cosines below that of `fit`, as shares of it, the
mean and the largest over ten shuffles.  ``docs/scaling.md`` shows them.  Wants the file
``newsgroups_minilm_f16.npz`` in the folder that SPHERICALPCA_DATA_HOME names::

    python -m docs.measurements.streams
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import IncrementalPCA
from sklearn.preprocessing import normalize

from paper.datasets import get_data_home
from sphericalpca import SphericalPCA

OUT = Path(__file__).with_name("streams.csv")
DIMENSIONS = (10, 64)
SHUFFLES = 10
PASSES = 3
BATCH = 256


def main() -> None:
    """Measure, and write a row for each way and dimension."""
    with np.load(get_data_home() / "newsgroups_minilm_f16.npz") as content:
        X = normalize(content["X"].astype(np.float32))
    rows = [row for r in DIMENSIONS for row in _measured(X, r)]
    with OUT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _measured(X: Any, r: int) -> Iterator[dict[str, Any]]:
    best = SphericalPCA(r).fit(X)
    streams = np.array([_stream(X, r, seed) for seed in range(SHUFFLES)])
    found = {
        **{f"partial_fit, pass {k}": streams[:, k - 1] for k in range(1, PASSES + 1)},
        "SVD + unit rows": np.array([best.svd_ratio_ * best.mean_cosine_]),
        "IncrementalPCA, uncentred": np.array(
            [_incremental(X, r, seed) for seed in range(SHUFFLES)]
        ),
    }
    for way, cosines in found.items():
        below = 1 - cosines / best.mean_cosine_
        yield {
            "r": r,
            "way": way,
            "below": f"{below.mean():.6f}",
            "worst": f"{below.max():.6f}",
            "shuffles": len(below),
        }


def _stream(X: Any, r: int, seed: int) -> list[float]:
    """The mean cosine after each pass, shuffled anew for each."""
    rng, model, reached = np.random.default_rng(seed), SphericalPCA(r), []
    for _ in range(PASSES):
        for batch in _batches(X, rng):
            model.partial_fit(batch)
        reached.append(model.score(X))
    return reached


def _incremental(X: Any, r: int, seed: int) -> float:
    """IncrementalPCA after one pass; with each row its mirror image, so that the mean is zero."""
    model = IncrementalPCA(r)
    for batch in _batches(X, np.random.default_rng(seed)):
        model.partial_fit(np.vstack([batch, -batch]))
    return float(np.linalg.norm(X @ model.components_.T, axis=1).mean())


def _batches(X: Any, rng: np.random.Generator) -> Iterator[Any]:
    order = rng.permutation(len(X))
    return (X[order[first : first + BATCH]] for first in range(0, len(X), BATCH))


if __name__ == "__main__":
    main()
