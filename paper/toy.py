"""The one draw of the toy that Fig. 2 shows, point by point."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from paper.journal import Journal
from paper.provenance import made_with
from paper.seeds import seed_of
from sphericalpca.datasets import make_toy
from sphericalpca.estimators import SphericalPCA
from sphericalpca.metrics import match_clusters

__all__ = ["toy_points", "typical_draw"]


def typical_draw(journal: Journal) -> int:
    """The draw whose accuracies, on raw points and on components, are closest to the median."""
    shown = ("kmeans-raw", "spherical-pca")
    accuracy: dict[int, dict[str, float]] = {}
    for row in journal.rows.values():
        if row["experiment"] == "toy" and row["method"] in shown:
            draw = accuracy.setdefault(int(row["repetition"]), {})
            draw[row["method"]] = float(row["accuracy"])
    draws = sorted(accuracy)
    table = np.array([[accuracy[draw][method] for method in shown] for draw in draws])
    distance = np.abs(table - np.median(table, axis=0)).sum(axis=1)
    return draws[int(distance.argmin())]


def toy_points(repetition: int) -> list[dict[str, Any]]:
    """A row for each point: coordinates, group, clusters found, components."""
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
    made = {"made_with": made_with()}
    return [
        {"repetition": repetition, **dict(zip(names, row, strict=True)), **plane, **made}
        for row in columns.tolist()
    ]
