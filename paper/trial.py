"""One trial: draw the data, represent them, cluster, measure."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize
from threadpoolctl import ThreadpoolController

from paper.draws import Draw, draw
from paper.methods import METHODS, DoesNotApplyError, Representation
from paper.plan import Trial, constants_of
from paper.provenance import made_with
from paper.seeds import seed_of
from sphericalpca.estimators import SphericalKMeans
from sphericalpca.metrics import clustering_accuracy, nmi
from sphericalpca.rows import Matrix

__all__ = ["run_trial"]

Clustering = type[KMeans] | type[SphericalKMeans]

# As in scikit-learn's example of document clustering, which Table 3 follows.
RECIPE_KMEANS: dict[str, Any] = {"n_init": 1, "max_iter": 100}
KMEANS: dict[str, Any] = {"n_init": 10}

# TruncatedSVD with its default settings, not the exact one of the other tables.
RECIPE_OPTIONS: dict[str, dict[str, Any]] = {"svd-unit": {"algorithm": "randomized"}}


def run_trial(trial: Trial, data_home: Path | None) -> list[dict[str, Any]]:
    """The rows of one trial, one for each method and repetition.

    Everything runs on one thread, so that rows do not depend on the number of processes and
    seconds are comparable.  They are CPU seconds.
    """
    data = draw(trial, data_home)
    with _libraries().limit(limits=1), warnings.catch_warnings():
        # Iteration limits are part of the protocol; the rows say how many were made.
        warnings.simplefilter("ignore", ConvergenceWarning)
        X = data.X if METHODS[trial.methods[0]].raw else normalize(data.X)
        return _rows(trial, data, X)


@cache
def _libraries() -> ThreadpoolController:
    # Looked up once: during the search C calls back into Python, where Ctrl-C would be lost.
    return ThreadpoolController()


def _rows(trial: Trial, data: Draw, X: Matrix) -> list[dict[str, Any]]:
    # The seed of the fit depends on the draw only: it is the same for all methods.
    where = (trial.experiment, trial.dataset, trial.groups, trial.repetitions[0])
    began = time.process_time()
    try:
        found = _represent(trial, X, seed_of("fit", *where))
    except DoesNotApplyError as reason:
        empty = {**_constants(trial, data), "note": str(reason), "parameters": "{}"}
        return [{**empty, "method": m, "repetition": i} for m, i in _rows_of(trial)]
    known = {
        **_constants(trial, data),
        "parameters": json.dumps(found.parameters, sort_keys=True),
        "seconds": round(time.process_time() - began, 4),
        **found.facts,
    }
    return [
        {**known, "method": method, **_repetition(trial, data, _view(method, found.Z), i)}
        for method, i in _rows_of(trial)
    ]


def _rows_of(trial: Trial) -> Iterator[tuple[str, int]]:
    return product(trial.methods, trial.repetitions)


def _represent(trial: Trial, X: Matrix, seed: int) -> Representation:
    method, options = trial.methods[0], {}
    if trial.experiment == "lsa":
        options = RECIPE_OPTIONS.get(method, {})
    elif method == "algorithm-1":
        options = constants_of(trial.variant)
    return METHODS[method].represent(X, trial.r, seed, options)


def _view(method: str, Z: Matrix) -> tuple[Clustering, Matrix]:
    """The clustering method of a representation, and its input."""
    spherical, unit = METHODS[method].spherical, METHODS[method].unit
    return SphericalKMeans if spherical else KMeans, normalize(Z) if unit else Z


def _repetition(
    trial: Trial, data: Draw, view: tuple[Clustering, Matrix], repetition: int
) -> dict[str, Any]:
    """The mean over `clusterings` seeds of k-means: one draw is one measurement."""
    where = ("k-means", trial.experiment, trial.dataset, trial.groups, repetition)
    seeds = [seed_of(*where), *(seed_of(*where, i) for i in range(1, trial.clusterings))]
    options = RECIPE_KMEANS if trial.experiment == "lsa" else KMEANS
    found = [_cluster(trial, data, view, seed, options) for seed in seeds]
    accuracies = [one["accuracy"] for one in found]
    return {
        "repetition": repetition,
        "seed": seeds[0],
        "accuracy_sd": float(np.std(accuracies, ddof=1)) if len(seeds) > 1 else None,
        **{name: float(np.mean([one[name] for one in found])) for name in found[0]},
    }


def _cluster(
    trial: Trial, data: Draw, view: tuple[Clustering, Matrix], seed: int, options: dict[str, Any]
) -> dict[str, float]:
    kind, Z = view
    began = time.process_time()
    clusters = kind(trial.n_groups, random_state=seed, **options).fit_predict(Z)
    spent = time.process_time() - began
    return {
        "accuracy": clustering_accuracy(data.labels, clusters),
        "nmi_max": nmi(data.labels, clusters, normalisation="max"),
        "nmi_arithmetic": nmi(data.labels, clusters, normalisation="arithmetic"),
        "ari": float(adjusted_rand_score(data.labels, clusters)),
        "cluster_seconds": round(spent, 4),
    }


def _constants(trial: Trial, data: Draw) -> dict[str, Any]:
    """The columns that all rows of a trial share, and empty cells for optional ones."""
    measured = ("seed", "accuracy", "nmi_max", "nmi_arithmetic", "ari", "svd_ratio", "mean_cosine")
    timed = ("accuracy_sd", "iterations", "seconds", "cluster_seconds")
    return {
        **dict.fromkeys((*measured, *timed)),
        "experiment": trial.experiment,
        "dataset": trial.dataset,
        "groups": trial.groups,
        "variant": trial.variant,
        "r": trial.r,
        "clusterings": trial.clusterings,
        "n_samples": data.X.shape[0],
        "n_features": data.X.shape[1],
        "dropped": data.dropped,
        "note": "",
        "made_with": made_with(),
    }
