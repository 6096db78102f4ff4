"""The one draw of the toy that Fig. 2 shows, point by point."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from sphericalpca.datasets import make_toy
from sphericalpca.estimators import SphericalPCA
from sphericalpca.experiments.journal import Journal
from sphericalpca.experiments.seeds import seed_of
from sphericalpca.metrics import match_clusters

__all__ = ["toy_points", "typical_draw"]


def typical_draw(journal: Journal) -> int:
    """The draw on which k-means on raw points does as well as on half of the draws."""
    raw = [
        (float(row["accuracy"]), int(row["repetition"]))
        for row in journal.rows.values()
        if row["experiment"] == "toy" and row["method"] == "kmeans-raw"
    ]
    return sorted(raw)[len(raw) // 2][1]


def toy_points(repetition: int) -> list[dict[str, Any]]:
    """A row for each point: where it is, its group, the clusters found, its components."""
    # The same seeds as in the trials of this draw.
    X, groups = make_toy(random_state=seed_of("toy", repetition))
    where = ("toy", "toy", "2", repetition)
    with threadpool_limits(limits=1):
        model = SphericalPCA(2, random_state=seed_of("fit", *where)).fit(X)
        V = model.transform(X)
        kmeans = KMeans(2, n_init=10, random_state=seed_of("k-means", *where))
        found = [match_clusters(groups, kmeans.fit_predict(view)) for view in (X, V)]
    columns = np.column_stack([X, groups, *found, V])
    names = ("x", "y", "z", "group", "kmeans", "spherical", "v1", "v2")
    U = model.components_.T
    plane = {f"u{i + 1}{j + 1}": float(U[i, j]) for i in range(3) for j in range(2)}
    return [
        {"repetition": repetition, **dict(zip(names, row, strict=True)), **plane}
        for row in columns.tolist()
    ]
