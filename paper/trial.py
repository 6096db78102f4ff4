"""One trial: draw the data, represent them, cluster, measure."""

from __future__ import annotations

import json
import platform
import time
import warnings
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize
from threadpoolctl import ThreadpoolController

import sphericalpca
from paper.draws import Draw, draw
from paper.methods import METHODS, DoesNotApplyError, Representation
from paper.plan import Trial
from paper.seeds import seed_of
from sphericalpca.estimators import SphericalKMeans
from sphericalpca.metrics import clustering_accuracy, nmi
from sphericalpca.rows import Matrix

__all__ = ["run_trial", "versions"]

# As in scikit-learn's example of document clustering, which Table 3 follows.
RECIPE_KMEANS: dict[str, Any] = {"n_init": 1, "max_iter": 100}
KMEANS: dict[str, Any] = {"n_init": 10}

# TruncatedSVD as people run it, not the exact one of the other tables.
RECIPE_OPTIONS: dict[str, dict[str, Any]] = {"svd-unit": {"algorithm": "randomized"}}


def run_trial(trial: Trial, data_home: Path | None) -> list[dict[str, Any]]:
    """The rows of one trial, one for each repetition.

    Everything runs on one thread, so that rows do not depend on the number of processes
    and seconds are comparable; they are seconds of the processor, not of the clock.
    """
    data = draw(trial, data_home)
    with _libraries().limit(limits=1), warnings.catch_warnings():
        # Iteration limits are part of the protocol; the rows say how many were made.
        warnings.simplefilter("ignore", ConvergenceWarning)
        X = data.X if METHODS[trial.method].raw else normalize(data.X)
        return _rows(trial, data, X)


@cache
def _libraries() -> ThreadpoolController:
    # Looked for once: C calls Python back in the search, and a Ctrl-C in there is lost.
    return ThreadpoolController()


def _rows(trial: Trial, data: Draw, X: Matrix) -> list[dict[str, Any]]:
    # The fit's seed belongs to the draw: it is the same for all methods.
    where = (trial.experiment, trial.dataset, trial.groups, trial.repetitions[0])
    began = time.process_time()
    try:
        found = _represent(trial, X, seed_of("fit", *where))
    except DoesNotApplyError as reason:
        empty = {**_constants(trial, data), "note": str(reason), "parameters": "{}"}
        return [{**empty, "repetition": i} for i in trial.repetitions]
    known = {
        **_constants(trial, data),
        "parameters": json.dumps(found.parameters, sort_keys=True),
        "seconds": round(time.process_time() - began, 4),
        **found.facts,
    }
    return [{**known, **_cluster(trial, data, found, i)} for i in trial.repetitions]


def _represent(trial: Trial, X: Matrix, seed: int) -> Representation:
    options = RECIPE_OPTIONS.get(trial.method, {}) if trial.experiment == "lsa" else {}
    return METHODS[trial.method].represent(X, trial.r, seed, options)


def _cluster(trial: Trial, data: Draw, found: Representation, repetition: int) -> dict[str, Any]:
    seed = seed_of("k-means", trial.experiment, trial.dataset, trial.groups, repetition)
    options = RECIPE_KMEANS if trial.experiment == "lsa" else KMEANS
    kind = SphericalKMeans if METHODS[trial.method].spherical else KMeans
    began = time.process_time()
    clusters = kind(trial.n_groups, random_state=seed, **options).fit_predict(found.Z)
    spent = time.process_time() - began
    return {
        "repetition": repetition,
        "seed": seed,
        "accuracy": clustering_accuracy(data.labels, clusters),
        "nmi_max": nmi(data.labels, clusters, normalisation="max"),
        "nmi_arithmetic": nmi(data.labels, clusters, normalisation="arithmetic"),
        "ari": float(adjusted_rand_score(data.labels, clusters)),
        "cluster_seconds": round(spent, 4),
    }


def _constants(trial: Trial, data: Draw) -> dict[str, Any]:
    """What all rows of a trial share, and empty cells for what not every row has."""
    measured = ("seed", "accuracy", "nmi_max", "nmi_arithmetic", "ari", "svd_ratio", "mean_cosine")
    timed = ("iterations", "seconds", "cluster_seconds")
    return {
        **dict.fromkeys((*measured, *timed)),
        "experiment": trial.experiment,
        "dataset": trial.dataset,
        "groups": trial.groups,
        "variant": trial.variant,
        "method": trial.method,
        "r": trial.r,
        "n_samples": data.X.shape[0],
        "n_features": data.X.shape[1],
        "dropped": data.dropped,
        "note": "",
        "versions": versions(),
    }


@cache
def versions() -> str:
    """What the rows were made with."""
    packages = ("numpy", "scipy", "scikit-learn")
    known = [f"sphericalpca {sphericalpca.__version__}", f"python {platform.python_version()}"]
    return ", ".join([*known, *(f"{name} {metadata.version(name)}" for name in packages)])
